// Real coding agents of the npm registry against the gateway, each installed for this run only into
// a temporary folder, with an empty home and an environment that names nothing but the gateway.
// None is a dependency. An agent that cannot be run is reported, but is not a failure.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { exampleOf } from '../docs/customer-pages.ts'
import type { Arrival } from './arrivals.ts'
import type { Target } from './clients.ts'
import { cleanEnvironment, lastLine, RUN_MS_MAX, type Run, run } from './program.ts'
import { MODEL, type Place, runScenarios, SAID } from './scenarios.ts'
import { createStage, headerOf, type Stage } from './stage.ts'

type Agent = {
  readonly package: string
  readonly version: string
  readonly program: string
  /** The variables it takes a key from. */
  readonly keyVariables: readonly string[]
  readonly parameters: (prompt: string, home: string) => readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  /** Files in its home, for agents that do not take the address from the environment. */
  readonly files?: (target: Target) => Readonly<Record<string, string>>
  /** A tool of its own that needs no permission, for a second turn. */
  readonly tool?: (folder: string) => string
}

const INSTALL_MS_MAX = 300_000

export const claudeCode: Agent = {
  package: '@anthropic-ai/claude-code',
  version: '2.1.325',
  program: 'claude',
  keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  parameters: (prompt) => ['-p', prompt, '--model', MODEL],
  tool: (folder) => `Read ${JSON.stringify({ file_path: join(folder, 'note.txt') })}`,
}

const agents: readonly Agent[] = [
  claudeCode,
  {
    package: '@qwen-code/qwen-code',
    version: '0.24.4',
    program: 'qwen',
    keyVariables: ['ANTHROPIC_API_KEY'],
    parameters: (prompt) => ['-p', prompt, '--auth-type', 'anthropic', '--model', MODEL],
    variables: { ANTHROPIC_MODEL: MODEL },
  },
  {
    package: '@mariozechner/pi-coding-agent',
    version: '0.73.1',
    program: 'pi',
    keyVariables: ['ANTHROPIC_API_KEY'],
    parameters: (prompt) => ['-p', prompt, '--provider', 'anthropic', '--model', MODEL],
    files: (target) => ({
      '.pi/agent/models.json': fileOf('coding-agents', 'json', target),
    }),
    tool: (folder) => `read ${JSON.stringify({ path: join(folder, 'note.txt') })}`,
  },
  {
    package: 'opencode-ai',
    version: '1.18.33',
    program: 'opencode',
    keyVariables: ['ANTHROPIC_API_KEY'],
    parameters: (prompt) => ['run', prompt, '--model', `anthropic/${MODEL}`],
    files: (target) => ({
      '.config/opencode/opencode.json': fileOf('opencode', 'json', target),
    }),
  },
  {
    package: '@continuedev/cli',
    version: '1.5.47',
    program: 'cn',
    keyVariables: ['ANTHROPIC_API_KEY'],
    parameters: (prompt, home) => ['-p', prompt, '--config', join(home, 'config.yaml')],
    files: (target) => ({ 'config.yaml': fileOf('coding-agents', 'yaml', target) }),
  },
]

/** A file of settings as the documentation prints it, with this target filled in. */
function fileOf(page: string, language: string, { url, key }: Target): string {
  const values = { apiUrl: url, vendorSlug: 'vendor', key, models: [MODEL] }
  return exampleOf(`docs/clients/${page}.md`, language, values)
}

/** True when every agent that could be run was served as promised. */
export async function runAgents(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-agents-'))
  const environment = ownEnvironment()
  const stage = await createStage({ headersTimeoutMs: 600_000 })
  const failed: string[] = []
  try {
    for (const agent of agents) {
      const name = `${agent.package} ${agent.version}`
      const prefix = join(folder, agent.program)
      const problem = await installAgent(agent, prefix, environment)
      if (problem !== undefined) {
        console.log(`${name}: not run: ${problem}`)
        continue
      }
      for (const keyVariable of agent.keyVariables) {
        try {
          const summary = await tryAgent(agent, keyVariable, { stage, prefix, folder })
          console.log(`${name} with ${keyVariable}: ok, ${summary}`)
        } catch (error) {
          failed.push(name)
          console.log(`${name} with ${keyVariable}: FAILED: ${(error as Error).message}`)
        }
        for (const arrival of stage.arrivals) console.log(`  ${described(arrival)}`)
      }
      if (agent.program === 'claude')
        failed.push(...(await runScenarios({ stage, prefix, folder })))
      await rm(prefix, { recursive: true, force: true })
    }
  } finally {
    await stage.end()
    await rm(folder, { recursive: true, force: true })
  }
  console.log(failed.length === 0 ? 'agents: ok' : `agents: ${failed.length} failed`)
  return failed.length === 0
}

