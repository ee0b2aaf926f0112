// The public service status: one word for each service that a customer depends on, from tables that
// other modules write. Anybody may request it, so the answer is cached for ten seconds and names no
// upstream.
import type { Payments } from '../../payments/payments.ts'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { ServicePart, ServiceState, Status } from '../contract/status.ts'
import { timeOf } from './amounts.ts'
import type { RouteTable } from './routes.ts'

export type StatusOptions = {
  readonly clock: Clock
  readonly log: Log
  /** What the gateway's processes recorded within the last half minute, one line per target. */
  readonly upstreams: {
    seen(): Promise<readonly { readonly state: 'closed' | 'open' | 'probing' }[]>
  }
  readonly payments: Pick<Payments, 'health'>
  readonly mail: Pick<Mail, 'stats'>
  readonly isSelling: boolean
}

/** Processes record their state every few seconds, so a newer answer would hardly differ. */
const CACHE_MS = 10_000
/** We promise to credit a payment within a minute. */
const CREDIT_SECONDS_MAX = 60
/** Eight sweeps at the default pace. */
const SWEEP_SECONDS_MAX = 120
const SWEEP_FAILURES_MAX = 2
/** A healthy mail server takes an e-mail within seconds; people wait minutes for a link. */
const EMAIL_SECONDS_MAX = 120

export function statusRoutes(options: StatusOptions): RouteTable<'GET /api/status'> {
  const { clock, log } = options
  const last: { answer?: Promise<Status>; readMs: number } = { readMs: 0 }

  /** `unknown` when the state cannot be read: the other states are still shown. */
  async function readState(part: ServicePart, read: () => Promise<ServiceState>) {
    try {
      return { part, state: await read() }
    } catch (error) {
      log.warn({ err: error, part }, 'the state of a part could not be read')
      return { part, state: 'unknown' as const }
    }
  }

  async function read(): Promise<Status> {
    const seen = options.upstreams.seen()
    const parts = await Promise.all([
      readState('gateway', async () => ((await seen).length > 0 ? 'working' : 'down')),
      readState('models', async () => modelsOf(await seen)),
      readState('payments', () => paymentsOf(options)),
      readState('letters', async () => {
        const { oldestSeconds } = await options.mail.stats()
        return oldestSeconds > EMAIL_SECONDS_MAX ? 'slow' : 'working'
      }),
    ])
    return { at: timeOf(dateAt(clock.nowMs())), parts }
  }

  return {
    'GET /api/status': {
      session: 'none',
      run() {
        const nowMs = clock.spanMs()
        if (last.answer === undefined || nowMs - last.readMs >= CACHE_MS) {
          last.answer = read()
          last.readMs = nowMs
        }
        return last.answer
      },
    },
  }
}

function modelsOf(seen: readonly { readonly state: string }[]): ServiceState {
  if (seen.length === 0) return 'unknown'
  if (seen.every(({ state }) => state === 'closed')) return 'working'
  return seen.every(({ state }) => state !== 'closed') ? 'down' : 'slow'
}

async function paymentsOf({ payments, isSelling }: StatusOptions): Promise<ServiceState> {
  if (!isSelling) return 'paused'
  const { delayP99, sweepSeconds, sweepFailures } = await payments.health()
  const isLate =
    (delayP99 ?? 0) > CREDIT_SECONDS_MAX ||
    (sweepSeconds ?? 0) > SWEEP_SECONDS_MAX ||
    sweepFailures > SWEEP_FAILURES_MAX
  return isLate ? 'slow' : 'working'
}
