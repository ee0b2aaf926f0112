// op reconcile: the provider's settled payments beside our orders. It only reports, unless told to
// --apply: then the payments room asks about each payment that was not credited, and looks for
// refunds that it has not heard of, as it does by itself.
import type { Mismatch, Reconciled } from '../../payments/payments.ts'
import { dateAt } from '../../platform/clock.ts'
import type { Desk } from '../desk/desk.ts'
import { countShown, momentFrom, momentTo, timeShown } from '../desk/figures.ts'
import { EXIT_DONE, EXIT_NO, mistake } from '../desk/halt.ts'

const DAY_MS = 86_400_000
/** Money of the last minutes may be on its way into the ledger. */
const QUIET_MS = 120_000
const MOMENT = 'a day, such as 2026-11-01'

export async function reconcile(desk: Desk): Promise<number> {
  const { payments, clock } = desk.rooms
  const nowMs = clock.nowMs()
  const from = desk.read('from', momentFrom, MOMENT) ?? dateAt(nowMs - DAY_MS)
  const to = desk.read('to', momentTo, MOMENT) ?? dateAt(nowMs - QUIET_MS)
  if (from >= to) throw mistake('the period ends before it begins')
  const before = await payments.reconcile({ from, to })
  const head = `from ${timeShown(from)} to ${timeShown(to)}`
  const fixable = before.flatMap(({ mismatches }) => mismatches).filter(isFixable)
  if (!desk.flag('apply') || fixable.length === 0) return report(desk, before, head)
  const applied = await desk.actApart({
    plan: [head, ...before.flatMap(linesOf), `  asking the provider about ${fixable.length}`],
    async work() {
      for (const { order } of fixable) if (order !== null) await payments.check(order)
      await payments.jobs.sweepRefunds()
    },
    tell: () => ({
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
  return isFine ? EXIT_DONE : EXIT_NO
}

function linesOf({ provider, payments, orders, mismatches, why }: Reconciled): string[] {
  if (why !== null) return [`${provider}: its list could not be read: ${why}`]
  const [there, here] = [countShown(payments), countShown(orders)]
  const counts = `payments there ${there}, orders credited here ${here}`
  return [
    `${provider}: ${counts}; ${mismatches.length === 0 ? 'all agree' : 'these differ:'}`,
    ...mismatches.flatMap(({ what, paymentId, order, detail }) => [
      `  ${what}  payment ${paymentId}`,
      ...(order === null ? [] : [`    ${order}`]),
      `    ${detail}`,
    ]),
  ]
}
