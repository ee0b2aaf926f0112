// op reconcile: compares the provider's settled payments with our orders. It only reports, unless
// --apply is given: then the payments module checks each payment that was not credited and searches
// for unknown refunds, as its jobs do.
import type { Mismatch, Reconciled } from '../../payments/payments.ts'
import { dateAt } from '../../platform/clock.ts'
import { formatCount, formatTime, parsePeriodEnd, parsePeriodStart } from '../desk/amounts.ts'
import { EXIT_DONE, EXIT_FAILED, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'

const DAY_MS = 86_400_000
/** Payments of the last two minutes may not be credited yet. */
const QUIET_MS = 120_000
const MOMENT = 'a day, such as 2026-11-01'

export async function reconcile(desk: Desk): Promise<number> {
  const { payments, clock } = desk.modules
  const nowMs = clock.nowMs()
  const from = desk.read('from', parsePeriodStart, MOMENT) ?? dateAt(nowMs - DAY_MS)
  const to = desk.read('to', parsePeriodEnd, MOMENT) ?? dateAt(nowMs - QUIET_MS)
  if (from >= to) throw usageError('the period ends before it begins')
  const before = await payments.reconcile({ from, to })
  const head = `from ${formatTime(from)} to ${formatTime(to)}`
  const fixable = before.flatMap(({ mismatches }) => mismatches).filter(isFixable)
  if (!desk.flag('apply') || fixable.length === 0) return report(desk, before, head)
  const applied = await desk.actWithOwnTransactions({
    plan: [head, ...before.flatMap(linesOf), `  asking the provider about ${fixable.length}`],
    async work() {
      for (const { order } of fixable) if (order !== null) await payments.applyProvider(order)
      await payments.jobs.sweepRefunds()
    },
    report: () => ({
      result: { asked: fixable.length },
      line: `asked the provider about ${fixable.length}`,
    }),
  })
  if (applied !== EXIT_DONE || desk.isJson) return applied
  return report(desk, await payments.reconcile({ from, to }), head)
}

function isFixable({ what }: Mismatch): boolean {
  return what === 'not_credited' || what === 'refunded'
}

function report(desk: Desk, all: readonly Reconciled[], head: string): number {
  desk.say({ providers: all }, [head, ...all.flatMap(linesOf)])
  const isFine = all.every(({ mismatches, why }) => mismatches.length === 0 && why === null)
  return isFine ? EXIT_DONE : EXIT_FAILED
}

function linesOf({ provider, shop, payments, orders, mismatches, why }: Reconciled): string[] {
  const name = `${provider} ${shop}`
  if (why !== null) return [`${name}: its list could not be read: ${why}`]
  const [there, here] = [formatCount(payments), formatCount(orders)]
  const counts = `payments there ${there}, orders credited here ${here}`
  return [
    `${name}: ${counts}; ${mismatches.length === 0 ? 'all agree' : 'these differ:'}`,
    ...mismatches.flatMap(({ what, paymentId, order, detail }) => [
      `  ${what}  payment ${paymentId}`,
      ...(order === null ? [] : [`    ${order}`]),
      `    ${detail}`,
    ]),
  ]
}
