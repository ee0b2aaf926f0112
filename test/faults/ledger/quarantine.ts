// PostgreSQL refuses settles with errors of every class, to a running process and to one that
// replays the spool of a dead one, while settles of other customers commit. Each settle is charged
// once or kept: on disk, or in quarantine after ten minutes. After the repair all are charged once.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SettleInput } from '../../../src/ledger/ledger.ts'
import { settleText } from '../../../src/ledger/settle-text.ts'
import { line } from '../../../src/ledger/spool/files.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, sleep } from '../../support/drill.ts'
import type { TestDatabase, TestLedger } from '../../support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../support/ledger-customer.ts'

/** An error that each class of SQLSTATE has, and those that lost charges before. */
const STATES = [
  ...['08006', '25006', '25P02', '26000', '28000', '40001', '40P01', '42883', '42501', '53100'],
  ...['53200', '54000', '55006', '55P03', '57014', '57P01', '58030', 'XX000', 'XX001'],
]
/** Answers of the ledger, made by changing the hold behind its back. */
const ANSWERS = ['mismatch', 'voided', 'hold_unknown']
const HEALTHY = 'none'

/** Simulated: lanes pause up to a second of real time, so it takes more than ten. */
const MINUTES_MAX = 60

type Case = { readonly trouble: string; readonly customer: LedgerCustomer }

export const drill: Drill = async ({ isFull, say }) => {
  const settles = isFull ? 1_000 : 96
  const database = await createTestDatabase()
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-quarantine-'))
  const clock = { offsetMs: 0 }
  const running = new Set<TestLedger>()
  const start = async () => {
    const ledger = await createTestLedger(database.url, {
      spoolDirectory: directory,
      spoolAfterMs: 500,
      clock: { ...systemClock, spanMs: () => systemClock.spanMs() + clock.offsetMs },
      log: createLog({ level: 'silent' }),
    })
    running.add(ledger)
    return ledger
  }
  const stopAll = async () => {
    for (const ledger of running) {
      running.delete(ledger)
      await ledger.end()
    }
  }
  let ledger = await start()
  try {
    const cases = await createCases(ledger)
    const inputs = await holdAll(cases, settles)
    await injectErrors(database, cases)
    // Half of them are sent by a running process, half are in the spool of a dead one.
    const live = inputs.filter((_, i) => i % 2 === 0)
    const dead = inputs.filter((one) => !live.includes(one))
    await writeFile(join(directory, '7.spool'), dead.map((one) => line(settleText(one))).join(''))
    const replied = Promise.all(live.map((input) => ledger.settle(input)))
    await start()
    await within(60_000, replied, 'every reply ends, charged or kept on disk')
    say(`${live.length} replies ended, ${dead.length} settles are replayed`)

    const before = await count(database, inputs)
    const refused = inputs.filter((one) => caseOf(cases, one).trouble !== HEALTHY)
    // More than ten minutes in which other customers are charged.
    for (let i = 0; i < MINUTES_MAX; i++) {
      clock.offsetMs += 60_000
      await chargeHealthy(cases)
      await sleep(400)
      if ((await count(database, inputs)).quarantined === refused.length) break
    }
    await stopAll()
    const kept = await count(database, inputs)
    say(`after ten minutes: ${kept.charged} charged, ${kept.quarantined} in quarantine`)
    await checkKept(inputs, kept, directory)
    checkQuarantined(refused, kept, cases)

    await repair(database)
    await turnClock(database.db, '10 minutes')
    ledger = await start()
    await ledger.quarantine.retryDue()
    const after = await checkCharged(ledger, database, inputs)
    await stopAll()
    const left = (await readdir(directory)).filter(isSpool)
    ensure(left.length === 0, `no file is left: ${left}`)
    return {
      settles: inputs.length,
      troubles: STATES.length + ANSWERS.length,
      chargedAtOnce: before.charged,
      quarantined: kept.quarantined,
      chargedAfterRepair: after.charged,
    }
  } finally {
    await stopAll()
    await database.drop()
    await rm(directory, { recursive: true, force: true })
  }
}

type Counts = Awaited<ReturnType<typeof count>>

async function checkKept(inputs: readonly SettleInput[], kept: Counts, directory: string) {
  const spooled = await spooledIds(directory)
  for (const { id } of inputs) {
    const isKept = kept.chargedIds.has(id) || kept.quarantinedIds.has(id) || spooled.has(id)
    ensure(isKept, `every settle is charged, in quarantine or on disk: ${id} is not`)
  }
}

function checkQuarantined(refused: readonly SettleInput[], kept: Counts, cases: readonly Case[]) {
  const missing = refused.filter(({ id }) => !kept.quarantinedIds.has(id))
  const troubles = new Set(missing.map((one) => caseOf(cases, one).trouble))
  const promise = 'what is refused for ten minutes is in quarantine'
  ensure(missing.length === 0, `${promise}: ${[...troubles]} is not`)
}

