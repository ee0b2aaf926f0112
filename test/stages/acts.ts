// A stage for operators' acts: a real database, the module with a copy of the test's choice, and a
// person who has the owner's password and switches the triggers off before tampering.
import { createActs } from '../../src/acts/acts.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Db, Executor } from '../../src/platform/db/db.ts'
import { Masked } from '../../src/platform/masked.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { createTestDatabase, onServer, quiet } from '../support/harness.ts'

export type TestActs = Awaited<ReturnType<typeof createTestActs>>

/** Computes the digests of all acts from one number on, as somebody would who altered it. */
export const TAMPER_CHAIN = `
  create or replace function tamper_chain(p_from int8) returns void language plpgsql as $$
  declare
    v_act operator_acts;
    v_digest bytea := coalesce((select digest from operator_acts where number = p_from - 1), '');
  begin
    for v_act in select * from operator_acts where number >= p_from order by number loop
      if v_act.number = p_from then v_act.detail := 'as if it had been so'; end if;
      v_digest := sha256(v_digest || convert_to(acts_text(v_act), 'UTF8'));
      update operator_acts set detail = v_act.detail, digest = v_digest where id = v_act.id;
    end loop;
    update act_chain set digest = v_digest;
  end $$`

export async function createTestActs(shipTo = 'none', shipSecret = 'none') {
  const database = await createTestDatabase()
  const { db } = database
  const reads: [string, unknown[] | undefined][] = []
  const open = (to: string = shipTo) =>
    createActs({
      ...{ db: noted(db, reads), clock: systemClock, log: quiet, shipTo: to },
      ...{ shipSecret: new Masked(shipSecret), shipSeconds: 1, checkSeconds: 1 },
    })
  const acts = open()
  return {
    ...{ database, db, acts, open, reads, metrics: createMetrics() },

    act: (command: string, executor: Executor = db) =>
      acts.record(executor, {
        ...{ command, by: 'olga', osUser: 'olga@desk-1', outcome: 'done', detail: '', of: null },
      }),

    async count(): Promise<bigint> {
      const { rows } = await db.query('select count(*) as n from operator_acts')
      return (rows[0] as { n: bigint }).n
    },

    /** PostgreSQL counts changes when a session ends, so this one does. */
    tamper: (statements: readonly string[]) => tamper(database.url, statements),

    async partition(): Promise<string> {
      const { rows } = await db.query(
        `select min(inhrelid::regclass::text) as name from pg_inherits
         where inhparent = 'entries'::regclass`,
      )
      return (rows[0] as { name: string }).name
    },

    end: () => database.drop(),
  }
}

/** Runs statements as a superuser without triggers, and ends the session. */
export async function tamper(url: string, statements: readonly string[]): Promise<void> {
  await onServer(async (client) => {
    await client.query(TAMPER_CHAIN)
    await client.query('set session_replication_role = replica')
    for (const statement of statements) await client.query(statement)
    await client.query('drop function tamper_chain')
  }, url)
}

/** Notes the statements of snapshots. */
function noted(db: Db, reads: [string, unknown[] | undefined][]): Db {
  return {
    ...db,
    snapshot: (work) =>
      db.snapshot((tx) =>
        work({
          ...tx,
          query(text: string, values?: unknown[]) {
            reads.push([text, values])
            return tx.query(text, values)
          },
        }),
      ),
  }
}
