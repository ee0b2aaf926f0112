// Writes a month of past purchases and requests into a book, with the operations of the ledger and
// payments modules. It is one transaction, inside which the database's clock is set back: no other
// session sees that clock, and a seed that fails leaves no data.
import type { Payments } from '../src/payments/payments.ts'
import { dateAt } from '../src/platform/clock.ts'
import type { Db, Tx } from '../src/platform/db/db.ts'
import { type BookId, dayOfHold, type HoldId, newHoldId } from '../src/platform/ids.ts'
import { createMetrics } from '../src/platform/metrics/metrics.ts'
import { type Model, type Snapshot, worstCase } from '../src/pricing/pricing.ts'
import { costOfTokens } from '../src/units/charge.ts'
import { credits } from '../src/units/credits.ts'
import { tokens } from '../src/units/tokens.ts'
import { type Modules, wirePayments } from '../src/wiring.ts'
import { hourOf, MONTH_DAYS, type Used, usageOf } from './seed-usage.ts'

export type Owner = { readonly book: BookId; readonly email: string }

const DAY_MS = 86_400_000
/** The max_tokens that coding agents commonly send. */
const MAX_TOKENS = tokens(32_000)
/** The floor of a hold: a small reply. */
const FLOOR_TOKENS = tokens(4_096)

/** What the owner does; buys the second pack when the first runs low. */
const DEEDS = [
  { daysAgo: 29, hour: 10.2, what: 'card' },
  { daysAgo: 28, hour: 11.4, what: 'promo' },
  { daysAgo: 10, hour: 17.3, what: 'sbp' },
] as const
const PROMO = { code: 'WELCOME-2M', credits: credits(2_000_000) }

/** The worker marks the total spent twice a week; without marks a month counts as one day. */
const PACE_MARKS = [
  [7, 'pace'],
  [3, 'mark'],
] as const

type Month = {
  readonly tx: Tx
  readonly owner: Owner
  readonly snapshot: Snapshot
  readonly payments: Payments
  /** The time that both clocks show. */
  readonly moment: { ms: number }
}

export async function seedMonth(modules: Modules, owner: Owner, snapshot: Snapshot): Promise<void> {
  const nowMs = modules.clock.nowMs()
  await modules.db.transaction(async (tx) => {
    const real = await clockText(tx)
    await tx.query(
      `create or replace function ledger_now() returns timestamptz language sql volatile
       as $$ select current_setting('tollgate.seed_at')::timestamptz $$`,
    )
    await tx.query(SEED_ASK)
    const moment = { ms: nowMs }
    const payments = paymentsInside(modules, tx, moment)
    const month = { tx, owner, snapshot, payments, moment }
    await turn(month, nowMs)
    await makePartitions(tx, nowMs)
    // No request comes before the first purchase.
    const boughtMs = hourOf(nowMs, DEEDS[0].daysAgo, DEEDS[0].hour)
    const used = usageOf(nowMs).filter(({ startMs }) => startMs > boughtMs)
    for (const { daysAgo, hour, what } of DEEDS) {
      const atMs = hourOf(nowMs, daysAgo, hour)
      const next = used.findIndex(({ endMs }) => endMs > atMs)
      await askAll(modules, month, used.splice(0, next))
      await turn(month, atMs)
      await (what === 'promo' ? redeem(month) : buy(modules, month, what))
    }
    for (const [daysAgo, mark] of PACE_MARKS) {
      const atMs = nowMs - daysAgo * DAY_MS
      const next = used.findIndex(({ endMs }) => endMs > atMs)
      await askAll(modules, month, used.splice(0, next))
      await turn(month, atMs)
      await markPace(month, mark)
    }
    await askAll(modules, month, used)
    await payments.stop()
    await tx.query(real)
  })
}

