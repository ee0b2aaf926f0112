// The probes' clockwork: one process at a time probes a component, each probe has a time limit, and
// a failed one is repeated sooner, so that an outage is confirmed within two minutes.
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import type { BlockedWork } from '../platform/worker/blocked-work.ts'
import { createIntervalLoops } from '../platform/worker/interval-loops.ts'
import { COMPONENTS, type Component, type Probe, type Verdict, verdict } from './components.ts'
import { probeClaim, probeRecord } from './queries.ts'

type ProberOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly blockedWork?: BlockedWork
  /** 0: this process does not probe. */
  readonly probeSeconds: number
  readonly probes: Readonly<Record<Component, Probe>>
}

/** A whole message takes seconds; a customer's program has given up on a connection by then. */
const LIMIT_MS: Readonly<Record<Component, number>> = {
  gateway: 10_000,
  models: 20_000,
  payments: 10_000,
  letters: 10_000,
}
/**
 * Four probes of the default interval may be lost before time counts as not observed, and a run of
 * failures as interrupted.
 */
export const GAP_MS = 120_000
/** How often a process looks whether it is time; it asks the database only then. */
const TICK_MS = 1_000
/** While another process probes: how soon this one looks again whether that one has died. */
const STANDBY_MS = 5_000

export function createProber(options: ProberOptions) {
  const { db, clock, log, probes, probeSeconds } = options
  const everyMs = probeSeconds * 1_000
  const dueMs = new Map<Component, number>()

  async function look(component: Component, turn: Parameters<Probe>[0]): Promise<Verdict> {
    const limitMs = LIMIT_MS[component]
    const late = Promise.withResolvers<Verdict>()
    const ending = new AbortController()
    const timer = setTimeout(() => {
      late.resolve(verdict('failed', `no answer within ${limitMs / 1_000} s`))
      ending.abort()
    }, limitMs)
    const probe = probes[component](turn, ending.signal)
    // Ours failed, not the service: most likely the database did not answer.
    const seen = probe.catch((error: unknown) => {
      log.warn({ component, err: error }, 'a probe failed by itself')
      return verdict('unknown', 'the probe failed')
    })
    return Promise.race([seen, late.promise]).finally(() => clearTimeout(timer))
  }

  /** One turn, if it is this process's. Returns what was seen. */
  async function probe(component: Component): Promise<Verdict | undefined> {
    // The lease outlasts the probe, so that no second one runs beside it.
    const leaseMs = Math.max(everyMs, LIMIT_MS[component] + TICK_MS)
    const turn = await probeClaim(db, component, leaseMs)
    if (turn === undefined) {
      dueMs.set(component, clock.spanMs() + Math.min(everyMs, STANDBY_MS))
      return undefined
    }
    const beganMs = clock.spanMs()
    const seen = await look(component, turn)
    const isGood = seen.state !== 'failed'
    // The second failure makes an outage: half the interval is soon, and still two moments.
    const pauseMs = isGood ? everyMs - Math.min(everyMs / 2, clock.spanMs() - beganMs) : everyMs / 2
    const changes = await probeRecord(db, {
      ...{ component, ...seen, gapMs: GAP_MS, nextMs: pauseMs },
    })
    dueMs.set(component, clock.spanMs() + pauseMs)
    for (const { event, outage } of changes) {
      const fields = { component, outage, reason: seen.reason }
      if (event === 'opened') log.error(fields, 'an outage began')
      else log.warn(fields, 'an outage is over')
    }
    return seen
  }

  const loops = createIntervalLoops(
    COMPONENTS.map((component) => ({
      name: `status-${component}`,
      everyMs: Math.min(TICK_MS, everyMs / 2),
      isImmediate: true,
      run: async () => {
        if (clock.spanMs() >= (dueMs.get(component) ?? 0)) await probe(component)
      },
    })),
    log,
    options.blockedWork,
  )

  return {
    probe,
    start: () => (probeSeconds === 0 ? undefined : loops.start()),
    stop: loops.stop,
  }
}