/** For npm, which needs its own settings; taken before the stage forgets keys and addresses. */
export function ownEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return Object.fromEntries(entries)
}

/** Installs an agent into `prefix`; returns why that is not possible. */
export async function installAgent(
  agent: Agent,
  prefix: string,
  env: Record<string, string>,
): Promise<string | undefined> {
  await mkdir(prefix, { recursive: true })
  const { code, err } = await run({
    program: 'npm',
    parameters: [
      ...['install', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error'],
      `${agent.package}@${agent.version}`,
    ],
    env,
    msMax: INSTALL_MS_MAX,
  })
  return code === 0 ? undefined : `npm install failed: ${lastLine(err)}`
}

async function tryAgent(agent: Agent, keyVariable: string, place: Place): Promise<string> {
  const { stage } = place
  stage.clear()
  const account = await stage.account(35_000_000)
  const home = await mkdtemp(join(place.folder, 'home-'))
  const cwd = await mkdtemp(join(place.folder, 'project-'))
  await writeFile(join(cwd, 'note.txt'), 'a note\n')
  const target = { url: stage.url, key: account.key }
  for (const [path, text] of Object.entries(agent.files?.(target) ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  const tool = agent.tool?.(cwd)
  const use = tool === undefined ? [] : [{ reply: `tool ${tool}`, times: 1 }]
  stage.vendor.mode(...use, { reply: `say "${SAID}"` })
  const ended = await run({
    program: join(place.prefix, 'node_modules/.bin', agent.program),
    parameters: agent.parameters('Tell me what the note says.', home),
    cwd,
    env: {
      ...cleanEnvironment(home),
      ...agent.variables,
      ANTHROPIC_BASE_URL: stage.url,
      [keyVariable]: account.key,
    },
    msMax: RUN_MS_MAX,
  })
  check(ended, stage, tool === undefined ? 1 : 2)
  await stage.assertCharged(account)
  const charges = await stage.entries(account, 'charge')
  return `${ended.ms} ms, ${stage.arrivals.length} requests, ${charges.length} charges`
}

/** It answered, and each of its bodies and lists of betas reached the stand-in as it sent them. */
function check(ended: Run, stage: Stage, turnsMin: number): void {
  assert.equal(ended.code, 0, `it ended with ${ended.code}: ${lastLine(ended.err || ended.out)}`)
  assert.ok(ended.out.includes(SAID), `it said: ${lastLine(ended.out)}`)
  const sent = stage.arrivals.filter(({ method }) => method === 'POST')
  const received = [...stage.vendor.requests]
  assert.ok(sent.length >= turnsMin, `${sent.length} requests`)
  assert.equal(received.length, sent.length, 'requests at the stand-in')
  for (const arrival of sent) {
    const body = arrival.body()
    const same = received.find((one) => one.body?.equals(body) === true)
    assert.ok(same !== undefined, `a body of ${body.length} bytes was changed on its way`)
    assert.equal(headerOf(same, 'anthropic-beta'), arrival.headers['anthropic-beta'])
    assert.equal(headerOf(same, 'anthropic-version'), arrival.headers['anthropic-version'])
    assert.equal(same.url.split('?')[1], arrival.url.split('?')[1], 'the query')
  }
}

function described(arrival: Arrival): string {
  const { method, url, headers } = arrival
  const body = arrival.body()
  const read = (body.length === 0 ? {} : JSON.parse(String(body))) as Record<string, unknown>
  const keyIn = headers['x-api-key'] === undefined ? 'authorization' : 'x-api-key'
  const parts = [`${method} ${url}`, keyIn, `${body.length} bytes`]
  if (body.length > 0) parts.push(`max_tokens ${read.max_tokens}`, Object.keys(read).join(' '))
  const betas = headers['anthropic-beta']
  return [...parts, ...(betas === undefined ? [] : [`betas ${betas}`])].join('; ')
}
