// Writes a month of purchases and requests into a book, in the past, by the ledger's own verbs and
// the payments' own room. It is one transaction: inside it the database's clock is turned, so no
// other session ever sees a turned clock, and a seed that fails leaves nothing behind.
import type { Payments } from '../src/payments/payments.ts'
import { dateAt } from '../src/platform/clock.ts'
import type { Db, Tx } from '../src/platform/db/db.ts'
import { type BookId, dayOfHold, type HoldId, newHoldId } from '../src/platform/ids.ts'
import { createMetrics } from '../src/platform/metrics/metrics.ts'
import { charge, type Model, type Snapshot, worstCase } from '../src/pricing/pricing.ts'
import { credits } from '../src/units/credits.ts'
import { tokens } from '../src/units/tokens.ts'
import { type Rooms, wirePayments } from '../src/wiring.ts'
import { hourOf, MONTH_DAYS, type Used, usageOf } from './seed-usage.ts'

export type Owner = { readonly book: BookId; readonly email: string }

const DAY_MS = 86_400_000
/** What agents commonly ask for. */
const MAX_TOKENS = tokens(32_000)
/** What is held at least: a small reply. */
const FLOOR_TOKENS = tokens(4_096)

/** Deeds of the owner; the second pack comes when the first runs low. */
const DEEDS = [
  { daysAgo: 29, hour: 10.2, what: 'card' },
  { daysAgo: 28, hour: 11.4, what: 'promo' },
  { daysAgo: 10, hour: 17.3, what: 'sbp' },
] as const
const PROMO = { code: 'WELCOME-2M', credits: credits(2_000_000) }

type Month = {
  readonly tx: Tx
  readonly owner: Owner
  readonly snapshot: Snapshot
  readonly payments: Payments
  /** The moment that both clocks show. */
  readonly moment: { ms: number }
}

export async function seedMonth(rooms: Rooms, owner: Owner, snapshot: Snapshot): Promise<void> {
  const nowMs = rooms.clock.nowMs()
  await rooms.db.transaction(async (tx) => {
    const real = await clockText(tx)
    await tx.query(
      `create or replace function ledger_now() returns timestamptz language sql volatile
       as $$ select current_setting('tollgate.seed_at')::timestamptz $$`,
    )
    await tx.query(SEED_ASK)
    const moment = { ms: nowMs }
    const payments = paymentsInside(rooms, tx, moment)
    const month = { tx, owner, snapshot, payments, moment }
    await turn(month, nowMs)
    for (let day = MONTH_DAYS; day >= 0; day--) {
      await tx.query('select ledger_partitions_make($1)', [dateAt(nowMs - day * DAY_MS)])
    }
    // Nothing is asked before the first pack is bought.
    const boughtMs = hourOf(nowMs, DEEDS[0].daysAgo, DEEDS[0].hour)
    const used = usageOf(nowMs).filter(({ startMs }) => startMs > boughtMs)
    for (const { daysAgo, hour, what } of DEEDS) {
      const atMs = hourOf(nowMs, daysAgo, hour)
      const next = used.findIndex(({ endMs }) => endMs > atMs)
      await askAll(rooms, month, used.splice(0, next))
      await turn(month, atMs)
      await (what === 'promo' ? redeem(month) : buy(rooms, month, what))
    }
    await askAll(rooms, month, used)
    await payments.stop()
    await tx.query(real)
  })
}

/** How the clock is made: what a later dump of the schema must show again. */
async function clockText(tx: Tx): Promise<string> {
  const { rows } = await tx.query(`select pg_get_functiondef('ledger_now'::regproc) as text`)
  return (rows[0] as { text: string }).text
}

/** Sets both clocks: the session's, which the ledger asks, and the one that ids are made from. */
async function turn({ tx, moment }: Month, ms: number): Promise<void> {
  moment.ms = ms
  await tx.query(`select set_config('tollgate.seed_at', $1, true)`, [dateAt(ms).toISOString()])
}

/** The payments' room, with every transaction of its own inside ours. */
function paymentsInside(rooms: Rooms, tx: Tx, moment: { ms: number }): Payments {
  const db: Db = {
    query: (text, values) => tx.query(text, values),
    transaction: (work) => work(tx),
    // Ours reads what others commit meanwhile, and payments need none.
    snapshot: () => Promise.reject(new Error('no snapshot inside a transaction')),
    end: async () => undefined,
  }
  const clock = { ...rooms.clock, nowMs: () => moment.ms }
  const { config, mail, log, ledger, pricing, accounts } = rooms
  return wirePayments(config, {
    ...{ db, clock, mail, log, ledger, pricing, metrics: createMetrics() },
    ownerOf: (book) => accounts.ownerOf(book),
  })
}

/** A pack, paid at the bank's stand-in as a payer would. */
async function buy({ config }: Rooms, month: Month, method: 'card' | 'sbp'): Promise<void> {
  const { owner, snapshot, payments } = month
  const pack = snapshot.packs[0]
  if (pack === undefined) throw new Error('the catalogue has no pack')
  const { id } = await payments.buy({
    ...owner,
    locale: 'ru',
    pack: { ...pack, title: pack.name, catalogueVersion: snapshot.version },
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

/** All of them in one call: twelve thousand round trips would be most of a demo's start. */
async function askAll(rooms: Rooms, month: Month, used: readonly Used[]): Promise<void> {
  const { ledger, config } = rooms
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
    priced: charge(model.price, counts),
    estimated: ending === 'client_left',
  }
}

/** Each request's hold when it began, its charge or its void when it ended. */
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
      estimated boolean) loop
      perform set_config('tollgate.seed_at', a.start_at, true);
      select outcome into v_outcome from ledger_hold(true, p_instance, 3900, a.day, a.id, p_book,
        a.tariff, p_fence, a.worst, a.floor);
      assert v_outcome = 'granted', v_outcome;
      perform set_config('tollgate.seed_at', a.end_at, true);
      if a.ending in ('complete', 'client_left') then
        select outcome into v_outcome from ledger_settle(true, a.day, a.id, p_book, a.input,
          a.output, a."cacheRead", a."cacheWrite5m", a."cacheWrite1h", a.priced, a.ending,
          a.estimated, 'msg_' || replace(a.id::text, '-', ''));
      else
        select outcome into v_outcome from ledger_void(true, p_instance, a.day, a.id, p_book,
          a.tariff, a.ending, 'seeded');
      end if;
      assert v_outcome in ('settled', 'voided'), v_outcome;
    end loop;
  end $$`
