// Two processes compute usage sums while requests run, and are killed with SIGKILL many times. At
// every check the chart shows what was spent; at the end the sums include each entry once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dayText } from '../../../src/platform/clock.ts'
import type { BookId } from '../../../src/platform/ids.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { createTestLedger, type TestLedger } from '../../support/harness.ts'
import { createStage } from './ledger.ts'

const DAY_MS = 86_400_000

export const drill: Drill = async ({ isFull, seed, say }) => {
  const kills = isFull ? 100 : 12
  const draw = random(seed)
  const stage = await createStage(20)
  const writer = stage.startWriter({ seed, pauseMs: 10 })
  // Killed processes leave empty spools behind, so this directory is removed at the end.
  const temporary = await mkdtemp(join(tmpdir(), 'tollgate-adders-'))
  const ledger = await createTestLedger(stage.database.url)
  const books = stage.base.books.map((book) => BigInt(book) as BookId)
  const state = { looks: 0, behind: 0 }
  try {
    await writer.ready
    await Promise.all(
      [0, 1].map(async () => {
        for (let i = 0; i < kills / 2; i++) {
          await aggregateUntilKilled(stage.database.url, temporary, 20 + draw() * 400)
          const book = books[Math.floor(draw() * books.length)] as BookId
          state.behind += Number(await checkChart(ledger, book))
          state.looks += 1
        }
      }),
    )
    writer.child.kill('SIGTERM')
    await writer.ended
    say(`${kills} processes killed, ${state.looks} checks while requests ran`)
    ensure(state.behind > 0, 'some checks found entries that were not added up yet')
    for (let i = 0; i < 10 && !(await ledger.aggregateUsage()); i++) await sleep(100)
    for (const book of books) {
      await checkChart(ledger, book)
      ensure(await isAddedOnce(ledger, book), `the sums of book ${book} include each entry once`)
    }
    const { charges } = await stage.check()
    ensure(charges > kills * 10, `requests ran (${charges})`)
    return { kills, looks: state.looks, behind: state.behind, charges }
  } finally {
    await ledger.end()
    await stage.end()
    await rm(temporary, { recursive: true, force: true })
  }
}

async function aggregateUntilKilled(
  url: string,
  temporary: string,
  afterMs: number,
): Promise<void> {
  const file = join(import.meta.dirname, 'usage-adder.ts')
  const child = spawn(process.execPath, [file, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  await sleep(afterMs)
  child.kill('SIGKILL')
  await ended
}

/** Checks the chart against the balance before and after. True: the sums lag behind the entries. */
async function checkChart(ledger: TestLedger, book: BookId): Promise<boolean> {
  const before = await ledger.balance(book)
  const to = await ledger.usage.today('UTC')
  // The drill may have started before midnight.
  const from = dayText(Date.parse(to) - DAY_MS)
  const query = { book, zone: 'UTC', from, to, step: 'day', split: 'model' } as const
  const chart = await ledger.usage.explore(query)
  const after = await ledger.balance(book)
  const { spent } = chart.whole
  const [least, most] = [before?.spentTotal ?? 0n, after?.spentTotal ?? 0n]
  ensure(spent >= least && spent <= most, `book ${book}: ${least} <= ${spent} <= ${most}`)
  const { rows } = await ledger.db.query(
    `select from books b left join usage_split_marks m on m.book_id = b.id
     where b.id = $1 and b.seq > coalesce(m.seq, 0)`,
    [book],
  )
  return rows.length > 0
}

async function isAddedOnce(ledger: TestLedger, book: BookId): Promise<boolean> {
  const { rows } = await ledger.db.query(
    `select bool_and((e.requests, e.spent, e.output) = (u.requests, u.spent, u.output))
       and count(*) = 4 and min(e.requests) = min(s.requests) as "isSame"
     from (select count(*) as requests, -sum(amount) as spent, sum(output) as output from entries
         where book_id = $1 and kind in ('charge', 'void')) e,
       (select sum(requests) as requests, sum(spent) as spent, sum(output) as output
         from usage_sums where book_id = $1 group by minutes) u,
       (select sum(requests) as requests from usage_spans where book_id = $1) s`,
    [book],
  )
  const { rows: split } = await ledger.db.query(
    `select bool_and((e.requests, e.spent, e.output) = (u.requests, u.spent, u.output))
       and count(*) = 16 as "isSame"
     from (select count(*) as requests, -sum(amount) as spent, sum(output) as output from entries
         where book_id = $1 and kind in ('charge', 'void')) e,
       (select sum(requests) as requests, sum(spent) as spent, sum(output) as output
         from usage_split_sums where book_id = $1 group by split, minutes) u`,
    [book],
  )
  return [rows[0], split[0]].every((row) => (row as { isSame: boolean }).isSame)
}
