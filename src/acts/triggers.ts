// The triggers that refuse changes of what must stay as it was written. A person with the owner's
// password can switch them off; the catalogue of PostgreSQL shows it. A person with the keeper's
// password can do as much: his trigger or CHECK on entries runs as the owner, in the functions that
// write there. For that he needs a function.
import type { Db, Executor } from '../platform/db/db.ts'
import { compareDefinitions, type DefinitionChange } from '../platform/db/definitions.ts'
import { databaseRoles } from '../platform/db/roles.ts'
import { functionListOf, triggerList } from './queries.ts'
import type { ActFinding } from './verify.ts'

/**
 * What must exist, by table. A trigger of rows is also on each partition, one of statements is not.
 * Any other trigger must be on as long as it exists.
 */
const TRIGGERS: Readonly<Record<string, { readonly rows?: string[]; readonly own: string[] }>> = {
  entries: { rows: ['entries_never_change'], own: ['entries_are_never_emptied'] },
  tariffs: { own: ['tariffs_never_change', 'tariffs_are_never_emptied'] },
  catalogue_versions: { own: ['catalogue_versions_are_append_only'] },
  orders: { own: ['orders_keep_their_word', 'orders_of_top_ups_have_a_mandate'] },
  mandates: { own: ['mandates_are_only_ended'] },
  keys: { own: ['keys_never_come_back'] },
  operator_acts: { own: ['operator_acts_are_append_only', 'operator_acts_join_the_chain'] },
  operator_reads: {
    own: ['operator_reads_are_never_changed', 'operator_reads_are_never_truncated'],
  },
}

/** Triggers that are absent or switched off, also of one partition only. */
export async function verifyTriggers(db: Executor): Promise<ActFinding[]> {
  const found = await triggerList(db)
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

/** Functions that a program's role has made. */
export async function verifyFunctions(db: Executor): Promise<ActFinding[]> {
  const found = await functionListOf(db, databaseRoles)
  return found.map((subject) => ({
    rule: 'function_added',
    subject,
    detail: 'no program makes functions',
  }))
}

const CHANGES: Readonly<Record<DefinitionChange['change'], string>> = {
  missing: 'it does not exist',
  changed: 'it is not as the migrations make it',
  added: 'no migration makes it',
}

/**
 * Functions, triggers, rules and policies that are not as the migrations make them. Nothing is
 * compared, which is no finding, while the database has the migrations of another version.
 */
export async function verifyDefinitions(
  db: Db,
): Promise<{ readonly isCompared: boolean; readonly findings: readonly ActFinding[] }> {
  const { changes, isCompared } = await compareDefinitions(db)
  const findings = changes.map(({ name, change }): ActFinding => {
    const detail = CHANGES[change]
    const [kind, subject = ''] = name.split(' ')
    // The look at the triggers may have found it too, and one change is one finding.
    const isTriggerGone = kind === 'trigger' && change === 'missing'
    return isTriggerGone
      ? { rule: 'trigger_missing', subject, detail }
      : { rule: 'definition_changed', subject: name, detail }
  })
  return { isCompared, findings }
}
