// An account whose requests each have a session, an agent and a label of their own, which costs its
// owner nothing: reading and adding up its usage takes bounded memory and time, so that it stops
// neither the messages of other accounts nor the job.
import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { after, before, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, quiet } from '../../../test/support/harness.ts'
import { insertPastRequests, preparePastUsage } from '../../../test/support/past-usage.ts'
import { systemClock } from '../../platform/clock.ts'
import { openDatabase } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { createRollup } from './rollup/rollup.ts'

const DAY_MS = 86_400_000
const DAYS = 3
const at = {} as { database: TestDatabase; ledger: TestLedger }

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

async function newBook(requests: number, ids: 'own' | 'agent'): Promise<BookId> {
  const { db } = at.database
  const book = await at.ledger.createBook(db)
  await preparePastUsage({ db, ledger: at.ledger }, book, DAYS)
  const toMs = Date.now() - 1_000
  await insertPastRequests(db, { book, fromMs: toMs - DAY_MS, toMs, requests, ids })
  return book
}

/** The longest time, in milliseconds, that the event loop stood still during the work. */
async function standstillMs(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await work()
  delay.disable()
  return delay.max / 1_000_000
}

test('a chart of many labels reads few of them, also before they are added up', async () => {
  const requests = 6_000
  const book = await newBook(requests, 'own')
  const zone = 'Europe/Moscow'
  const to = await at.ledger.usage.today(zone)
  const from = new Date(Date.parse(to) - 365 * DAY_MS).toISOString().slice(0, 10)
  for (const split of ['label', 'session'] as const) {
    const read = () => at.ledger.usage.explore({ book, step: 'day', split, zone, from, to })
    const ms = await standstillMs(async () => {
      const { totals, whole } = await read()
      assert.equal(whole.requests, BigInt(requests))
      assert.deepEqual(
        totals.map(({ isOther }) => isOther),
        [...Array(12).fill(false), true],
      )
      assert.equal(totals.at(-1)?.requests, BigInt(requests - 12))
      const most = totals.slice(0, -1).map(({ spent }) => spent)
      assert.deepEqual(
        most,
        most.toSorted((a, b) => (a > b ? -1 : 1)),
      )
    })
    // With figures for each of 6,000 keys on each of 366 days it was 1.5 GB and seconds.
    assert.ok(ms < 1_000, `the event loop stood still for ${ms} ms`)
  }
})

test('adds up many sessions and labels with statements of bounded length', async () => {
  const requests = 12_000
  const book = await newBook(requests, 'own')
  // A tenth of the default; one statement with all sums of these requests takes seconds.
  const limits = { connectTimeoutMs: 5_000, statementTimeoutMs: 3_000, lockTimeoutMs: 1_000 }
  const { url } = at.database
  const db = openDatabase({ url, ...limits, poolSize: 1 }, 'test', () => undefined)
  const options = { db, clock: systemClock, log: quiet, sessionsKeptDays: 90 }
  assert.equal(await createRollup(options).aggregate(), true)
  await db.end()
  const page = await at.ledger.usage.sessions.page({ book, kind: 'label', before: null, limit: 1 })
  assert.equal(page.sessions[0]?.requests, 1n)
  const { rows } = await at.database.db.query(
    `select count(*)::int4 as sums from usage_split_sums
     where book_id = $1 and split = 'label' and minutes = 60`,
    [book],
  )
  assert.deepEqual(rows, [{ sums: requests }])
})

test('a book with many entries leaves a run to the books after it', async () => {
  const { db } = at.database
  await at.ledger.aggregateUsage()
  const heavy = await newBook(2_000, 'agent')
  const others: BookId[] = []
  for (let i = 0; i < 500; i++) {
    const book = await at.ledger.createBook(db)
    const first = {
      kind: 'promo',
      ref: `many ${book}`,
      amount: credits(1),
      contra: 'promo',
    } as const
    await db.transaction((tx) => at.ledger.credit(tx, { book, ...first, note: 'a test' }))
    others.push(book)
  }
  // Every look at this clock is 20 s later: a run of 50 s has two steps, of 500 books each.
  let looks = 0
  const clock = { ...systemClock, spanMs: () => looks++ * 20_000 }
  const options = { db, clock, log: quiet, sessionsKeptDays: 90 }
  assert.equal(await createRollup(options).aggregate(), false)
  const { rows } = await db.query(
    `select count(*)::int4 as done from usage_marks m join books b on b.id = m.book_id
     where b.id = any ($1) and m.seq = b.seq and b.id > $2`,
    [others, heavy],
  )
  assert.deepEqual(rows, [{ done: others.length }])
})

test('a session of many agents has the dearest ones, and all others as one sum', async () => {
  const agents = 12_000
  const book = await newBook(agents, 'agent')
  const { sessions } = at.ledger.usage
  for (const when of ['before the first sums', 'added up']) {
    if (when === 'added up') assert.equal(await at.ledger.aggregateUsage(), true)
    const page = await sessions.page({ book, kind: 'session', before: null, limit: 10 })
    const [line] = page.sessions
    const one = await sessions.find({ book, kind: 'session', id: line?.id ?? '' })
    assert.deepEqual([line?.agentCount, one?.agentCount], [agents, agents], when)
    assert.deepEqual([one?.agents.length, one?.others?.agentCount], [50, agents - 50], when)
    const parts = [...(one?.agents ?? []), ...(one?.others ? [one.others] : [])]
    for (const name of ['requests', 'errors', 'input', 'spent', 'cacheSaved', 'busyMs'] as const) {
      const sum = parts.reduce((all, part) => all + part[name], 0n)
      assert.equal(sum, one?.[name], `${when}: ${name}`)
    }
    const { rows } = await at.database.db.query(
      `select agent_id as agent, -amount as spent from entries where book_id = $1
       and agent_id is not null order by amount, agent_id collate "C" limit 50`,
      [book],
    )
    assert.deepEqual(
      one?.agents.map(({ id, spent }) => ({ agent: id, spent })),
      rows,
      when,
    )
    assert.deepEqual(one?.others?.models, one?.models)
  }
})
