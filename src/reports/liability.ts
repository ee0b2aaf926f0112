// What we owe in credits at the beginning and the end of a period, and what moved in between: per
// kind of credits and per pack. Every row keeps the equation opening + credited - used - refunded -
// disputed - adjusted = closing, to the microcredit, and for packs in kopecks too.
import type { BookMovement, EntryKind, Ledger, StatedLot } from '../ledger/ledger.ts'
import type { Payments, SoldTerms } from '../payments/payments.ts'
import type { Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import { lotValue, NO_VALUE } from '../units/lot-value.ts'

/** Microcredits. */
export type Movement = {
  readonly opening: bigint
  /** Sold, given, corrected upwards or moved here. */
  readonly credited: bigint
  readonly used: bigint
  readonly refunded: bigint
  readonly disputed: bigint
  readonly adjusted: bigint
  readonly closing: bigint
}

/** Kopecks of one pack: opening + sold - revenue - returned - adjusted = closing. */
export type PackMoney = {
  readonly opening: bigint
  readonly sold: bigint
  readonly revenue: bigint
  readonly returned: bigint
  readonly adjusted: bigint
  readonly closing: bigint
}

/** `debt`: what was used and adjusted beyond all lots, as a negative liability. */
export type CreditsKind = 'paid' | 'promo' | 'correction' | 'transfer' | 'debt'

export type CreditsRow = Movement & {
  readonly kind: CreditsKind
  /** Of paid credits; null for a purchase without an order. */
  readonly pack: string | null
  readonly title: string | null
  /** Null except for packs: other credits were not paid for. */
  readonly kopecks: PackMoney | null
}

export type Liability = {
  readonly rows: readonly CreditsRow[]
  readonly total: Movement
  readonly kopecks: PackMoney
}

/** Which credits each kind of posting makes. A new kind does not compile until it is decided. */
const kindOf = {
  purchase: 'paid',
  promo: 'promo',
  adjust: 'correction',
  transfer: 'transfer',
  refund: null,
  refund_reversal: null,
  forced_debit: null,
  charge: null,
  void: null,
} as const satisfies Record<EntryKind, CreditsKind | null>

type Sums<T> = { -readonly [Name in keyof T]: T[Name] }
const noMovement = (): Sums<Movement> => ({
  ...{ opening: 0n, credited: 0n, used: 0n, refunded: 0n, disputed: 0n },
  ...{ adjusted: 0n, closing: 0n },
})
const noMoney = (): Sums<PackMoney> => ({
  ...{ opening: 0n, sold: 0n, revenue: 0n, returned: 0n, adjusted: 0n, closing: 0n },
})

type Row = {
  readonly kind: CreditsKind
  readonly pack: string | null
  readonly movement: Sums<Movement>
  readonly money: Sums<PackMoney>
}

/** What moved in one lot of a book; in its debt, where there is no lot. */
export type LotMovement = {
  readonly book: BookId
  readonly lot: StatedLot | null
  readonly kind: CreditsKind
  readonly pack: string | null
  readonly movement: Movement
  readonly money: PackMoney
}

type Modules = {
  readonly ledger: Pick<Ledger, 'totals'>
  readonly payments: Pick<Payments, 'takings'>
}

type Moments = { readonly from: Date; readonly to: Date | null }

/** Everything that a liability is the sum of. */
export async function* lotMovements(
  tx: Tx,
  { ledger, payments }: Modules,
  period: Moments,
  p: { readonly isActiveOnly: boolean },
): AsyncGenerator<LotMovement> {
  for await (const page of ledger.totals.walk(tx, period, p)) {
    const bought = page.flatMap(({ to }) => to.lots.filter(({ kind }) => kind === 'purchase'))
    const found = await payments.takings.terms(
      tx,
      bought.map(({ ref }) => ref),
    )
    const terms = new Map(found.map((one) => [one.order, one]))
    for (const book of page) yield* movementsOf(book, terms)
  }
}

export async function liabilityOf(
  tx: Tx,
  modules: Modules,
  period: Moments,
  p: { readonly isActiveOnly: boolean },
): Promise<Liability> {
  const { payments } = modules
  const rows = new Map<string, Row>()
  const rowOf = (kind: CreditsKind, pack: string | null): Row => {
    const key = `${kind} ${pack ?? ''}`
    const known = rows.get(key) ?? { kind, pack, movement: noMovement(), money: noMoney() }
    rows.set(key, known)
    return known
  }
  for await (const { kind, pack, movement, money } of lotMovements(tx, modules, period, p)) {
    const row = rowOf(kind, pack)
    addAll(row.movement, movement)
    addAll(row.money, money)
  }
  const packs = [...rows.values()].flatMap(({ pack }) => (pack === null ? [] : [pack]))
  const titles = new Map(
    (await payments.takings.packTitles(tx, packs)).map((one) => [one.packId, one.title]),
  )
  return summed([...rows.values()], titles)
}

function* movementsOf(
  { book, from, to }: BookMovement,
  terms: ReadonlyMap<string, SoldTerms>,
): Generator<LotMovement> {
  const before = new Map(from.lots.map((lot) => [lot.seq, lot]))
  for (const lot of to.lots) {
    const kind = kindOf[lot.kind]
    if (kind === null) continue
    const sale = kind === 'paid' ? terms.get(lot.ref) : undefined
    const was = before.get(lot.seq)
    // A lot that was empty before and did not move says nothing.
    if (was !== undefined && was.left === 0n && isSame(was, lot)) continue
    const sums = { movement: noMovement(), money: noMoney() }
    addLot(sums.movement, was, lot)
    if (sale !== undefined) addMoney(sums.money, sale, was, lot)
    yield { book, lot, kind, pack: sale?.packId ?? null, ...sums }
  }
  if (from.usedBeyond + from.adjustedBeyond + to.usedBeyond + to.adjustedBeyond === 0n) return
  const movement = noMovement()
  movement.opening -= from.usedBeyond + from.adjustedBeyond
  movement.used += to.usedBeyond - from.usedBeyond
  movement.adjusted += to.adjustedBeyond - from.adjustedBeyond
  movement.closing -= to.usedBeyond + to.adjustedBeyond
  yield { book, lot: null, kind: 'debt', pack: null, movement, money: noMoney() }
}

const MOVED = ['used', 'refunded', 'disputed', 'adjusted'] as const

function isSame(a: StatedLot, b: StatedLot): boolean {
  return MOVED.every((name) => a[name] === b[name])
}

function addLot(sums: Sums<Movement>, was: StatedLot | undefined, lot: StatedLot): void {
  sums.opening += was?.left ?? 0n
  if (was === undefined) sums.credited += lot.credited
  for (const name of MOVED) sums[name] += lot[name] - (was?.[name] ?? 0n)
  sums.closing += lot.left
}

function addMoney(
  sums: Sums<PackMoney>,
  sale: SoldTerms,
  was: StatedLot | undefined,
  lot: StatedLot,
): void {
  const earlier = was === undefined ? NO_VALUE : lotValue(sale, was)
  const now = lotValue(sale, lot)
  sums.opening += earlier.left
  if (was === undefined) sums.sold += sale.price
  sums.revenue += now.revenue - earlier.revenue
  sums.returned += now.returned - earlier.returned
  sums.adjusted += now.adjusted - earlier.adjusted
  sums.closing += now.left
}

const order: readonly CreditsKind[] = ['paid', 'promo', 'correction', 'transfer', 'debt']

function summed(rows: readonly Row[], titles: ReadonlyMap<string, string>): Liability {
  const total = noMovement()
  const kopecks = noMoney()
  for (const { movement, money } of rows) {
    addAll(total, movement)
    addAll(kopecks, money)
  }
  const sorted = rows.toSorted(
    (a, b) =>
      order.indexOf(a.kind) - order.indexOf(b.kind) || compareTexts(a.pack ?? '', b.pack ?? ''),
  )
  return {
    rows: sorted.map(({ kind, pack, movement, money }) => ({
      ...{ kind, pack, title: pack === null ? null : (titles.get(pack) ?? null) },
      ...movement,
      kopecks: pack === null ? null : money,
    })),
    total,
    kopecks,
  }
}

function addAll(sums: Record<string, bigint>, more: Readonly<Record<string, bigint>>): void {
  for (const [name, amount] of Object.entries(more)) sums[name] = (sums[name] ?? 0n) + amount
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