async function checkCharged(
  ledger: TestLedger,
  database: TestDatabase,
  inputs: readonly SettleInput[],
): Promise<Counts> {
  const after = await count(database, inputs)
  ensure(after.charged === inputs.length, `after the repair all are charged: ${after.charged}`)
  ensure(after.twice === 0, `each once: ${after.twice} twice`)
  ensure(after.quarantined === 0, 'the quarantine is empty')
  const findings = await ledger.audit('all')
  ensure(findings.length === 0, `the audit is empty: ${findings[0]?.rule} ${findings[0]?.detail}`)
  return after
}

async function createCases(ledger: TestLedger): Promise<Case[]> {
  const cases: Case[] = []
  for (const trouble of [...STATES, ...ANSWERS, HEALTHY, HEALTHY]) {
    cases.push({ trouble, customer: await createLedgerCustomer(ledger, 1_000_000) })
  }
  return cases
}

async function holdAll(cases: readonly Case[], settles: number): Promise<SettleInput[]> {
  const inputs: SettleInput[] = []
  for (let i = 0; i < settles; i++) {
    const { customer } = cases[i % cases.length] as Case
    inputs.push(customer.settleInput(await customer.hold()))
  }
  return inputs
}

const caseOf = (cases: readonly Case[], { book }: SettleInput) =>
  cases.find(({ customer }) => customer.book === book) as Case

async function injectErrors({ db }: TestDatabase, cases: readonly Case[]): Promise<void> {
  const booksOf = (trouble: string) =>
    cases.filter((one) => one.trouble === trouble).map(({ customer }) => String(customer.book))
  await db.query(`
    create table injected (book_id int8 primary key, state text);
    create function inject() returns trigger language plpgsql as $$
      declare v_state text;
      begin
        select state into v_state from injected where book_id = new.book_id;
        if found then raise exception 'injected' using errcode = v_state; end if;
        return new;
      end $$;
    create trigger inject before insert on entries for each row execute function inject()`)
  for (const state of STATES) {
    await db.query('insert into injected select unnest($1::int8[]), $2', [booksOf(state), state])
  }
  await db.query('create table kept_holds as select * from holds')
  await db.query('update holds set book_id = book_id + 1000000 where book_id = any ($1)', [
    booksOf('mismatch'),
  ])
  await db.query(
    `update holds set state = 'voided', ending = 'refused', closed_at = now()
     where book_id = any ($1)`,
    [booksOf('voided')],
  )
  await db.query('delete from holds where book_id = any ($1)', [booksOf('hold_unknown')])
}

async function repair({ db }: TestDatabase): Promise<void> {
  await db.query('drop trigger inject on entries')
  await db.query(
    `delete from holds h using kept_holds k
     where h.day = k.day and h.id = k.id and (h.book_id, h.state) <> (k.book_id, k.state)
       and h.state <> 'settled'`,
  )
  await db.query('insert into holds select * from kept_holds on conflict do nothing')
}

async function chargeHealthy(cases: readonly Case[]): Promise<void> {
  const { customer } = cases.at(-1) as Case
  const settled = await customer.settle(await customer.hold())
  ensure(!settled.isSpooled, 'settles of other customers commit')
}

async function count({ db }: TestDatabase, inputs: readonly SettleInput[]) {
  const ids = inputs.map(({ id }) => id)
  const charges = await db.query(
    `select hold_id as id, count(*)::int4 as charges from entries
     where kind = 'charge' and hold_id = any ($1) group by 1`,
    [ids],
  )
  const rows = charges.rows as { id: string; charges: number }[]
  const waiting = await db.query('select hold_id as id from quarantine where closed_at is null')
  const quarantinedIds = new Set((waiting.rows as { id: string }[]).map(({ id }) => id))
  return {
    chargedIds: new Set(rows.map(({ id }) => id)),
    charged: rows.length,
    twice: rows.filter((row) => row.charges > 1).length,
    quarantinedIds,
    quarantined: quarantinedIds.size,
  }
}

/** Not the log of charges, which lies beside the spool. */
const isSpool = (name: string) => /\.(?:spool|lock)$/.test(name)

/** The holds whose settles are in the files of the directory. */
async function spooledIds(directory: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (const name of (await readdir(directory)).filter(isSpool)) {
    const text = await readFile(join(directory, name), 'utf8')
    for (const [id] of text.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)) ids.add(id)
  }
  return ids
}

async function within<T>(ms: number, work: Promise<T>, promise: string): Promise<T> {
  const late = Symbol('late')
  const result = await Promise.race([work, sleep(ms).then(() => late)])
  ensure(result !== late, promise)
  return result as T
}
