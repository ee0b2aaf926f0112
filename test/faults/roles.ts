// A stolen password of each program: everything that it must not be enough for is tried over a real
// connection, and refused. --full also tries every table and function as each role, and shows that
// the programs need no more: connected as their roles they serve a purchase and a request end to
// end, and every job runs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compareRoles } from '../../src/platform/db/role-grants.ts'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { tryForbidden } from '../roles/forbidden.ts'
import { grantsText } from '../roles/table.ts'
import { createAccounts, createStageOn } from '../stages/served/gateway.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure } from '../support/drill.ts'
import { createTestDatabase } from '../support/harness.ts'

const GRANTS = join(import.meta.dirname, '../../migrations/grants.txt')
/** Jobs that others enqueue with a payload; a purchase has shown `letter`. */
const NOT_BY_CLOCK = new Set(['letter'])

export const drill: Drill = async ({ isFull, say }) => {
  const database = await createTestDatabase()
  try {
    const { tried, allowed } = await tryForbidden(database.url)
    ensure(allowed.length === 0, `no program may do what it must not:\n${allowed.join('\n')}`)
    const differences = await compareRoles(database.db)
    ensure(differences.length === 0, `every role has its rights:\n${differences.join('\n')}`)
    say(`${tried} forbidden acts were refused`)
    if (!isFull) return { tried }
    const text = await grantsText(database)
    ensure(text === readFileSync(GRANTS, 'utf8'), 'the matrix is the one that is checked in')
    say('every table and function was tried as each role')
    const jobs = await servePurchase(say)
    const charged = await serveRequest()
    say(`a request was charged ${charged} times by a gateway with its own role`)
    return { tried, grants: text.split('\n').length, jobs, charged }
  } finally {
    await database.drop()
  }
}

/** A cabinet takes the notice, a worker credits and runs every job; returns how many jobs. */
async function servePurchase(say: (text: string) => void): Promise<number> {
  const stage = await createPaymentStage({ workers: 1 })
  try {
    const users = await usersOf(stage)
    ensure(
      ['tollgate_cabinet', 'tollgate_worker'].every((role) => users.has(role)),
      `cabinet and worker connect as their roles: ${[...users].join(', ')}`,
    )
    const { id } = await stage.bought()
    await stage.sim('pay', { orderId: id })
    await stage.untilState(id, 'credited')
    say('a purchase was credited by programs with their own roles')
    const jobs = await jobNames(stage)
    for (const name of jobs) await stage.runJob(name)
    // A job that began while cron's own ran is tried again within seconds. One that lacks a right
    // fails each time, and stays.
    const isIdle = await stage
      .until('every job has run', async () => (await jobsLeft(stage)).length === 0, 90_000)
      .then(() => true)
      .catch(() => false)
    const left = isIdle ? [] : await jobsLeft(stage)
    ensure(isIdle, `every job runs with the worker’s role: ${left.join('; ')}`)
    say(`${jobs.length} jobs ran`)
    return jobs.length
  } finally {
    await stage.end()
  }
}

/** The users that programs of ours are connected as. */
async function usersOf({ db }: PaymentStage): Promise<Set<string>> {
  const { rows } = await db.query(
    `select distinct usename::text as name from pg_stat_activity
     where datname = current_database() and application_name ~ '^tollgate (cabinet|worker)'`,
  )
  return new Set((rows as { name: string }[]).map(({ name }) => name))
}

/** The jobs that cron knows, which a worker writes down at its start. */
async function jobNames({ db }: PaymentStage): Promise<string[]> {
  const { rows } = await db.query('select identifier as name from graphile_worker._private_tasks')
  return (rows as { name: string }[])
    .map(({ name }) => name)
    .filter((one) => !NOT_BY_CLOCK.has(one))
}

async function jobsLeft({ db }: PaymentStage): Promise<string[]> {
  const { rows } = await db.query(
    `select t.identifier || ': ' || coalesce(j.last_error, 'has not ended') as line
     from graphile_worker._private_jobs j
     join graphile_worker._private_tasks t on t.id = j.task_id`,
  )
  return (rows as { line: string }[]).map(({ line }) => line)
}

/** A gateway finds the key, holds, relays and charges; returns how many charges there are. */
async function serveRequest(): Promise<number> {
  const vendor = await startVendor()
  const database = await createTestDatabase()
  const stage = await createStageOn(database, await createAccounts(database, 1))
  try {
    const serving = await stage.serve({ UPSTREAM_URL: vendor.url, GATEWAY_PROCESSES: '1' })
    const headers = { 'x-api-key': stage.keys[0] ?? '', 'content-type': 'application/json' }
    const response = await fetch(`${serving.url}/v1/messages`, {
      method: 'POST',
      headers: { ...headers, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({
        model: 'model-small',
        max_tokens: 16,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    })
    ensure(response.status === 200, `a request is served: ${await response.text()}`)
    await response.body?.cancel().catch(() => undefined)
    const me = await fetch(`${serving.url}/v1/me`, { headers })
    ensure(me.status === 200, `an owner’s own numbers are read: ${me.status}`)
    const { rows } = await database.db.query(
      `select count(*) filter (where kind = 'charge')::int4 as charged,
         (select count(*)::int4 from pg_stat_activity where datname = current_database()
           and usename = 'tollgate_gateway') as connections from entries`,
    )
    const [found] = rows as { charged: number; connections: number }[]
    ensure((found?.connections ?? 0) > 0, 'the gateway connects as its role')
    ensure(found?.charged === 1, `a request is charged once: ${found?.charged}`)
    await serving.stop()
    return found.charged
  } finally {
    await stage.end()
    await vendor.close()
  }
}
