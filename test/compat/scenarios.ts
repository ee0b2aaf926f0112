// What a real coding agent does with our refusals and lowered limits: it repeats a turn without
// what was refused, goes on with fewer searches, or shows the person why it cannot. Each scenario
// runs the installed program once and checks its output, what it sent and what was charged.
import assert from 'node:assert/strict'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { credits, creditsText, micro } from '../../src/units/credits.ts'
import type { Mode } from '../../stand-ins/vendor/modes.ts'
import type { Account } from '../stages/gateway.ts'
import { SEARCH_MODEL } from './prices.ts'
import { cleanEnvironment, lastLine, RUN_MS_MAX, type Run, run } from './program.ts'
import { jsonOf, type Stage, usageOf } from './stage.ts'

export const MODEL = 'claude-opus-4-6'
export const SAID = 'tollgate works'

export type Place = { readonly stage: Stage; readonly prefix: string; readonly folder: string }

type Sent = Readonly<Record<string, unknown>> & { readonly betas: string }

type Scenario = {
  readonly name: string
  /** MODEL by default. */
  readonly model?: string
  readonly parameters?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  readonly modes?: readonly Mode[]
  readonly credits?: number
  readonly dayLimit?: number
  /** What the agent sent, one request after the other. */
  check(ended: Run, sent: readonly Sent[], stage: Stage, account: Account): void | Promise<void>
}

const EFFORT_REFUSED =
  'status=400 error-type=invalid_request_error ' +
  'message="output_config.effort: Extra inputs are not permitted"'
/** What the agent's own tool sends as `max_uses`; the stand-in tries as many searches. */
const SEARCHES_ASKED = 8
const MILLION = 'context-1m-2025-08-07'

const scenarios: readonly Scenario[] = [
  {
    name: 'an advisor without a price: the turn is repeated without the tool',
    parameters: ['--advisor', MODEL],
    variables: { CLAUDE_CODE_ENABLE_EXPERIMENTAL_ADVISOR_TOOL: '1' },
    check: (ended, sent) => {
      assertAnswered(ended)
      assert.deepEqual(sent.map(toolTypes), [['advisor_20260301'], []])
    },
  },
  {
    name: 'an effort that the upstream refuses: the turn is repeated without it',
    parameters: ['--effort', 'high'],
    modes: [{ fault: EFFORT_REFUSED, times: 1 }],
    check: (ended, sent) => {
      assertAnswered(ended)
      assert.deepEqual(
        sent.map(({ output_config }) => output_config),
        [{ effort: 'high' }, undefined],
      )
    },
  },
  {
    name: 'a beta for a longer context than is sold: the turn is repeated without it',
    parameters: ['--betas', MILLION],
    check: (ended, sent) => {
      assertAnswered(ended)
      assert.deepEqual(
        sent.map(({ betas }) => betas.includes(MILLION)),
        [true, false],
      )
    },
  },
  {
    name: 'a web search without a price: the model reads the refusal, and the turn goes on',
    parameters: ['--allowedTools', 'WebSearch'],
    modes: [{ reply: 'tool WebSearch {"query":"what is a tollgate"}', times: 1 }],
    check: (ended, sent) => {
      assertAnswered(ended)
      const [type = ''] = sent.flatMap(toolTypes)
      assert.match(type, /^web_search_\d{8}$/)
      assert.ok(JSON.stringify(sent.at(-1)?.messages).includes(`Input tag '${type}'`))
    },
  },
  {
    name: 'a web search with a small balance: fewer searches are made, and each is charged once',
    model: SEARCH_MODEL,
    parameters: ['--allowedTools', 'WebSearch'],
    modes: [
      { reply: 'tool WebSearch {"query":"what is a tollgate"}', times: 1 },
      { reply: Array.from({ length: SEARCHES_ASKED }, () => 'server_tool').join(' '), times: 1 },
    ],
    // Eight searches could cost over three million; half of what is left covers two.
    credits: 600_000,
    check: async (ended, sent, stage, account) => {
      assertAnswered(ended)
      await checkSearches(sent, stage, account)
    },
  },
  {
    name: 'too few credits: the person sees how many are needed and where to buy them',
    credits: 1_000,
    check: ({ code, out }, sent) => {
      assert.match(
        out,
        /Not enough credits: this request needs \d[\d,]+, and 1,000 are available\. /,
      )
      assert.ok(out.trim().endsWith(' Buy credits at https://cabinet.example/packs'), out)
      assert.deepEqual([code, sent.length], [1, 1])
    },
  },
  {
    name: 'a daily limit that only the worst case exceeds: the person sees both figures',
    dayLimit: 868,
    check: ({ code, out }, sent) => {
      assert.match(out, /: this request could cost \d[\d,]+; 868 are left until midnight UTC\. /)
      assert.ok(out.trim().endsWith(' Raise the limit at https://cabinet.example/limits'), out)
      assert.deepEqual([code, sent.length], [1, 1])
    },
  },
]

