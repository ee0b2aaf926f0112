// op upstreams cost: what a day costs at each upstream, by our counts and the vendor's prices.
import { dayText } from '../../platform/clock.ts'
import { vendorPricesOf } from '../catalogue/price-files.ts'
import { formatCount, isDay } from '../desk/amounts.ts'
import { EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { tableOf } from '../desk/table.ts'

const COLUMNS = [
  { head: 'upstream' },
  { head: 'requests', side: 'right' },
  { head: 'unreported', side: 'right' },
  { head: 'costs', side: 'right' },
] as const
const WIDTH_MAX = 100

export async function showUpstreamCosts(desk: Desk, day?: string): Promise<number> {
  const { vendorBill, clock, pricing } = desk.modules
  if (day !== undefined && !isDay(day)) throw usageError(`${day} is not a day like 2026-11-15`)
  const of = day ?? dayText(clock.nowMs())
  const costs = await vendorBill.upstreamCosts(of, await vendorPricesOf(desk))
  const shown = costs.map(({ upstream, requests, unreported, cost }) => ({
    ...{ upstream, requests, unreported },
    costs: cost === undefined ? null : pricing.money.roublesUp(cost),
  }))
  const rows = shown.map((one) => [
    one.upstream ?? 'not recorded',
    ...[formatCount(one.requests), formatCount(one.unreported), one.costs ?? 'unknown'],
  ])
  const lines = [...tableOf(COLUMNS, rows, WIDTH_MAX), `RUB, ${of}, by our counts`]
  desk.say({ day: of, upstreams: shown }, rows.length === 0 ? [`${of}: no requests`] : lines)
  return EXIT_DONE
}
