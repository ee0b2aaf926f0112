// Settings that PostgreSQL gives to every new session of our roles (ALTER ROLE … SET). Each role
// may make its own: with another isolation level, for example, the ledger refuses every hold. We
// make none, because our sessions bring their settings with them.
import type { Executor } from './db.ts'
import { databaseRoles } from './roles.ts'

/** Settings of our roles in this database or in all of them, one line each. */
export async function roleSettings(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `select r.rolname || ' has the setting ' || x.setting
       || case when s.setdatabase = 0 then '' else ' in this database' end as line
     from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
     cross join unnest(s.setconfig) as x (setting)
     where r.rolname = any ($1) and (s.setdatabase = 0
       or s.setdatabase = (select oid from pg_database where datname = current_database()))
     order by 1`,
    [databaseRoles],
  )
  return (rows as { line: string }[]).map(({ line }) => `wrong: ${line}`)
}
