// The triggers that keep entries and acts as they were written. A person with the owner's password
// can switch them off; the catalogue of PostgreSQL shows it.
import type { Executor } from '../platform/db/db.ts'
import { triggerList } from './queries.ts'
import type { ActFinding } from './verify.ts'

/** By table. A trigger of rows is also on each partition, one of statements is not. */
const TRIGGERS: Readonly<Record<string, { readonly rows?: string[]; readonly own: string[] }>> = {
  entries: { rows: ['entries_never_change'], own: ['entries_are_never_emptied'] },
  postings: { own: [] },
  operator_acts: { own: ['operator_acts_are_append_only', 'operator_acts_join_the_chain'] },
}

/** Triggers that are absent or switched off, also of one partition only. */
export async function verifyTriggers(db: Executor): Promise<ActFinding[]> {
  const found = await triggerList(db, Object.keys(TRIGGERS))
  const off = found.flatMap(({ table, trigger, isOn }): ActFinding[] =>
    trigger === null || isOn
      ? []
      : [
          {
            rule: 'trigger_disabled',
            subject: `${table}.${trigger}`,
            detail: 'it is switched off',
          },
        ],
  )
  const tables = new Map(found.map(({ table, root }) => [table, root]))
  for (const root of Object.keys(TRIGGERS)) tables.set(root, root)
  const present = new Set(found.map(({ table, trigger }) => `${table}.${trigger}`))
  const absent = [...tables].flatMap(([table, root]): ActFinding[] => {
    const { rows = [], own } = TRIGGERS[root] ?? { own: [] }
    return [...rows, ...(table === root ? own : [])]
      .map((trigger) => `${table}.${trigger}`)
      .filter((subject) => !present.has(subject))
      .map((subject) => ({ rule: 'trigger_missing', subject, detail: 'it does not exist' }))
  })
  return [...off, ...absent]
}
