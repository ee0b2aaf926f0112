// The world of one random sequence: real payments and ledger on a database, the stand-in of the
// bank, two accounts, a price list that changes, and a clock moved by hand. Several sequences use
// one world after the other, each with accounts of its own.
import type { Payments } from '../../../src/payments/payments.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { BookId } from '../../../src/platform/ids.ts'
import { createLog } from '../../../src/platform/log.ts'
import { Refusal } from '../../../src/platform/refusal.ts'
import { micro } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import { createTestPayments, pack as usualPack } from '../../stages/payments.ts'
import { ensure } from '../../support/drill.ts'
import type { Facts } from '../../support/payment-facts.ts'
import {
  createPaymentModel,
  type PaymentModel,
  type StepKind,
} from '../../support/payment-model.ts'
import { createTestAccounts } from './closing.ts'
import { createEndings } from './endings.ts'
import { readEntries, readFacts } from './facts.ts'
import { endMandate } from './mandates.ts'

export type Pack = typeof usualPack
export type World = Awaited<ReturnType<typeof createWorld>>
export type Sequence = Awaited<ReturnType<World['begin']>>

const HOUR_MS = 3_600_000
/** Longer than any sequence: the payer may pay after our own hour. The model cancels by hand. */
const PAYER_TERM_MS = 90 * 24 * HOUR_MS

/** The first packs: round, odd in kopecks and microcredits, and small. */
const PACKS: readonly Pack[] = [
  usualPack,
  { ...usualPack, id: 'odd', priceKopecks: kopecks(99_907), credits: micro(33_333_333_333_337n) },
  { ...usualPack, id: 'small', priceKopecks: kopecks(700), credits: micro(190_000_000_001n) },
]

