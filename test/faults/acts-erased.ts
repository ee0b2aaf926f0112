// Somebody with the owner's password erases, alters and writes anew what operators did. A real
// worker ships the acts to a file and checks them; it finds each within a minute, also what was
// done while no worker ran. A worker that is killed while it ships loses no act and keeps the
// order. The short form shortens only the interval of the check.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { markOf } from '../../src/acts/chain.ts'
import type { ActRule } from '../../src/acts/verify.ts'
import { freePorts } from '../../tools/free-port.ts'
import { onRoles } from '../../tools/program-roles.ts'
import { tamper } from '../stages/acts.ts'
import { type PaymentProcess, startPaymentProcess } from '../stages/served/process.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, random, sleep } from '../support/drill.ts'
import { createTestDatabase } from '../support/harness.ts'

type Size = {
  /** Commands as processes; every third records its begin and its end. */
  readonly commands: number
  readonly atOnce: number
  /** Acts written before each kill, so that there is something to ship. */
  readonly bulk: number
  readonly kills: number
  readonly checkSeconds: number
}
const FULL: Size = { commands: 120, atOnce: 6, bulk: 8_000, kills: 8, checkSeconds: 30 }
const SHORT: Size = { commands: 2, atOnce: 2, bulk: 4_000, kills: 1, checkSeconds: 1 }
const FOUND_SECONDS_MAX = 60
const root = join(import.meta.dirname, '../..')

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull ? FULL : SHORT
  const stage = await openStage(size)
  try {
    const acts = await writeAndKill(stage, size, random(seed))
    say(
      `${acts.acts} acts, ${size.kills} kills, ${acts.killedWhileShipping} of them while shipping`,
    )
    if (isFull) ensure(acts.killedWhileShipping > 0, 'a worker was killed while it shipped')
    const seconds: Record<string, number> = {}
    await stage.save()
    for (const [name, tampering] of Object.entries(isFull ? tamperings : together())) {
      seconds[name] = await findTampering(stage, tampering)
      say(`${name}: found after ${seconds[name]} s`)
    }
    const slowest = Math.max(...Object.values(seconds))
    ensure(slowest <= FOUND_SECONDS_MAX, `each is found within a minute (${slowest} s)`)
    return { ...acts, kills: size.kills, slowestSeconds: slowest }
  } finally {
    await stage.end()
  }
}

type Tampering = {
  readonly statements: readonly string[]
  readonly undo?: readonly string[]
  readonly found: readonly ActRule[]
  /** No process has seen the acts: only the copy can tell. */
  readonly isWithoutWorker?: boolean
}

const APPEND_ONLY = 'trigger operator_acts_are_append_only'
/** What a careful person changes too. */
const SET_BACK = [
  `update act_chain set number = a.number, digest = a.digest
   from (select number, digest from operator_acts order by number desc limit 1) a`,
  'update act_copies set number = c.number, digest = c.digest from act_chain c',
]
const tamperings = {
  newest: {
    statements: [
      'delete from operator_acts where number > (select number - 3 from act_chain)',
      ...SET_BACK,
    ],
    found: ['act_erased'],
    isWithoutWorker: true,
  },
  rewritten: {
    statements: ['select tamper_chain(2)', ...SET_BACK],
    found: ['chain_rewritten'],
    isWithoutWorker: true,
  },
  middle: {
    statements: ['delete from operator_acts where number = 7 and of_act is null'],
    found: ['act_erased'],
  },
  altered: {
    statements: [`update operator_acts set detail = 'nothing' where number = 20`],
    found: ['act_altered'],
  },
  trigger: {
    statements: [`alter table operator_acts disable ${APPEND_ONLY}`],
    undo: [`alter table operator_acts enable ${APPEND_ONLY}`],
    found: ['trigger_disabled'],
  },
  triggerOfEntries: {
    statements: ['alter table entries disable trigger entries_never_change'],
    undo: ['alter table entries enable trigger entries_never_change'],
    found: ['trigger_disabled'],
  },
} satisfies Record<string, Tampering>

/** In CI what one check can find at a time is found by one check. */
function together(): Record<string, Tampering> {
  const { newest, rewritten, middle, altered, trigger } = tamperings
  const rest: Tampering = {
    statements: [middle, altered, trigger].flatMap((one) => one.statements),
    undo: trigger.undo,
    found: ['act_erased', 'act_altered', 'trigger_disabled'],
  }
  return { newest, rewritten: { ...rewritten, isWithoutWorker: false }, rest }
}