/** As the keeper: the worker's upkeep needs the partitions to be his. */
async function makePartitions(tx: Tx, nowMs: number): Promise<void> {
  await tx.query('grant execute on function ledger_partitions_make to tollgate_keeper')
  await tx.query('set local role tollgate_keeper')
  for (let day = MONTH_DAYS; day >= 0; day--) {
    await tx.query('select ledger_partitions_make($1)', [dateAt(nowMs - day * DAY_MS)])
  }
  await tx.query('reset role')
  await tx.query('revoke execute on function ledger_partitions_make from tollgate_keeper')
}

async function markPace({ tx, owner }: Month, mark: 'pace' | 'mark'): Promise<void> {
  await tx.query(
    `update guards set ${mark}_at = ledger_now(),
       ${mark}_spent = (select spent_total from books where id = $1) where book_id = $1`,
    [owner.book],
  )
}

/** The definition of the clock function, which the schema must have again afterwards. */
async function clockText(tx: Tx): Promise<string> {
  const { rows } = await tx.query(`select pg_get_functiondef('ledger_now'::regproc) as text`)
  return (rows[0] as { text: string }).text
}

/** Sets both clocks: the session's, which the ledger reads, and the one that ids contain. */
async function turn({ tx, moment }: Month, ms: number): Promise<void> {
  moment.ms = ms
  await tx.query(`select set_config('tollgate.seed_at', $1, true)`, [dateAt(ms).toISOString()])
}

/** The payments module, with each of its transactions inside ours. */
function paymentsInside(modules: Modules, tx: Tx, moment: { ms: number }): Payments {
  const db: Db = {
    query: (text, values) => tx.query(text, values),
    transaction: (work) => work(tx),
    // Our transaction is read committed, so it cannot give a snapshot; payments need none.
    snapshot: () => Promise.reject(new Error('no snapshot inside a transaction')),
    end: async () => undefined,
  }
  const clock = { ...modules.clock, nowMs: () => moment.ms }
  const { config, mail, log, ledger, pricing, accounts } = modules
  return wirePayments(config, {
    ...{ db, clock, mail, log, ledger, pricing, metrics: createMetrics() },
    ownerOf: (book) => accounts.ownerOf(book),
    endingOf: (book, tx) => accounts.endingOf(book, tx),
  })
}

/** Buys a pack and pays it at the stand-in bank. */
async function buy({ config }: Modules, month: Month, method: 'card' | 'sbp'): Promise<void> {
  const { tx, owner, snapshot, payments } = month
  const pack = snapshot.packs[0]
  if (pack === undefined) throw new Error('the catalogue has no pack')
  const { id } = await payments.buy({
    ...owner,
    locale: 'ru',
    pack: { ...pack, title: pack.name.ru, catalogueVersion: snapshot.version },
    method,
    attempt: `seed ${month.moment.ms}`,
    returnUrl: config.brand.cabinetUrl,
  })
  const response = await fetch(new URL('/sim/pay', config.yookassa.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ orderId: id }),
  })
  if (!response.ok) throw new Error(`the bank says ${response.status} to the seed's payment`)
  const { state } = await payments.check(id)
  if (state !== 'credited') throw new Error(`the seed's order is ${state}`)
  // The bank's clock is not set back: without this, the money of the month would be taken today.
  await tx.query('update orders set captured_at = ledger_now() where id = $1', [id])
}

async function redeem({ owner, payments, moment }: Month): Promise<void> {
  const startsAt = dateAt(moment.ms - DAY_MS)
  const endsAt = dateAt(moment.ms + 90 * DAY_MS)
  const known = (await payments.promos()).some(({ code }) => code === PROMO.code)
  if (!known) {
    const promo = { ...PROMO, redemptionsMax: 1_000, startsAt, endsAt }
    await payments.createPromo({ ...promo, by: 'the seed', note: 'for everybody who is new' })
  }
  await payments.redeem(owner.book, PROMO.code)
}