/** The names of the scenarios that failed. */
export async function runScenarios(place: Place): Promise<string[]> {
  const failed: string[] = []
  for (const scenario of scenarios) {
    try {
      const { ms, out } = await tryScenario(scenario, place)
      console.log(`  ${scenario.name}: ok, ${ms} ms; shown: ${lastLine(out)}`)
    } catch (error) {
      failed.push(scenario.name)
      console.log(`  ${scenario.name}: FAILED: ${(error as Error).message}`)
    }
  }
  return failed
}

async function tryScenario(scenario: Scenario, { stage, prefix, folder }: Place): Promise<Run> {
  stage.clear()
  const account = await stage.account(scenario.credits ?? 35_000_000)
  if (scenario.dayLimit !== undefined) {
    await stage.ledger.setLimits(stage.database.db, account.book, {
      dayLimit: credits(scenario.dayLimit),
      velocityLimit: null,
      velocitySeconds: 600,
    })
  }
  const home = await mkdtemp(join(folder, 'home-'))
  const cwd = await mkdtemp(join(folder, 'project-'))
  await writeFile(join(cwd, 'note.txt'), 'a note\n')
  stage.vendor.mode(...(scenario.modes ?? []), { reply: `say "${SAID}"` })
  const ended = await run({
    program: join(prefix, 'node_modules/.bin/claude'),
    parameters: [
      '-p',
      'Tell me what the note says.',
      '--model',
      scenario.model ?? MODEL,
      ...(scenario.parameters ?? []),
    ],
    cwd,
    env: {
      ...cleanEnvironment(home),
      ...scenario.variables,
      ANTHROPIC_BASE_URL: stage.url,
      ANTHROPIC_API_KEY: account.key,
    },
    msMax: RUN_MS_MAX,
  })
  const sent = stage.arrivals
    .filter(({ method }) => method === 'POST')
    .map(({ body, headers }) => ({
      ...JSON.parse(String(body())),
      betas: String(headers['anthropic-beta']),
    }))
  await scenario.check(ended, sent, stage, account)
  return ended
}

/** Prints what was lowered and charged. */
async function checkSearches(sent: readonly Sent[], stage: Stage, account: Account): Promise<void> {
  assert.deepEqual(sent.map(searchLimits), [[], [SEARCHES_ASKED], []])
  const received = [...stage.vendor.requests]
  const [, [lowered = 0] = []] = received.map(jsonOf).map(searchLimits)
  assert.ok(lowered > 1 && lowered < SEARCHES_ASKED, `max_uses at the stand-in: ${lowered}`)
  assert.deepEqual(
    received.map((one) => usageOf(one).server_tool_use?.web_search_requests ?? 0),
    [0, lowered, 0],
  )
  // The agent has handed the results and the refused searches to the model.
  const last = JSON.stringify(sent.at(-1)?.messages)
  assert.equal(last.split('https://example.com/almanac').length - 1, lowered, 'results')
  assert.equal(last.split('max_uses_exceeded').length - 1, SEARCHES_ASKED - lowered, 'refused')
  await stage.assertCharged(account)
  const charges = await stage.entries(account, 'charge')
  assert.deepEqual(
    charges.flatMap(({ parts }) => parts?.uses ?? []),
    [{ feature: 'web_search', count: lowered, each: credits(10_000) }],
  )
  assert.ok(charges.every(({ writtenOff }) => writtenOff === 0n))
  const amounts = charges.map(({ amount }) => creditsText(micro(-amount)))
  console.log(`  max_uses ${SEARCHES_ASKED}, lowered to ${lowered}; charged ${amounts.join(', ')}`)
}

/** The `max_uses` of each web search among the tools. */
function searchLimits({ tools }: Readonly<Record<string, unknown>>): (number | undefined)[] {
  return ((tools ?? []) as { type?: string; max_uses?: number }[])
    .filter(({ type }) => type?.startsWith('web_search_'))
    .map(({ max_uses }) => max_uses)
}

function assertAnswered({ code, out, err }: Run): void {
  assert.equal(code, 0, lastLine(err || out))
  assert.ok(out.includes(SAID), `it said: ${lastLine(out)}`)
}

/** The types of the tools of the server; the agent's own tools have none. */
function toolTypes({ tools }: Sent): string[] {
  return ((tools ?? []) as { type?: string }[]).flatMap(({ type }) => type ?? [])
}
