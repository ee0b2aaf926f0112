// The metrics of payments. Labels have few fixed values: never an order, account or payment id.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Trigger } from './order/order.ts'
import type { Answer } from './port.ts'

/** One second to five minutes: the promise is one minute, the alarm fires at 45 seconds. */
const SECONDS = [1, 2, 5, 10, 15, 20, 30, 45, 60, 120, 300]

export function createPaymentMetrics(registry: Registry) {
  const registers = [registry]
  const delays = new Histogram({
    name: 'payments_credit_delay_seconds',
    help: 'From the provider’s capture to the entry in the ledger',
    buckets: SECONDS,
    registers,
  })
  const credits = new Counter({
    name: 'payments_credited_total',
    help: 'Orders credited, by who brought the news',
    labelNames: ['trigger'],
    registers,
  })
  const reviews = new Counter({
    name: 'payments_reviews_total',
    help: 'Payments that differ from their order, by what differs',
    labelNames: ['reason'],
    registers,
  })
  const receipts = new Counter({
    name: 'payments_receipts_failed_total',
    help: 'Tax receipts that were not registered',
    registers,
  })
  const notifications = new Counter({
    name: 'payments_notices_total',
    help: 'Notifications, by what became of them',
    labelNames: ['outcome'],
    registers,
  })
  const calls = new Counter({
    name: 'payments_provider_calls_total',
    help: 'Calls to providers, by how they ended',
    labelNames: ['call', 'end'],
    registers,
  })
  const sweeps = new Counter({
    name: 'payments_sweeps_total',
    help: 'Sweeps of settled payments',
    labelNames: ['end'],
    registers,
  })

  const findings = new Counter({
    name: 'payments_findings_total',
    help: 'What the settlement watch found, by the rule that is broken',
    labelNames: ['rule'],
    registers,
  })

  const trials = new Counter({
    name: 'payments_trials_total',
    help: 'New accounts while trials are on, by whether they got one',
    labelNames: ['outcome'],
    registers,
  })

  return {
    countTrial: (outcome: string): void => trials.inc({ outcome }),
    countFinding: (rule: string) => findings.inc({ rule }),
    ...watchGauge(registers),
    countCredit(trigger: Trigger, seconds: number | null): void {
      credits.inc({ trigger })
      // Negative when the provider's clock is ahead of ours.
      if (seconds !== null) delays.observe(Math.max(0, seconds))
    },
    countReview: (reason: string) => reviews.inc({ reason }),
    countReceiptFailure: () => receipts.inc(),
    countNotification: (outcome: string) => notifications.inc({ outcome }),
    countCall: (call: string, end: Answer<unknown>['kind']) => calls.inc({ call, end }),
    countSweep: (end: 'done' | 'failed') => sweeps.inc({ end }),
  }
}

/**
 * Read from the database at each scrape, by every process that can reach it: a worker that is away
 * does not silence it.
 */
function watchGauge(registers: Registry[]) {
  return {
    exportWatch(read: () => Promise<Readonly<Record<string, number>>>): void {
      const gauge: Gauge<string> = new Gauge({
        name: 'payments_watch',
        help: 'The settlement watch: ages in seconds and counts, 0 when all is well',
        labelNames: ['of'],
        aggregator: 'max',
        registers,
        async collect() {
          // Without an answer no number: the alert on absent numbers fires.
          this.reset()
          const values = await read().catch(() => ({}))
          for (const [of, one] of Object.entries(values)) this.set({ of }, one)
        },
      })
      void gauge
    },
  }
}

export type PaymentMetrics = ReturnType<typeof createPaymentMetrics>
