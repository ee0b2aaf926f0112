// The public service status as JSON and as a feed. Anybody may request both, so the answers come
// from memory; while the database does not answer, they are the last known and say so.
import type { ComponentHistory, Known, StatusPage } from '../../../status/status.ts'
import type { Incident, Outage, Status, StatusPart } from '../../contract/status.ts'
import { timeOf, timeOrNull } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'

export type StatusOptions = { readonly status: Pick<StatusPage, 'lastKnown'> }

export function statusRoutes({ status }: StatusOptions): RouteTable<'GET /api/status'> {
  return {
    'GET /api/status': {
      session: 'none',
      run: async () => statusOf(await status.lastKnown()),
    },
  }
}

const NOTHING: Status = { at: null, isCurrent: false, parts: [], outages: [], incidents: [] }

export function statusOf(known: Known | undefined): Status {
  if (known === undefined) return NOTHING
  return {
    at: timeOf(known.at),
    isCurrent: known.isCurrent,
    parts: known.components.map(partOf),
    outages: known.outages.map(
      ({ id, component, beganAt, endedAt }): Outage => ({
        ...{ id: String(id), part: component, from: timeOf(beganAt), to: timeOrNull(endedAt) },
      }),
    ),
    incidents: known.incidents.map(
      ({ id, kind, components, title, beginsAt, endsAt, closedAt, updates }): Incident => ({
        ...{ id: String(id), kind, parts: components, title, from: timeOf(beginsAt) },
        ...{ plannedTo: timeOrNull(endsAt), to: timeOrNull(closedAt) },
        updates: updates.map(({ at, state, text }) => ({ at: timeOf(at), state, text })),
      }),
    ),
  }
}

function partOf({ component, state, uptime, observed, days }: ComponentHistory): StatusPart {
  return { part: component, state, uptime: percent(uptime), observed: percent(observed), days }
}

/** Of hundredths of a percent. */
function percent(hundredths: number | null): string | null {
  if (hundredths === null) return null
  const [whole, rest] = [Math.floor(hundredths / 100), hundredths % 100]
  return `${whole}.${String(rest).padStart(2, '0')}`
}
