// What a month costs at the vendor: by the vendor's bill where a day was compared with it, else by
// our counts at the operator's copy of the vendor's prices. Days are the vendor's, in UTC.
import type { Ledger } from '../ledger/ledger.ts'
import { dayText } from '../platform/clock.ts'
import type { Tx } from '../platform/db/db.ts'
import type { Fraction } from '../pricing/pricing.ts'
import type { UpstreamCost, VendorBill } from '../vendor-bill/vendor-bill.ts'

/** Days by where their cost is from. */
export type CostDays = {
  /** The vendor's cost report. */
  readonly invoiced: bigint
  /** The vendor's usage report, at its prices. */
  readonly billed: bigint
  readonly counted: bigint
  /** Without the vendor's prices, or the day has left the ledger. */
  readonly unknown: bigint
}

export type Cost = {
  /** Rounded up, day by day; null when a day is unknown. */
  readonly kopecks: bigint | null
  readonly days: CostDays
}

const DAY_MS = 86_400_000

/** The UTC days of a month, `2026-11`, that have begun. */
export function daysOf(month: string, now: Date): string[] {
  const firstMs = Date.parse(`${month}-01`)
  const days = Array.from({ length: 31 }, (_, i) => dayText(firstMs + i * DAY_MS))
  return days.filter((day) => day.startsWith(month) && day <= dayText(now.getTime()))
}

export async function costOf(
  tx: Tx,
  modules: { readonly vendorBill: VendorBill; readonly ledger: Pick<Ledger, 'days'> },
  p: { readonly month: string; readonly now: Date },
): Promise<Cost> {
  const { vendorBill, ledger } = modules
  const days = daysOf(p.month, p.now)
  const range = { from: `${p.month}-01`, to: days.at(-1) ?? `${p.month}-01` }
  const bills = new Map(
    (await vendorBill.listDays(range, tx)).map((one) => [one.day, billedKopecks(one.tie)]),
  )
  const vendor = await vendorBill.vendorPrices()
  const gone = new Set(
    (await ledger.days.list()).flatMap(({ day, state }) => (state === 'checkpointed' ? [] : [day])),
  )
  const found = { invoiced: 0n, billed: 0n, counted: 0n, unknown: 0n }
  let kopecks = 0n
  for (const day of days) {
    const bill = bills.get(day)
    const isCountable = bill === undefined && vendor !== undefined && !gone.has(day)
    const counted = isCountable ? sumUp(await vendorBill.upstreamCosts(day, vendor, tx)) : undefined
    const cost = bill?.kopecks ?? counted
    if (cost === undefined) found.unknown += 1n
    else found[bill?.from ?? 'counted'] += 1n
    kopecks += cost ?? 0n
  }
  return { kopecks: found.unknown > 0n ? null : kopecks, days: found }
}

/** A comparison as it is stored: the invoice if there is one, else the bill at known prices. */
function billedKopecks(tie: unknown) {
  const { invoicedKopecks: invoiced, costsKopecks: billed } = tie as {
    readonly invoicedKopecks: string | null
    readonly costsKopecks: string | null
  }
  if (invoiced !== null) return { from: 'invoiced', kopecks: BigInt(invoiced) } as const
  return billed === null ? undefined : ({ from: 'billed', kopecks: BigInt(billed) } as const)
}

/** Rounded up for each upstream; undefined when one of them has an unknown cost. */
export function sumUp(costs: readonly UpstreamCost[]): bigint | undefined {
  let sum = 0n
  for (const { cost } of costs) {
    if (cost === undefined) return undefined
    sum += ceil(cost)
  }
  return sum
}

export function ceil({ top, bottom }: Fraction): bigint {
  return (top + bottom - 1n) / bottom
}
