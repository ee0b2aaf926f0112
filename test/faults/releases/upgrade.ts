// An upgrade under load: the database is migrated while the old version serves, then the processes
// are replaced one by one, back to the old version, and forward once more. The shipped edge is in
// front of the gateway. No request fails, each is charged once, and the audit is empty. Before each
// turn a process of the running version is killed with a charge in its spool, and the other version
// charges it.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createStageOn, type Serving } from '../../stages/served/gateway.ts'
import { childEnvironment } from '../../support/child-environment.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { createTestDatabase, serverUrl, type TestDatabase } from '../../support/harness.ts'
import { type Edge, startEdge } from '../edge/stage.ts'
import { describe, startLoad } from '../support/gateway-load.ts'
import { createReleases, type Releases, releaseAt } from './releases.ts'

const run = promisify(execFile)

const PER_SECOND = 100
const CONNECTIONS = 50
const PROCESSES = 2
/** New connections per check: enough that each of the two processes very likely answers one. */
const LOOKS = 8

export const drill: Drill = async ({ isFull, seed, say }) => {
  const releases = await createReleases()
  const database = await createTestDatabase(serverUrl, 'template0')
  const vendor = await startVendor({ requestsMax: 100_000 })
  const open: Edge[] = []
  await migrate(releases.old, database)
  const stage = await createStageOn(database, await createOldAccounts(releases, database))
  try {
    const serving = await stage.serve(
      {
        // The versions before the roles run as the owner, and so does an installation that has not
        // yet given its programs their roles.
        DATABASE_ROLES: 'one',
        GATEWAY_PROCESSES: String(PROCESSES),
        GATEWAY_ADDRESS_HEADER: 'x-real-ip',
        UPSTREAM_URL: vendor.url,
        CATALOGUE_FILE: join(releases.old, 'catalogue.example.yaml'),
      },
      releases.current,
    )
    const edge = await startEdge([Number(new URL(serving.url).port)])
    open.push(edge)
    const numbers = { last: 0 }
    const dispatcher = edge.agent(CONNECTIONS)
    const load = startLoad({
      ...{ dispatcher, url: edge.url, keys: stage.keys, numbers, draw: random(seed) },
      perSecond: PER_SECOND,
    })
    await sleep(1_000)
    const applied = await migrate(releases.fresh, database)
    ensure(/^applied /.test(applied), `there is a migration between the two (${applied})`)
    say(`migrated under the old version: ${applied}`)
    const turns = isFull ? 9 : 3
    for (let turn = 1; turn <= turns; turn++) {
      await sleep(isFull ? 10_000 : 1_000)
      const running = turn % 2 === 1 ? releases.old : releases.fresh
      const left = await leaveSpool(running, database, stage.spoolDirectory)
      await replace(serving, releases, turn)
      ensure(await isCharged(database, left), `turn ${turn}: the other version's spool is charged`)
    }
    await sleep(1_000)
    say(`every process was replaced ${turns} times, forward and back in turn`)
    const { failed, ...figures } = await load.stop()
    await dispatcher.close()
    ensure(failed.length === 0, `no request fails (${describe(failed)})`)
    ensure(serving.said('a process died; starting another') === 0, 'no process dies')
    ensure((await serving.stop()) === 0, 'the gateway exits with 0')
    const charges = await stage.charges()
    ensure(
      charges.size === numbers.last,
      `each request is charged (${charges.size} of ${numbers.last})`,
    )
    const total = [...charges.values()].reduce((sum, { count }) => sum + count, 0)
    ensure(
      total === numbers.last + turns,
      `each request and each charge in a spool is charged once (${total} charges)`,
    )
    const { swept } = await stage.check()
    ensure(swept === 0, `the sweep finds no open hold (${swept})`)
    return { from: releases.base.slice(0, 7), applied, turns, ...figures, failed: failed.length }
  } finally {
    for (const edge of open) await edge.stop()
    await vendor.close()
    await stage.end()
    await releases.remove()
  }
}

/** Moves the link and sends SIGHUP, as an operator does after `migrate`. Odd turns go forward. */
async function replace(serving: Serving, releases: Releases, turn: number): Promise<void> {
  const [to, tree] = turn % 2 === 1 ? ['fresh', releases.fresh] : ['old', releases.old]
  await releases.select(tree as string)
  serving.parent.kill('SIGHUP')
  await serving.until('every process was replaced', turn, 120_000)
  for (let i = 0; i < LOOKS; i++) {
    const found = await releaseAt(serving.url)
    ensure(found === to, `after turn ${turn} the ${to} version answers, not the ${found} one`)
  }
}

async function migrate(tree: string, { url }: TestDatabase): Promise<string> {
  const env = { ...childEnvironment, DATABASE_URL: url }
  const main = join(tree, 'src/main.ts')
  const { stdout } = await run(process.execPath, [main, 'migrate'], { cwd: tree, env })
  return stdout.trim()
}

/**
 * Starts a process of this version that holds, settles while its book is locked, and is killed as
 * soon as the charge is in its spool. Returns the hold's id.
 */
async function leaveSpool(tree: string, { url }: TestDatabase, directory: string): Promise<string> {
  // The file and the function have other names before 0023.
  const isOlder = !existsSync(join(tree, 'test/support/ledger-customer.ts'))
  const [file, create] = isOlder ? ['customer', 'Customer'] : ['ledger-customer', 'LedgerCustomer']
  const program = `
    import { createTestLedger } from '${join(tree, 'test/support/harness.ts')}'
    import { create${create} } from '${join(tree, `test/support/${file}.ts`)}'
    const [url, spoolDirectory] = process.argv.slice(1)
    const ledger = await createTestLedger(url, { spoolDirectory, spoolAfterMs: 0 })
    const customer = await create${create}(ledger)
    const id = await customer.hold()
    await ledger.db.transaction(async (tx) => {
      await tx.query('select from books where id = $1 for update', [customer.book])
      await customer.settle(id)
      const die = () => process.kill(process.pid, 'SIGKILL')
      process.stdout.write(id, die)
      await new Promise(() => undefined)
    })`
  const args = ['--input-type=module', '--eval', program, url, directory]
  const killed = run(process.execPath, args).catch((error: { stdout: string }) => error)
  return (await killed).stdout
}

/** The next process of any version replays a spool when it starts, or within half a minute. */
async function isCharged({ db }: TestDatabase, hold: string): Promise<boolean> {
  for (let i = 0; i < 400; i++) {
    const { rows } = await db.query(`select from holds where id = $1 and state = 'settled'`, [hold])
    if (rows.length > 0) return true
    await sleep(100)
  }
  return false
}

/** Uses the old version's modules: the new ones may need tables that do not exist yet. */
async function createOldAccounts({ old }: Releases, database: TestDatabase): Promise<string[]> {
  const { href } = pathToFileURL(join(old, 'test/stages/served/gateway.ts'))
  const stages = (await import(href)) as typeof import('../../stages/served/gateway.ts')
  return stages.createAccounts(database, 10)
}
