// The role under which a program is connected, when each program has its own (`database.roles` is
// `separate`): neither a superuser nor an owner of the ledger's tables, because both can rewrite
// entries and switch triggers off, whatever is granted to others.
import type { Executor } from './db.ts'
import { UnfitDatabase } from './session.ts'

/** Tables whose owner could change the books: balances, and the entries that explain them. */
const OWNED = ['books', 'entries']

const REMEDY =
  'give the program its own role (docs/security.md lists them, and migrate grants them what they ' +
  'need) in database.url and database.directUrl, or set database.roles to one'

/** Throws UnfitDatabase for a superuser, and for an owner or a member of the owner's role. */
export async function requireOrdinaryRole(executor: Executor): Promise<void> {
  const { rows } = await executor.query(
    `select current_user as role, rolsuper as "isSuperuser",
       array(
         select relname::text from pg_class
         where oid = any (select to_regclass(name) from unnest($1::text[]) as name)
           and pg_has_role(current_user, relowner, 'member')
         order by 1
       ) as owned
     from pg_roles where rolname = current_user`,
    [OWNED],
  )
  const [found] = rows as { role: string; isSuperuser: boolean; owned: string[] }[]
  if (found === undefined) return
  const { role, isSuperuser, owned } = found
  if (isSuperuser) {
    throw new UnfitDatabase(`the database role ${role} is a superuser; ${REMEDY}`)
  }
  if (owned.length > 0) {
    throw new UnfitDatabase(`the database role ${role} owns ${owned.join(' and ')}; ${REMEDY}`)
  }
}
