// How the service is doing, in a word for each part a customer depends on, from what other rooms
// have written down already. Anybody may ask, so the tables are read once in a while however many
// do, and no name of an upstream is told.
import type { Payments } from '../../payments/payments.ts'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { PartState, ServicePart, Status } from '../contract/status.ts'
import { timeOf } from './amounts.ts'
import type { Table } from './routes.ts'

export type StatusOptions = {
  readonly clock: Clock
  readonly log: Log
  /** What the gateway's processes saw within the last half minute, one line for each target. */
  readonly upstreams: {
    seen(): Promise<readonly { readonly state: 'closed' | 'open' | 'probing' }[]>
  }
  readonly payments: Pick<Payments, 'health'>
  readonly mail: Pick<Mail, 'stats'>
  readonly isSelling: boolean
}

/** Processes tell what they see every few seconds, so a younger answer would say the same. */
const GOOD_MS = 10_000
/** What was paid is credited within a minute: that is the promise. */
const CREDIT_SECONDS_MAX = 60
/** Eight sweeps at the default pace. */
const SWEEP_SECONDS_MAX = 120
const SWEEP_FAILURES_MAX = 2
/** A relay that is well takes a letter within seconds; who waits for a link gives up in minutes. */
const LETTER_SECONDS_MAX = 120

export function statusRoutes(options: StatusOptions): Table<'GET /api/status'> {
  const { clock, log } = options
  const last: { answer?: Promise<Status>; readMs: number } = { readMs: 0 }

  /** A part that nobody can tell about is one of the answers. */
  async function told(part: ServicePart, read: () => Promise<PartState>) {
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
      told('gateway', async () => ((await seen).length > 0 ? 'working' : 'down')),
      told('models', async () => modelsOf(await seen)),
      told('payments', () => paymentsOf(options)),
      told('letters', async () => {
        const { oldestSeconds } = await options.mail.stats()
        return oldestSeconds > LETTER_SECONDS_MAX ? 'slow' : 'working'
      }),
    ])
    return { at: timeOf(dateAt(clock.nowMs())), parts }
  }

  return {
    'GET /api/status': {
      session: 'none',
      run() {
        const nowMs = clock.spanMs()
        if (last.answer === undefined || nowMs - last.readMs >= GOOD_MS) {
          last.answer = read()
          last.readMs = nowMs
        }
        return last.answer
      },
    },
  }
}

function modelsOf(seen: readonly { readonly state: string }[]): PartState {
  if (seen.length === 0) return 'unknown'
  if (seen.every(({ state }) => state === 'closed')) return 'working'
  return seen.every(({ state }) => state === 'open') ? 'down' : 'slow'
}

async function paymentsOf({ payments, isSelling }: StatusOptions): Promise<PartState> {
  if (!isSelling) return 'paused'
  const { delayP99, sweepSeconds, sweepFailures } = await payments.health()
  const isLate =
    (delayP99 ?? 0) > CREDIT_SECONDS_MAX ||
    (sweepSeconds ?? 0) > SWEEP_SECONDS_MAX ||
    sweepFailures > SWEEP_FAILURES_MAX
  return isLate ? 'slow' : 'working'
}
