// op roles check, op roles sql: compares what each role may do in this database with what it should
// be able to do, and prints the SQL that makes it so. Both change nothing.
import { compareRoles } from '../platform/db/role-grants.ts'
import { readRolesSql } from '../platform/db/roles.ts'
import { EXIT_DONE, EXIT_FAILED } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'

export async function checkRoles({ modules, say }: Desk): Promise<number> {
  const differences = await compareRoles(modules.db)
  const sum =
    differences.length === 0
      ? 'every role may do what it should, and nothing else'
      : `${differences.length} differences; migrate applies op roles sql again`
  say({ differences }, [...differences, sum])
  return differences.length === 0 ? EXIT_DONE : EXIT_FAILED
}

export async function printRolesSql({ say }: Desk): Promise<number> {
  const sql = readRolesSql()
  say({ sql }, sql.trimEnd().split('\n'))
  return EXIT_DONE
}
