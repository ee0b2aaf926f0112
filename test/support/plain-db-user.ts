// A database role that owns nothing: it may read and write the rows of every table and call every
// function, as many installations set their programs up. A test takes single grants away.
import { newInstanceId } from '../../src/platform/ids.ts'
import { onServer, type TestDatabase } from './harness.ts'

export type PlainDbUser = Awaited<ReturnType<typeof createPlainDbUser>>

const SCHEMAS = ['public', 'graphile_worker']

export async function createPlainDbUser(database: TestDatabase) {
  const name = `tollgate_plain_${process.pid}_${newInstanceId().toString(36)}`
  const url = new URL(database.url)
  url.username = name
  /** Runs a statement in the test's database as its owner; `NAME` stands for the role. */
  const run = (text: string) =>
    onServer((client) => client.query(text.replaceAll('NAME', name)), database.url)
  await run('create role NAME login')
  const { rows } = await run('select nspname from pg_namespace')
  const existing = rows.map(({ nspname }) => nspname as string)
  for (const schema of SCHEMAS.filter((one) => existing.includes(one))) {
    await run(`grant usage on schema ${schema} to NAME`)
    await run(`grant select, insert, update, delete on all tables in schema ${schema} to NAME`)
    await run(`grant usage, select on all sequences in schema ${schema} to NAME`)
    await run(`grant execute on all functions in schema ${schema} to NAME`)
  }
  return {
    name,
    url: url.href,
    run,
    /** Passes the row-level security of graphile-worker's tables. */
    async allowJobs(): Promise<void> {
      const tables = await run(
        `select relname from pg_class where relrowsecurity
         and relnamespace = 'graphile_worker'::regnamespace`,
      )
      for (const { relname } of tables.rows) {
        await run(`create policy plain on graphile_worker.${relname} to NAME using (true)`)
      }
    },
    /** Call it before the database is dropped, after the last connection of this role. */
    async drop(): Promise<void> {
      await run('drop owned by NAME')
      await run('drop role NAME')
    },
  }
}
