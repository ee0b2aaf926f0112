// A new version comes while clients work: the database is migrated under the old version, then one
// process after the other is replaced, back again as if the new one were no good, and forward once
// more. The edge stands before the port, as shipped. No request fails, each is charged once, and
// the ledger ties out.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createAccounts, createStageOn, type Serving } from '../../stages/served/gateway.ts'
import type { Fault } from '../../support/fault.ts'
import { hold, random, sleep } from '../../support/fault.ts'
import { createTestDatabase, serverUrl, type TestDatabase } from '../../support/harness.ts'
import { type Edge, startEdge } from '../edge/stage.ts'
import { describe, startLoad } from '../support/gateway-load.ts'
import { createReleases, type Releases, releaseAt } from './releases.ts'

const run = promisify(execFile)

const PER_SECOND = 100
const CONNECTIONS = 50
const PROCESSES = 2
/** A process that has taken no connection yet is asked within so many. */
const LOOKS = 8

export const fault: Fault = async ({ isFull, seed, say }) => {
  const releases = await createReleases()
  const database = await createTestDatabase(serverUrl, 'template0')
  const vendor = await startVendor({ requestsMax: 100_000 })
  const open: Edge[] = []
  await migrate(releases.old, database)
  const stage = await createStageOn(database, await createOldAccounts(releases, database))
  try {
    const serving = await stage.serve(
      {
        GATEWAY_PROCESSES: String(PROCESSES),
        GATEWAY_ADDRESS_HEADER: 'x-real-ip',
        UPSTREAM_URL: vendor.url,
        CATALOGUE_FILE: join(releases.old, 'catalogue.example.yaml'),
      },
      releases.current,
    )
    const edge = await startEdge(Number(new URL(serving.url).port))
    open.push(edge)
    const numbers = { last: 0 }
    const dispatcher = edge.agent(CONNECTIONS)
    const load = startLoad({
      ...{ dispatcher, url: edge.url, keys: stage.keys, numbers, draw: random(seed) },
      perSecond: PER_SECOND,
    })
    await sleep(1_000)
    const applied = await migrate(releases.fresh, database)
    hold(/^applied /.test(applied), `there is a migration between the two (${applied})`)
    say(`migrated under the old version: ${applied}`)
    const turns = isFull ? 9 : 3
    for (let turn = 1; turn <= turns; turn++) {
      await sleep(isFull ? 10_000 : 1_000)
      await replace(serving, releases, turn)
    }
    await sleep(1_000)
    say(`${turns} times every process was replaced, forward and back in turn`)
    const { failed, ...figures } = await load.stop()
    await dispatcher.close()
    hold(failed.length === 0, `no request fails (${describe(failed)})`)
    hold(serving.said('a process died; starting another') === 0, 'and no process dies')
    hold((await serving.stop()) === 0, 'the gateway ends cleanly')
    const charges = await stage.charges()
    hold(charges.size === numbers.last, `each is charged (${charges.size} of ${numbers.last})`)
    const { swept } = await stage.check()
    hold(swept === 0, `nothing was left to the sweeper (${swept} holds)`)
    return { from: releases.base.slice(0, 7), applied, turns, ...figures, failed: failed.length }
  } finally {
    for (const edge of open) await edge.stop()
    await vendor.close()
    await stage.end()
    await releases.remove()
  }
}

/** What an operator does after `migrate`: the link, and SIGHUP. Odd turns go forward. */
async function replace(serving: Serving, releases: Releases, turn: number): Promise<void> {
  const [to, tree] = turn % 2 === 1 ? ['fresh', releases.fresh] : ['old', releases.old]
  await releases.select(tree as string)
  serving.parent.kill('SIGHUP')
  await serving.until('every process was replaced', turn, 120_000)
  for (let i = 0; i < LOOKS; i++) {
    const found = await releaseAt(serving.url)
    hold(found === to, `after turn ${turn} the ${to} version answers, not the ${found} one`)
  }
}

async function migrate(tree: string, { url }: TestDatabase): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: url }
  const main = join(tree, 'src/main.ts')
  const { stdout } = await run(process.execPath, [main, 'migrate'], { cwd: tree, env })
  return stdout.trim()
}

/** Made by the old version's own rooms: the new one's may need what is not there yet. */
async function createOldAccounts({ old }: Releases, database: TestDatabase): Promise<string[]> {
  const file = join(old, 'test/support/harness.ts')
  // Older versions have it one folder higher.
  const { href } = pathToFileURL(existsSync(file) ? file : join(old, 'test/harness.ts'))
  const harness = (await import(href)) as typeof import('../../support/harness.ts')
  return createAccounts(database, 10, harness)
}
