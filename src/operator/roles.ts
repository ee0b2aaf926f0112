// op roles check, op roles sql: compares what each role may do in this database with what it should
// be able to do, and the definitions with those of the migrations; prints the SQL of the rights.
// Both change nothing.
import type { Db } from '../platform/db/db.ts'
import { compareDefinitions } from '../platform/db/definitions.ts'
import { roleMembers } from '../platform/db/other-grants.ts'
import { compareRoles } from '../platform/db/role-grants.ts'
import { roleSettings } from '../platform/db/role-settings.ts'
import { readRolesSql } from '../platform/db/roles.ts'
import { EXIT_DONE, EXIT_FAILED } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'

export async function checkRoles({ modules, say }: Desk): Promise<number> {
  const { db } = modules
  const { lines, note } = await definitionLines(db)
  const differences = [...(await compareRoles(db)), ...(await roleSettings(db)), ...lines]
  const members = await roleMembers(db)
  const sum =
    differences.length === 0
      ? 'every role has the rights that it should have, and nobody else was granted any'
      : `${differences.length} differences; migrate applies op roles sql again`
  // A member has the rights of its role: an operator may have meant that for a person.
  const notes = [...members.map((line) => `note: ${line}`), ...(note === null ? [] : [note])]
  say({ differences, members, note }, [...differences, ...notes, sum])
  return differences.length === 0 ? EXIT_DONE : EXIT_FAILED
}

/** Definitions that differ, or why they were not compared. */
async function definitionLines(db: Db): Promise<{ lines: string[]; note: string | null }> {
  const { changes, isCompared, migration } = await compareDefinitions(db)
  const lines = changes.map(({ name, change }) => `definition ${change}: ${name}`)
  const note = `definitions were not compared: the newest migration is ${migration}`
  return { lines, note: isCompared ? null : note }
}

export async function printRolesSql({ say }: Desk): Promise<number> {
  const sql = readRolesSql()
  say({ sql }, sql.trimEnd().split('\n'))
  return EXIT_DONE
}
