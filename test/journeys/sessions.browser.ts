// The page of sessions after a real coding agent with two subagents has worked through the gateway:
// each agent has its cost, and all of them add up to the session, to the microcredit.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { ru } from '../../web/words/ru/ru.ts'
import { claudeCode, installAgent, ownEnvironment } from '../compat/agents.ts'
import { catalogueText } from '../compat/prices.ts'
import { cleanEnvironment, run } from '../compat/program.ts'
import { MODEL, SAID } from '../compat/scenarios.ts'
import type { Person } from '../stages/cabinet.ts'
import { question } from './gateway/client.ts'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { createSiteStage, type SiteStage } from './support/site-stage.ts'

/** A run takes ten seconds, on a busy machine a minute. */
const AGENT_MS_MAX = 120_000
const SCRIPTED = 'scripted-session'

const at = {} as {
  stage: SiteStage
  browser: TestBrowser
  own: Person
  key: string
  /** The id of the agent's session; undefined when it could not be installed. */
  session: string | undefined
}

before(async () => {
  at.browser = await openBrowser()
  at.stage = await createSiteStage({ catalogueText })
  at.own = await at.stage.person('coder')
  await at.stage.buyPack(at.own)
  at.key = await at.stage.keyOf(at.own.book)
  at.session = await runAgent()
  await askScripted('agent-a', undefined)
  await askScripted('agent-b', 'agent-a')
  await askScripted(undefined, undefined)
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

/** Lets the real agent start two subagents; returns the id of its session. */
async function runAgent(): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-sessions-'))
  const [prefix, home, cwd] = ['agent', 'home', 'project'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  try {
    for (const path of [prefix, home, cwd]) await mkdir(path)
    const problem = await installAgent(claudeCode, prefix, ownEnvironment())
    if (problem !== undefined) {
      console.log(`the coding agent is not run: ${problem}`)
      return undefined
    }
    const task = (description: string, prompt: string) => {
      const input = { description, prompt, subagent_type: 'general-purpose' }
      return `tool Agent ${JSON.stringify({ ...input, run_in_background: false })}`
    }
    at.stage.vendor.mode(
      { reply: `${task('a', 'Say it.')} ${task('b', 'Say it again. '.repeat(200))}`, times: 1 },
      { reply: `say "${SAID}"` },
    )
    const ended = await run({
      program: join(prefix, 'node_modules/.bin', claudeCode.program),
      parameters: claudeCode.parameters('Let two helpers say it.', home),
      cwd,
      env: {
        ...cleanEnvironment(home),
        ANTHROPIC_BASE_URL: at.stage.gatewayUrl,
        ANTHROPIC_API_KEY: at.key,
      },
      msMax: AGENT_MS_MAX,
    })
    assert.equal(ended.code, 0, ended.err || ended.out)
    assert.ok(ended.out.includes(SAID), ended.out)
  } finally {
    at.stage.vendor.mode()
    await rm(folder, { recursive: true, force: true })
  }
  const [session] = await sums('session_id')
  assert.ok(session !== undefined && session.key !== null, 'its requests name their session')
  return session.key
}

/** A request of the scripted session. */
async function askScripted(agent: string | undefined, parent: string | undefined): Promise<void> {
  const response = await fetch(`${at.stage.gatewayUrl}/v1/messages`, {
    method: 'POST',
    headers: {
      ...{ 'x-api-key': at.key, 'content-type': 'application/json', 'x-credit-label': 'nightly' },
      'x-claude-code-session-id': SCRIPTED,
      ...(agent === undefined ? {} : { 'x-claude-code-agent-id': agent }),
      ...(parent === undefined ? {} : { 'x-claude-code-parent-agent-id': parent }),
    },
    body: question('[[reply: text 9]]', { model: MODEL }),
  })
  assert.equal(response.status, 200, await response.text())
}

type Sum = { readonly key: string | null; readonly requests: number; readonly micro: bigint }

/** What the entries of the owner add up to, by session or agent. */
async function sums(column: 'session_id' | 'agent_id', session?: string): Promise<Sum[]> {
  const { rows } = await at.stage.db.query(
    `select ${column} as key, count(*)::int4 as requests, -sum(amount)::int8 as micro
     from entries where book_id = $1 and kind in ('charge', 'void')
       and ($2::text is null or session_id = $2)
     group by 1`,
    [at.own.book, session ?? null],
  )
  return rows as Sum[]
}

async function open(page: Page, search = ''): Promise<void> {
  await at.stage.signIn(page, at.own)
  await page.goto(`${at.stage.url}/sessions${search}`)
}

function agentRows(page: Page) {
  return page.getByRole('table', { name: ru.sessions.agents, exact: true }).getByRole('row')
}

/** `1 234,5` → microcredits. */
function microOf(shown: string): bigint {
  const [whole = '', fraction = ''] = shown.replace(/[^\d,]/g, '').split(',')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

type Shown = {
  readonly key: string | null
  readonly requests: number
  readonly micro: bigint
  readonly kopecks: bigint
}

/** The rows of the agents as shown, without the head; the last one is the total. */
async function shownRows(page: Page): Promise<Shown[]> {
  // The price of the last pack comes with another answer.
  await agentRows(page).last().getByText('₽').waitFor()
  const rows = await agentRows(page).all()
  return Promise.all(
    rows.slice(1).map(async (row) => {
      const cells = row.getByRole('cell')
      const name = cells.first().locator('code')
      const key = (await name.count()) === 0 ? null : await name.getAttribute('title')
      const requests = (await cells.nth(1).innerText()).split('\n')[0]?.replace(/\D/g, '')
      const [credits = '', rubles = ''] = (await cells.last().innerText()).split('\n')
      const kopecks = microOf(rubles) / 10_000n
      return { key, requests: Number(requests), micro: microOf(credits), kopecks }
    }),
  )
}

const byKey = (a: Pick<Shown, 'key'>, b: Pick<Shown, 'key'>) =>
  (a.key ?? '') < (b.key ?? '') ? -1 : 1

async function assertEqualsEntries(page: Page, session: string): Promise<Shown[]> {
  const shown = await shownRows(page)
  const [total, agents] = [shown.at(-1), shown.slice(0, -1)]
  const expected = await sums('agent_id', session)
  const shownSums = agents.map(({ key, requests, micro }) => ({ key, requests, micro }))
  assert.deepEqual(shownSums.toSorted(byKey), expected.toSorted(byKey))
  assert.ok(
    agents.some(({ kopecks }) => kopecks > 0n),
    'roubles beside the credits',
  )
  assert.equal(
    total?.kopecks,
    agents.reduce((sum, { kopecks }) => sum + kopecks, 0n),
    'the roubles of the agents add up, too',
  )
  assert.equal(
    total?.micro,
    expected.reduce((sum, { micro }) => sum + micro, 0n),
  )
  return agents
}

test('each subagent of a real coding agent has its cost; all equal the entries', async (t) => {
  const { session } = at
  if (session === undefined) return t.skip('the coding agent could not be installed')
  await at.browser.within('desktop', async (page) => {
    await open(page)
    await page.getByRole('link').getByTitle(session).click()
    const agents = await assertEqualsEntries(page, session)
    assert.equal(agents.length, 3, 'the main agent and two subagents')
    assert.ok(agents.every(({ micro }) => micro > 0n))
  })
})

test('the list has every session, and its whole credits are those of the entries', async () => {
  await at.browser.within('desktop', async (page) => {
    await open(page)
    const table = page.getByRole('table', { name: ru.sessions.table })
    await table.waitFor()
    for (const { key, micro } of await sums('session_id')) {
      const link = page.getByRole('link').getByTitle(key ?? '')
      const row = table.getByRole('row').filter({ has: link })
      const cell = row.getByRole('cell').last()
      // The price of the last pack comes with another answer.
      await cell.getByText('₽').waitFor()
      const credits = await cell.innerText()
      assert.equal(credits.split('\n')[0]?.replace(/\D/g, ''), String(micro / 1_000_000n))
    }
  })
})

test('a session grows on the page while it runs, and leads to its requests', async () => {
  await at.browser.within('desktop', async (page) => {
    await open(page, `?id=${SCRIPTED}`)
    const before = await assertEqualsEntries(page, SCRIPTED)
    assert.deepEqual(
      before.map(({ key }) => key),
      [null, 'agent-a', 'agent-b'],
      'each below the one that started it',
    )
    await askScripted('agent-c', 'agent-b')
    await page.locator('code[title=agent-c]').waitFor()
    await assertEqualsEntries(page, SCRIPTED)
    const log = page.getByRole('link', { name: ru.sessions.log })
    assert.match((await log.getAttribute('href')) ?? '', /^\/usage\?.*session=scripted-session/)
  })
})

test('labels are listed apart, and an unknown session says so', async () => {
  await at.browser.within('phone', async (page) => {
    await open(page, '?kind=label')
    await page.getByRole('link').getByTitle('nightly').click()
    await page.getByText(ru.sessions.summary).waitFor()
    assert.equal(await agentRows(page).count(), 0)
    await page.goto(`${at.stage.url}/sessions?id=never`)
    await page.getByText(ru.sessions.unknown).waitFor()
    await assertFitsAndAccessible(page, 'an unknown session')
  })
})

test('an owner without sessions reads where they come from', async () => {
  const other = await at.stage.person('sessionless')
  await at.browser.within('phone', async (page) => {
    await at.stage.signIn(page, other)
    await page.goto(`${at.stage.url}/sessions`)
    await page.getByText(ru.sessions.noneText).waitFor()
    await assertFitsAndAccessible(page, 'no sessions')
  })
})

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: list and session fit, are accessible, have screenshots`, async () => {
    await at.browser.within(
      name,
      async (page) => {
        await open(page)
        await page.getByRole('table', { name: ru.sessions.table }).waitFor()
        await assertFitsAndAccessible(page, `the list on a ${name}, ${theme}`)
        await saveScreenshot(page, 'sessions', `list-${name}-${theme}`)
        await page.goto(`${at.stage.url}/sessions?id=${at.session ?? SCRIPTED}`)
        await agentRows(page).last().waitFor()
        await assertFitsAndAccessible(page, `a session on a ${name}, ${theme}`)
        await saveScreenshot(page, 'sessions', `one-${name}-${theme}`)
      },
      theme,
    )
  })
}