type Stage = Awaited<ReturnType<typeof openStage>>

async function openStage(size: Size) {
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-acts-'))
  const path = join(folder, 'acts.ndjson')
  const [metricsPort = 0] = await freePorts(1)
  const env = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '4',
    DATABASE_LEDGER_CONNECTIONS: '1',
    LEDGER_SPOOL_DIRECTORY: join(folder, 'spool'),
    MAIL_SMTP_URL: 'smtp://127.0.0.1:1?starttls=never',
    YOOKASSA_URL: 'http://127.0.0.1:1',
    METRICS_WORK_PORT: String(metricsPort),
    ACTS_SHIP_TO: `file:${path}`,
    ACTS_SHIP_SECONDS: '1',
    ACTS_CHECK_SECONDS: String(size.checkSeconds),
  }
  const state = { worker: undefined as PaymentProcess | undefined }
  const { db } = database

  async function until(what: string, look: () => Promise<boolean>, limitMs = 120_000) {
    const deadline = performance.now() + limitMs
    while (!(await look())) {
      const complaints = state.worker?.complaints().slice(-5).join('\n')
      ensure(performance.now() < deadline, `it comes to this: ${what}\n${complaints}`)
      await sleep(10)
    }
  }

  /** A number of a metric, as Prometheus reads it; undefined while the worker has not begun. */
  async function metric(name: string, of: string): Promise<number | undefined> {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined)
    const found = new RegExp(`^${name}\\{of="${of}"\\} (\\S+)$`, 'm').exec(
      (await answer?.text()) ?? '',
    )?.[1]
    return found === undefined ? undefined : Number(found)
  }

  return {
    ...{ database, db, env, path, until, metric },
    tamper: (statements: readonly string[]) => tamper(database.url, statements),

    async startWorker(): Promise<void> {
      state.worker = await startPaymentProcess('work', env)
    },
    async killWorker(): Promise<void> {
      await state.worker?.kill()
    },

    /** Keeps the acts, the end of the chain and the marks of copies, to restore them. */
    async save(): Promise<void> {
      for (const table of TABLES) {
        await db.query(`create table saved_${table} as select * from ${table}`)
      }
    },
    restore: () =>
      tamper(
        database.url,
        TABLES.flatMap((table) => [
          `truncate ${table}`,
          `insert into ${table} overriding system value select * from saved_${table}`,
        ]),
      ),

    async end(): Promise<void> {
      await state.worker?.kill()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const TABLES = ['operator_acts', 'act_chain', 'act_copies']

/** Commands and a crowd of acts, beside workers that are killed while they ship. */
async function writeAndKill(stage: Stage, size: Size, draw: () => number) {
  await stage.startWorker()
  const commands = runCommands(stage, size)
  let inTheAct = 0
  for (let kill = 0; kill < size.kills; kill++) {
    const before = await sizeOf(stage)
    await writeBulk(stage, size.bulk)
    await stage.until('acts are shipped', async () => (await sizeOf(stage)) > before)
    await sleep(draw() * 20)
    await stage.killWorker()
    inTheAct += Number(!(await isAll(stage)))
    await stage.startWorker()
  }
  await commands
  await stage.until('every act is shipped', () => isAll(stage))
  const { rows } = await stage.db.query(
    `select number::int4, encode(digest, 'hex') as digest from operator_acts order by number`,
  )
  const copy = checkCopy(await readFile(stage.path, 'utf8'), rows as Written[])
  const { rows: addresses } = await stage.db.query(
    `select from operator_acts where command || detail like '%@%'`,
  )
  ensure(addresses.length === 0, 'no act has an e-mail address')
  const isQuiet = async () => (await stage.metric('acts_watch', 'findings')) === 0
  await stage.until('the check has ended', isQuiet)
  return { acts: rows.length, killedWhileShipping: inTheAct, ...copy }
}

type Written = { readonly number: number; readonly digest: string }

/** Every act is in the copy, in its order; a line that is there twice is the same. */
function checkCopy(text: string, acts: readonly Written[]) {
  const seen = new Map<number, string>()
  let duplicates = 0
  let halfLines = 0
  for (const line of text.trimEnd().split('\n')) {
    const mark = markOf(line)
    if (mark === undefined) {
      halfLines += 1
      continue
    }
    const number = Number(mark.number)
    const digest = mark.digest.toString('hex')
    if (seen.has(number)) {
      ensure(seen.get(number) === digest, `act ${number} is there twice, and the same`)
      duplicates += 1
    } else {
      ensure(number === seen.size + 1, `act ${number} comes after act ${seen.size}`)
      seen.set(number, digest)
    }
  }
  const lost = acts.filter(({ number, digest }) => seen.get(number) !== digest)
  ensure(lost.length === 0, `no act is lost or altered in the copy (${lost.length})`)
  ensure(seen.size === acts.length, `the copy has no other acts (${seen.size})`)
  return { duplicates, halfLines }
}

async function sizeOf({ path }: Stage): Promise<number> {
  return (await stat(path).catch(() => ({ size: 0 }))).size
}

async function isAll({ db }: Stage): Promise<boolean> {
  const { rows } = await db.query(
    `select from act_chain c join act_copies s on s.number = c.number where c.number > 0`,
  )
  return rows.length > 0
}

/** What operators type, each as a process of its own. */
async function runCommands({ env }: Stage, { commands, atOnce }: Size): Promise<void> {
  const waiting = Array.from({ length: commands }, (_, i) => i)
  const work = async () => {
    for (let i = waiting.pop(); i !== undefined; i = waiting.pop()) {
      const typed =
        i % 3 === 0
          ? ['mail', 'test', `somebody${i}@example.org`]
          : ['promo', 'create', `CODE${i}`, '1', '--times', '1', '--until', '2099-12-31']
      const note = i % 3 === 0 ? [] : ['--note', `asked by somebody${i}@example.org`]
      const args = ['src/main.ts', 'op', '--yes', ...typed, ...note]
      const own = onRoles('op', { PATH: process.env.PATH ?? '', ...env })
      const options = { cwd: root, env: own }
      // The relay is away, so that test e-mails fail, and their records say so.
      await promisify(execFile)(process.execPath, args, options).catch((error: { code?: number }) =>
        ensure(error.code === 1, `op ends by itself: ${error}`),
      )
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

/** Acts of four sessions at a time, one of which is rolled back. */
async function writeBulk({ db }: Stage, bulk: number): Promise<void> {
  const write = async (piece: number) => {
    await db
      .transaction(async (tx) => {
        // Sessions write the chain one after another: the last one waits for the other three.
        await tx.query(`set local lock_timeout = '1min'`)
        await tx.query(
          `insert into operator_acts (acted_by, os_user, command, outcome, detail)
           select 'crowd', 'crowd@nowhere', 'grant ' || i || ' 1', 'done', ''
           from generate_series(1, $1::int4) i`,
          [bulk / 4],
        )
        if (piece === 0) throw new Error('rolled back')
      })
      .catch((error: Error) => ensure(error.message === 'rolled back', error.message))
  }
  await Promise.all([0, 1, 2, 3].map(write))
}

/** Seconds from the end of the deed until the worker's metrics show all of it. */
async function findTampering(stage: Stage, tampering: Tampering): Promise<number> {
  const { statements, undo = [], found, isWithoutWorker = false } = tampering
  if (isWithoutWorker) await stage.killWorker()
  const countsOf = () =>
    Promise.all(found.map(async (rule) => (await stage.metric('acts_findings_total', rule)) ?? 0))
  const before = isWithoutWorker ? found.map(() => 0) : await countsOf()
  await stage.tamper(statements)
  const startedMs = performance.now()
  if (isWithoutWorker) await stage.startWorker()
  await stage.until(`${found.join(', ')} is found`, async () =>
    (await countsOf()).every((count, i) => count > (before[i] ?? 0)),
  )
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  const shipped = await sizeOf(stage)
  await stage.restore()
  for (const statement of undo) await stage.db.query(statement)
  const isQuiet = async () => (await stage.metric('acts_watch', 'findings')) === 0
  await stage.until('the restored list is as it was recorded', isQuiet)
  ensure((await sizeOf(stage)) === shipped, 'nothing was shipped over the evidence')
  return seconds
}