/** Sends all requests in one call: 12,000 round trips would take most of a demo's start. */
async function askAll(modules: Modules, month: Month, used: readonly Used[]): Promise<void> {
  const { ledger, config } = modules
  const { snapshot, tx } = month
  const { book } = month.owner
  const { fence } = (await ledger.balance(book, tx)) ?? {}
  const asked = []
  for (const one of used) {
    const model = snapshot.modelById.get(one.model)
    if (model === undefined) throw new Error(`the catalogue has no ${one.model}`)
    const catalogueVersion = snapshot.version
    const tariff = await ledger.tariff({ catalogueVersion, model: model.id, price: model.price })
    asked.push(rowOf(one, model, { tariff, id: newHoldId(config.cell, one.startMs) }))
  }
  const rows = JSON.stringify(asked, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
  await tx.query('select pg_temp.seed_ask($1, $2, $3, $4)', [ledger.instance, book, fence, rows])
}

/** A request as SEED_ASK reads it. */
function rowOf(one: Used, model: Model, filed: { readonly tariff: number; readonly id: HoldId }) {
  const { counts, ending } = one
  const inputBound = tokens(counts.input + counts.cacheRead + counts.cacheWrite5m)
  const bound = { model, inputBound, cacheControl: '5m' } as const
  return {
    ...{ ...filed, day: dayOfHold(filed.id), ...counts, ending },
    start_at: dateAt(one.startMs),
    end_at: dateAt(one.endMs),
    worst: worstCase({ ...bound, maxTokens: MAX_TOKENS }),
    floor: worstCase({ ...bound, maxTokens: FLOOR_TOKENS }),
    priced: costOfTokens(counts, model.price),
    estimated: ending === 'client_left',
    ...detailsOf(one),
  }
}

/** The details of a request in the order in which ledger/details.ts sends them. */
function detailsOf({ firstByteMs, totalMs, ending, sent }: Used) {
  const stopReason = ending === 'complete' ? 'end_turn' : null
  return {
    numbers: [null, firstByteMs, totalMs, null, null, null, null, null, 1],
    texts: [
      ...[stopReason, null, null, null, null],
      ...[sent.sessionId, sent.agentId, sent.parentAgentId, sent.label].map((id) => id ?? null),
    ],
  }
}

/** Makes each request's hold at its start, and its charge or void at its end. */
const SEED_ASK = `
  create function pg_temp.seed_ask(p_instance int8, p_book int8, p_fence int8, p_asked jsonb)
  returns void language plpgsql as $$
  declare
    a record;
    v_outcome text;
  begin
    for a in select * from jsonb_to_recordset(p_asked) as t (id uuid, day int4, tariff int4,
      start_at text, end_at text, worst int8, floor int8, input int8, output int8,
      "cacheRead" int8, "cacheWrite5m" int8, "cacheWrite1h" int8, priced int8, ending ending,
      estimated boolean, numbers int4[], texts text[]) loop
      perform set_config('tollgate.seed_at', a.start_at, true);
      select outcome into v_outcome from ledger_hold(true, p_instance, 3900, a.day, a.id, p_book,
        a.tariff, p_fence, a.worst, a.floor);
      assert v_outcome = 'granted', v_outcome;
      perform set_config('tollgate.seed_at', a.end_at, true);
      if a.ending in ('complete', 'client_left') then
        select outcome into v_outcome from ledger_settle_request(true, a.day, a.id, p_book,
          a.input, a.output, a."cacheRead", a."cacheWrite5m", a."cacheWrite1h", a.priced,
          a.ending, a.estimated, 'msg_' || replace(a.id::text, '-', ''), a.numbers, a.texts);
      else
        select outcome into v_outcome from ledger_void_request(true, p_instance, a.day, a.id,
          p_book, a.tariff, a.ending, 'seeded', a.numbers, a.texts);
      end if;
      assert v_outcome in ('settled', 'voided'), v_outcome;
    end loop;
  end $$`
