// The stage of ledger faults: a private PostgreSQL that may be killed or frozen, books with enough
// credits, writer processes, and the final check: every acknowledged settle is stored exactly once,
// every hold is closed, the audit is empty.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Clock } from '../../../src/platform/clock.ts'
import { credits } from '../../../src/units/credits.ts'
import type { Postgres } from '../../../tools/postgres.ts'
import { startPostgres } from '../../../tools/postgres.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { createTestDatabase, createTestLedger } from '../../support/harness.ts'
import type { WriterTask } from './writer.ts'

export type Line = {
  /** Milliseconds since the stage was built. */
  readonly atMs: number
  readonly what: string
  readonly id: string
  readonly amount: bigint
  readonly ms: number
  readonly book: string
}

export type Writer = {
  readonly child: ChildProcess
  readonly lines: Line[]
  readonly ready: Promise<void>
  readonly ended: Promise<void>
}

export async function createStage(bookCount: number) {
  const builtMs = performance.now()
  // Our own directory: startPostgres would remove its temporary one together with the server.
  const dataDirectory = join(tmpdir(), `tollgate-stage-${process.pid}`)
  let postgres: Postgres = await startPostgres({ version: 'system', dataDirectory })
  const dataOf = { dataDirectory, port: postgres.port }
  const database = await createTestDatabase(postgres.url)
  const setup = await createTestLedger(database.url)
  const books: string[] = []
  for (let i = 0; i < bookCount; i++) {
    const book = await setup.createBook(database.db)
    const ref = `pack ${i}`
    await database.db.transaction((tx) =>
      setup.credit(tx, {
        book,
        kind: 'purchase',
        ref,
        amount: credits(10n ** 12n),
        contra: 'clearing',
        note: '',
      }),
    )
    books.push(String(book))
  }
  const { rows } = await database.db.query(
    `insert into tariffs (catalogue_version, model, coefficient, cache_read, cache_write_5m,
       cache_write_1h) values (1, 'model', 1000000, 0, 0, 0) returning id`,
  )
  await setup.end()
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'tollgate-spool-'))
  const base = { url: database.url, spoolDirectory, books, tariff: (rows[0] as { id: number }).id }
  const acknowledged: Line[] = []

  /** `launcher`: a command that starts the process, such as one that gives it a namespace. */
  function startWriter(
    task: Partial<WriterTask> & { seed: number },
    launcher: readonly string[] = [],
  ): Writer {
    const full: WriterTask = {
      loops: 32,
      pinnedLoops: 0,
      servedMsMax: 20,
      pauseMs: 0,
      holdWaitMs: 30_000,
      spoolAfterMs: 10_000,
      ...base,
      ...task,
    }
    const file = join(import.meta.dirname, 'writer.ts')
    const [program = '', ...args] = [...launcher, process.execPath, file, JSON.stringify(full)]
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines: Line[] = []
    const ready = Promise.withResolvers<void>()
    const reader = createInterface({ input: child.stdout })
    reader.on('line', (text) => {
      if (text === 'ready') ready.resolve()
      const line = readLine(text, performance.now() - builtMs)
      if (line === undefined) return
      lines.push(line)
      if (line.what === 'settled' || line.what === 'spooled') acknowledged.push(line)
    })
    const ended = new Promise<void>((resolve) => reader.once('close', resolve))
    return { child, lines, ready: ready.promise, ended }
  }

  return {
    database,
    base,
    acknowledged,
    startWriter,
    nowMs: () => performance.now() - builtMs,
    kill: (signal: NodeJS.Signals) => postgres.kill(signal),
    /** Starts the same cluster on the same port after a kill. */
    async restart() {
      await postgres.stop()
      postgres = await startPostgres({ version: 'system', ...dataOf })
    },
    check: () => checkEverything(database, spoolDirectory, acknowledged),
    async end() {
      await database.drop()
      await postgres.stop()
      await rm(dataOf.dataDirectory, { recursive: true, force: true })
      await rm(spoolDirectory, { recursive: true, force: true })
    },
  }
}

function readLine(text: string, atMs: number): Line | undefined {
  const [what = '', id = '', third = '', fourth = '', fifth = ''] = text.split(' ')
  if (what === 'held') return { atMs, what, id, amount: 0n, ms: Number(third), book: fourth }
  if (what === 'refused') return { atMs, what, id, amount: 0n, ms: Number(third), book: '' }
  if (what === 'settled' || what === 'spooled') {
    return { atMs, what, id, amount: BigInt(third), ms: Number(fourth), book: fifth }
  }
  return undefined
}

async function checkEverything(
  database: Awaited<ReturnType<typeof createTestDatabase>>,
  spoolDirectory: string,
  acknowledged: readonly Line[],
) {
  // With a test clock the sweep sees a minute of silence without waiting for it.
  const clock = { ms: 0 }
  const turned: Clock = { nowMs: () => clock.ms, spanMs: () => clock.ms }
  const ledger = await createTestLedger(database.url, { spoolDirectory, clock: turned })
  try {
    await sleep(500) // the ledger replays the spools of dead processes
    const sweeper = ledger.sweeper(60)
    let swept = 0
    for (let i = 0; i < 20; i++) {
      swept += (await sweeper.tick()).freed
      clock.ms += 10_000
    }
    const { rows } = await database.db.query(
      `select hold_id as id, count(*)::int4 as charges, -sum(amount)::int8 as amount
       from entries where kind = 'charge' group by hold_id`,
    )
    const charges = new Map(
      (rows as { id: string; charges: number; amount: bigint }[]).map((row) => [row.id, row]),
    )
    for (const line of acknowledged) {
      const charge = charges.get(line.id)
      ensure(charge !== undefined, `an acknowledged settle is stored: ${line.what} ${line.id}`)
      ensure(charge.charges === 1, `it is stored once: ${line.id} has ${charge.charges}`)
      ensure(BigInt(charge.amount) === line.amount, `it has the acknowledged amount: ${line.id}`)
    }
    const open = await database.db.query(`select from holds where state = 'open'`)
    ensure(open.rows.length === 0, `every hold is closed (${open.rows.length} are open)`)
    const findings = await ledger.audit('all')
    ensure(
      findings.length === 0,
      `the audit is empty: ${findings.length} ${findings[0]?.rule} ${findings[0]?.detail}`,
    )
    return { acknowledged: acknowledged.length, charges: charges.size, swept }
  } finally {
    await ledger.end()
  }
}
