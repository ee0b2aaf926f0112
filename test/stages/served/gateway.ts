// The stage of gateway faults: the real `serve` as a child, on a database of its own, in front of a
// vendor stand-in, with paying accounts; and the closing check of what the ledger then shows.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../../../src/platform/clock.ts'
import { credits } from '../../../src/units/credits.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { onRoles } from '../../../tools/program-roles.ts'
import { childEnvironment } from '../../support/child-environment.ts'
import { ensure, sleep } from '../../support/drill.ts'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  keySettings,
  type TestDatabase,
} from '../../support/harness.ts'

const root = join(import.meta.dirname, '../../..')
/** Above the minute that the fleet itself gives a process. */
const READY_MS_MAX = 90_000

export type Charge = { readonly output: number; readonly ending: string; readonly count: number }

type Line = {
  readonly msg: string
  readonly process: number
  readonly level: string
  readonly [member: string]: unknown
}

export type Serving = {
  readonly url: string
  readonly metricsUrl: string
  readonly parent: ChildProcess
  /** Processes that serve, oldest first; the dead and the drained are not among them. */
  members(): number[]
  /** How many log lines have this message. */
  said(message: string): number
  /** Waits until the log has this many lines with the message. */
  until(message: string, times: number, limitMs?: number): Promise<void>
  /** Sends SIGTERM and returns the exit code. */
  stop(limitMs?: number): Promise<number | null>
}

/** With paying accounts and, behind them, accounts without credits. */
export async function createGatewayStage(accounts: number, withoutCredits = 0) {
  const database = await createTestDatabase()
  return createStageOn(database, await createAccounts(database, accounts, withoutCredits))
}

/** The stage on a database that is there already, with one key of each account. */
export async function createStageOn(database: TestDatabase, keys: readonly string[]) {
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'tollgate-spool-'))
  const children: ChildProcess[] = []
  const settings = {
    DATABASE_URL: database.url,
    LEDGER_SPOOL_DIRECTORY: spoolDirectory,
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
  }

  /**
   * Starts `serve`, of this tree or another; resolves when every process answers. `onLine` gets
   * each line of its log.
   */
  async function serve(
    env: Readonly<Record<string, string>>,
    tree = root,
    onLine: (line: Line) => void = () => undefined,
  ): Promise<Serving> {
    const [port, metricsPort] = await freePorts(2)
    const parent = spawn(process.execPath, [join(tree, 'src/main.ts'), 'serve'], {
      cwd: tree,
      env: onRoles('serve', {
        ...childEnvironment,
        ...settings,
        GATEWAY_PORT: String(port),
        METRICS_PORT: String(metricsPort),
        ...env,
      }),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(parent)
    const log = readLog(parent, onLine)
    await log.until('the fleet is ready', 1)
    return {
      url: `http://127.0.0.1:${port}`,
      metricsUrl: `http://127.0.0.1:${metricsPort}`,
      parent,
      ...log,
      async stop(limitMs = 60_000) {
        if (parent.exitCode !== null) return parent.exitCode
        const exited = once(parent, 'exit')
        parent.kill('SIGTERM')
        const timer = setTimeout(() => parent.kill('SIGKILL'), limitMs)
        await exited
        clearTimeout(timer)
        return parent.exitCode
      },
    }
  }

  return {
    database,
    /** One key of each account. */
    keys,
    spoolDirectory,
    /** For programs that a test starts itself. */
    settings,
    serve,
    /** Charges of the ledger by their output tokens, which tests make unlike each other. */
    charges: () => readCharges(database),
    openHolds: () => countOpenHolds(database),
    check: () => checkLedger(database, spoolDirectory),
    async end() {
      for (const child of children) await endFamily(child)
      await database.drop()
      await rm(spoolDirectory, { recursive: true, force: true })
    },
  }
}

/** Creates accounts, the first ones with credits; returns their keys. */
export async function createAccounts(
  database: TestDatabase,
  paying: number,
  withoutCredits = 0,
): Promise<string[]> {
  const ledger = await createTestLedger(database.url)
  const keys = createTestKeys(ledger.db, ledger)
  const plain: string[] = []
  for (let i = 0; i < paying + withoutCredits; i++) {
    const book = await ledger.createBook(database.db)
    const amount = credits(10n ** 11n)
    const posted = { book, kind: 'purchase', ref: `pack ${i}`, amount, contra: 'clearing' } as const
    if (i < paying) {
      await database.db.transaction((tx) => ledger.credit(tx, { ...posted, note: '' }))
    }
    const issued = await database.db.transaction((tx) => keys.issue(tx, book))
    await database.db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
    plain.push(issued.plain)
  }
  await ledger.end()
  return plain
}

function readLog(
  parent: ChildProcess,
  onLine: (line: Line) => void,
): Pick<Serving, 'members' | 'said' | 'until'> {
  const counts = new Map<string, number>()
  const serving: number[] = []
  const bad: string[] = []
  createInterface({ input: parent.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const parsed = JSON.parse(line) as Line
    onLine(parsed)
    const { msg, process: pid, level } = parsed
    counts.set(msg, (counts.get(msg) ?? 0) + 1)
    if (msg === 'serving') serving.push(pid)
    if (level === 'error' || level === 'fatal') bad.push(line)
  })
  const said = (message: string) => counts.get(message) ?? 0
  return {
    said,
    members: () => serving.filter(isAlive),
    async until(message, times, limitMs = READY_MS_MAX) {
      const deadline = performance.now() + limitMs
      while (said(message) < times) {
        const isOver = performance.now() > deadline || parent.exitCode !== null
        if (isOver) throw new Error(`never said "${message}" ${times} times: ${bad.join('\n')}`)
        await sleep(10)
      }
    },
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Kills a running child; its processes end when their parent does. */
async function endFamily(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Free ports. All are open at the same time, so that no port is returned twice. */
async function readCharges(database: TestDatabase): Promise<Map<number, Charge>> {
  const { rows } = await database.db.query(
    `select output::int4 as output, min(ending::text) as ending, count(*)::int4 as count
     from entries where kind = 'charge' group by output`,
  )
  return new Map((rows as Charge[]).map((row) => [row.output, row]))
}

async function countOpenHolds(database: TestDatabase): Promise<number> {
  const { rows } = await database.db.query(
    `select count(*)::int4 as n from holds where state = 'open'`,
  )
  return (rows[0] as { n: number }).n
}

/** Lets the sweeper watch dead processes for a minute; then checks holds and audit. */
async function checkLedger(database: TestDatabase, spoolDirectory: string) {
  // A clock set by hand lets the sweeper watch for a minute without waiting for it.
  const clock = { ms: 0 }
  const turned: Clock = { nowMs: () => clock.ms, spanMs: () => clock.ms }
  const ledger = await createTestLedger(database.url, { spoolDirectory, clock: turned })
  try {
    await sleep(500) // the ledger replays the spools of killed processes
    const sweeper = ledger.sweeper(60)
    let swept = 0
    for (let i = 0; i < 20; i++) {
      swept += (await sweeper.tick()).freed
      clock.ms += 10_000
    }
    const open = await countOpenHolds(database)
    ensure(open === 0, `every hold ends (${open} are open)`)
    const findings = await ledger.audit('all')
    ensure(
      findings.length === 0,
      `the audit is empty: ${findings.length} ${findings[0]?.rule} ${findings[0]?.detail}`,
    )
    return { swept }
  } finally {
    await ledger.end()
  }
}
