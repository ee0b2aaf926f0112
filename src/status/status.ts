// The entry file of status: our own probes and what they saw in 90 days, outages, and incidents
// that operators write. A worker probes; the cabinet shows what was recorded, also while the
// database does not answer. README.md has the rules.
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import type { BlockedWork } from '../platform/worker/blocked-work.ts'
import { COMPONENTS } from './components.ts'
import { HISTORY_DAYS, historyOf, type StatusHistory } from './history.ts'
import { incidents } from './incidents.ts'
import { createLastKnown } from './last-known.ts'
import { createProber, GAP_MS } from './prober.ts'
import { createProbes, type ProbeOptions } from './probes/probes.ts'
import { componentList, dayList, historyForget, incidentList, outageList } from './queries.ts'

export type { Component } from './components.ts'
export type { ComponentHistory, ComponentState, Day, StatusHistory } from './history.ts'
export type { NewIncident } from './incidents.ts'
export type { Known } from './last-known.ts'
export type { IncidentRow, IncidentState, IncidentUpdate, OutageRow, Texts } from './queries.ts'
export type { StatusRefusalCode } from './refusals.ts'

export type StatusOptions = Omit<ProbeOptions, 'turnsPerMessage'> & {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly blockedWork?: BlockedWork
  /** 0: this process does not probe. */
  readonly probeSeconds: number
}

/** A message of one token to the cheapest model: 288 a day, some 3,000 tokens. */
const MESSAGE_SECONDS = 300
/** Two a day through three months; with more the page would not be read. */
const OUTAGES_MAX = 200
/** One a day through three months. */
const INCIDENTS_MAX = 100

export function createStatus(options: StatusOptions) {
  const { db, clock, log, probeSeconds } = options
  const turnsPerMessage = Math.max(1, Math.ceil(MESSAGE_SECONDS / Math.max(1, probeSeconds)))
  const prober = createProber({
    ...options,
    probes: createProbes({ ...options, turnsPerMessage }),
  })

  /** All of it, at one moment of the database. */
  function read(): Promise<StatusHistory> {
    return db.snapshot(async (tx) => {
      const components = await componentList(tx)
      const days = await dayList(tx, HISTORY_DAYS)
      const outages = await outageList(tx, HISTORY_DAYS, OUTAGES_MAX)
      const stored = await incidentList(tx, HISTORY_DAYS, INCIDENTS_MAX)
      return historyOf({ components, days, outages, incidents: stored }, GAP_MS)
    })
  }

  const lastKnown = createLastKnown({ clock, log, read })

  /** What is wrong now, for alarms: also what the page shows as not known. */
  async function health() {
    const rows = await componentList(db)
    const outages = await outageList(db, 1, OUTAGES_MAX)
    const known = (now: { readonly agoMs: number | null }) => now.agoMs !== null
    return {
      outages: outages
        .filter(({ endedAt }) => endedAt === null)
        .map(({ component }) => ({
          component,
          reason: rows.find((row) => row.component === component)?.reason ?? '',
        })),
      /** Components that are set up, whose probe could not tell. */
      doubtful: rows.filter(({ state }) => state === 'unknown'),
      /** Since the last probe of any component; null: none ever ran. */
      silentSeconds: rows.some(known)
        ? Math.min(...rows.filter(known).map(({ agoMs }) => Math.abs(agoMs ?? 0))) / 1_000
        : null,
    }
  }

  return {
    /** The probes of a worker. */
    start: prober.start,
    stop: prober.stop,
    /** One probe, if it is this process's turn. */
    probe: prober.probe,
    forget: () => historyForget(db),

    /** Everything that the page shows, from the database. */
    read,
    /** The same, at most five seconds old; or what was known last. Never waits long. */
    lastKnown: lastKnown.get,
    /** Reads ahead for visitors, so that something is known when the database stops. */
    refresh: lastKnown.refresh,

    /** open, update; each in the caller's transaction. `components`: what one may name. */
    incidents,
    components: COMPONENTS,

    health,

    /** The numbers of a worker. */
    exportWatch({ asyncGauge }: Pick<Metrics, 'asyncGauge'>): void {
      asyncGauge('gateway_status', 'Outages, probes that cannot tell, silence', async () => {
        const { outages, doubtful, silentSeconds } = await health()
        return {
          open: outages.length,
          doubtful: doubtful.length,
          silent_seconds: silentSeconds ?? -1,
        }
      })
    },
  }
}

export type StatusPage = ReturnType<typeof createStatus>
