// Incidents that operators write: opened, updated and closed in both languages. What was published
// is only added to.
import type { Tx } from '../platform/db/db.ts'
import type { Component } from './components.ts'
import {
  type IncidentState,
  incidentClose,
  incidentInsert,
  incidentLock,
  incidentUpdateInsert,
  type Texts,
} from './queries.ts'
import { statusRefusal } from './refusals.ts'

export type NewIncident = {
  readonly kind: 'incident' | 'maintenance'
  readonly components: readonly Component[]
  readonly title: Texts
  readonly text: Texts
  /** Null: now. */
  readonly beginsAt: Date | null
  /** Of maintenance: until when it is planned. */
  readonly endsAt: Date | null
  readonly by: string
}

export const incidents = {
  async open(tx: Tx, given: NewIncident): Promise<bigint> {
    const { text, by, kind } = given
    const id = await incidentInsert(tx, given)
    const state = kind === 'maintenance' ? 'planned' : 'investigating'
    await incidentUpdateInsert(tx, { incident: id, state, text, by })
    return id
  },

  /** Refuses: incident_unknown, incident_closed. */
  async update(
    tx: Tx,
    p: {
      readonly id: bigint
      readonly state: IncidentState
      readonly text: Texts
      readonly by: string
    },
  ): Promise<void> {
    const found = await incidentLock(tx, p.id)
    if (found === undefined)
      throw statusRefusal('incident_unknown', `There is no incident ${p.id}.`)
    if (found.closedAt !== null) throw statusRefusal('incident_closed', 'It is closed already.')
    await incidentUpdateInsert(tx, { incident: p.id, state: p.state, text: p.text, by: p.by })
    if (p.state === 'closed') await incidentClose(tx, p.id)
  },
}