export async function createWorld(options: { serverUrl?: string; plant?: string } = {}) {
  const shift = { ms: 0 }
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + shift.ms }
  const complaints: string[] = []
  const log = createLog({ level: 'error', destination: { write: (one) => complaints.push(one) } })
  const packs = new Map<string, Pack>()
  const accounts = { current: undefined as ReturnType<typeof createTestAccounts> | undefined }
  const stage = await createTestPayments({
    bank: { payerTermMs: PAYER_TERM_MS },
    ...(options.serverUrl && { serverUrl: options.serverUrl }),
    payments: {
      ...{ clock, log, hasTopUps: true, promoTriesPerHour: 1_000 },
      packOf: (id) => packs.get(id),
      ownerOf: async (book, tx) => accounts.current?.ownerOf(book, tx),
      endingOf: async (book, tx) => accounts.current?.endingOf(book, tx),
    },
  })
  const { db, ledger, mail, sim } = stage
  accounts.current = createTestAccounts({ db, ledger, clock, log, mail })
  await db.query(`create table model_clock (shift interval not null)`)
  await db.query(`insert into model_clock values ('0')`)
  // The programs of the model read the clock with their own roles.
  await db.query('grant select on model_clock to public')
  await db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as 'select clock_timestamp() + shift from model_clock'`,
  )
  if (options.plant !== undefined) await db.query(options.plant)
  await stage.intake({ notify: (input) => workers.current.notify(input) })
  const workers = { current: stage.payments }

  /** Moves our clock and the bank's, and creates the ledger's partitions of the days ahead. */
  async function jump(ms: number): Promise<void> {
    shift.ms += ms
    await db.query(`update model_clock set shift = make_interval(secs => $1)`, [shift.ms / 1_000])
    await sim('advance', { ms })
    if (ms >= HOUR_MS) {
      await db.query(`select ledger_partitions_make((ledger_now() at time zone 'UTC')::date)`)
    }
  }

  /** Two new accounts and the first price list; what earlier sequences left is out of reach. */
  async function begin() {
    await sim('reset')
    await sim('hold-refunds', { isHeld: false })
    await db.query(
      `with o as (update orders set next_at = null where next_at is not null),
         r as (update refunds set next_at = null where next_at is not null),
         c as (update account_closings set next_at = 'infinity' where ended_at is null)
       delete from payment_notices`,
    )
    packs.clear()
    for (const pack of PACKS) packs.set(pack.id, pack)
    complaints.length = 0
    const books: BookId[] = []
    const model = createPaymentModel()
    for (let i = 0; i < 2; i++) {
      const book = await stage.newBook()
      await accounts.current?.add(book)
      model.addBook(String(book))
      books.push(book)
    }
    const names = books.map(String)
    const state = { facts: undefined as unknown as Facts, lastCall: await lastCall(), attempts: 0 }

    async function check(kind: StepKind = 'single'): Promise<Facts> {
      const { facts, last } = await readFacts(db, sim, names, state.lastCall)
      state.lastCall = last
      state.facts = facts
      model.check(facts, kind)
      const unexpected = complaints.filter((line) => line.includes('"err":'))
      ensure(unexpected.length === 0, `no job fails: ${unexpected[0]?.slice(0, 600)}`)
      return facts
    }
    await check()

    const parts = { ...{ sim, jump, check, model, books }, facts: () => state.facts }
    const payments = () => workers.current
    const endings = createEndings({ ...parts, payments, accounts: requireAccounts(), runJobs })

    return {
      ...{ stage, db, sim, ledger, packs, books, model, check, jump },
      ...endings,
      accounts: requireAccounts(),
      facts: () => state.facts,
      payments,
      /** A text that no other step of this sequence uses. */
      newAttempt: () => {
        state.attempts += 1
        return `attempt-${state.attempts}`
      },
      /** A second worker, beside the first or instead of it. */
      newWorker: () => stage.open(),
      restart: () => {
        workers.current = stage.open()
      },
      /** Lets everything come to its end, and checks what must be true then. */
      async rest() {
        await endings.endRequests()
        const facts = await rest(books, model, () => check('concurrent'), endings.decideOne)
        model.checkRest(facts, await readEntries(db, names))
      },
    }
  }

  const requireAccounts = () => accounts.current as ReturnType<typeof createTestAccounts>

  async function lastCall(): Promise<number> {
    const { calls } = await sim('calls?last=1', {}, 'GET')
    return (calls as { sequence: number }[])[0]?.sequence ?? 0
  }

  async function runJobs(): Promise<void> {
    const { jobs } = workers.current
    await jobs.applyNotification()
    await jobs.sweep()
    await jobs.recover()
    await jobs.poll()
    await jobs.expire()
    await jobs.pollRefunds()
    await sweepRefunds(workers.current)
    await jobs.topUp()
    await accounts.current?.advance(workers.current)
  }

  /** Everything that is under way comes to its end: the bank answers, and workers work for days. */
  async function rest(
    books: readonly BookId[],
    model: PaymentModel,
    check: () => Promise<Facts>,
    decideOne: (decision: 'refund') => Promise<boolean>,
  ): Promise<Facts> {
    await sim('faults', {}, 'DELETE')
    await sim('hold-refunds', { isHeld: false })
    for (const book of books) {
      await endMandate(workers.current, book)
      model.book(String(book)).mandate = undefined
    }
    const { refunds } = await sim('refunds?last=1000', {}, 'GET')
    for (const { id, status } of refunds as { id: string; status: string }[]) {
      if (status === 'pending') await sim('complete-refund', { refundId: id })
    }
    let facts = await check()
    for (const hours of [0.05, 1.2, 13, 13]) {
      await jump(hours * HOUR_MS)
      await runJobs()
      // All sequences share one mailbox, so its budget of refunds is soon used up.
      while (await decideOne('refund'));
      facts = await check()
    }
    return facts
  }

  return {
    begin,
    stage,
    async end() {
      const all = await ledger.audit('all')
      // The clock is days ahead, so open holds of refused requests may be overdue.
      const findings = all.filter(({ rule }) => rule !== 'hold_overdue')
      await stage.payments.jobs.tie()
      const watched = await stage.payments.findings()
      await stage.end()
      return [...findings, ...watched.filter(({ rule }) => rule === 'refund_unbacked')]
    },
  }
}

/** A job that fails is run again later: here, when the bank's list could not be read. */
export async function sweepRefunds({ jobs }: Payments): Promise<void> {
  await jobs.sweepRefunds().catch((error: Error) => {
    if (!/could not be read/.test(error.message)) throw error
  })
}

/** What a step was refused, or its result. Every other error is a fault of the product. */
export async function refusalOr<T>(work: Promise<T>): Promise<T | Refusal> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

export const isRefused = (result: unknown): result is Refusal => result instanceof Refusal
