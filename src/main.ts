// The only file that acts: it reads the command line and starts what was asked for.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { isFleetMember, joinFleet, REFUSED_CODE, runFleet } from './fleet.ts'
import { createJobs } from './jobs.ts'
import { createOperator, type OperatorRooms } from './operator/operator.ts'
import { dayText } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { describeConfig, loadConfig, secretOf } from './platform/config.ts'
import { migrate } from './platform/db/migrate.ts'
import { createPatience } from './platform/db/patience.ts'
import { createLog } from './platform/log.ts'
import {
  createFleetMetrics,
  createMetricsServer,
  shareMetrics,
} from './platform/metrics/metrics.ts'
import { isPlainHttp, PLAIN_UPSTREAM } from './platform/production.ts'
import { EXAMPLE_CATALOGUE } from './platform/settings.ts'
import { createRounds } from './platform/worker/rounds.ts'
import { migrateJobs, startWorker } from './platform/worker/worker.ts'
import type { Catalogue } from './pricing/pricing.ts'
import { parseUpstreams, type UpstreamOptions } from './upstreams/upstreams.ts'
import { type Rooms, watchLetters, watchUsage, wire } from './wiring.ts'

/** Twelve looks within the sixty seconds after which a silent process is taken for dead. */
const SWEEP_MS = 5_000
/** What a worker may still finish after SIGTERM. */
const STOP_MS = 20_000
/** An operator's command has nothing under way in the ledger's batches. */
const OPERATOR_STOP_MS = 1_000
const DAY_MS = 86_400_000
/** Beside the program: a copy of it under another name has the same made-up prices. */
const SHIPPED_EXAMPLE = join(import.meta.dirname, '..', EXAMPLE_CATALOGUE)

const program = new Command('tollgate').description('A prepaid gateway for model messages')
program.option('--config <file>', 'YAML file of settings; without it the defaults stand')

program
  .command('config')
  .description('look at the configuration')
  .argument('<verb>', 'check: print every setting with its source, secrets as dots')
  .action((verb: string) => {
    if (verb !== 'check') program.error(`config has no verb ${verb}; try: config check`)
    const loaded = loadConfig({ file: program.opts().config })
    if ('complaints' in loaded) complain(loaded.complaints)
    else console.log(describeConfig(loaded))
  })

program
  .command('migrate')
  .description('bring the database up to date')
  .action(async () => {
    const config = configured()
    const applied = await migrateAll(config)
    console.log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`)
  })

program
  .command('serve')
  .description('answer /v1 until SIGTERM')
  .action(async () => serve(configured()))

program
  .command('work')
  .description('run jobs and the sweeper until SIGTERM')
  .action(async () => work(configured()))

program
  .command('cabinet')
  .description('answer the account area and payment providers until SIGTERM')
  .action(async () => serveCabinet(configured()))

program.addCommand(createOperator(operatorRooms))

await program.parseAsync()

function configured(): Config {
  const loaded = loadConfig({ file: program.opts().config })
  if ('complaints' in loaded) complain(loaded.complaints)
  return loaded.config
}

function complain(complaints: readonly string[]): never {
  for (const complaint of complaints) console.error(complaint)
  process.exit(REFUSED_CODE)
}

async function migrateAll(config: Config): Promise<string[]> {
  const url = config.database.url.reveal()
  const applied = await migrate({ ...config.database, url })
  await migrateJobs(url, createLog({ level: 'warn' }))
  return applied
}

function wired(config: Config, role: string): Promise<Rooms> {
  return wire(config, upstreamsOf(config), role)
}

async function operatorRooms(): Promise<OperatorRooms> {
  const config = configured()
  // Standard output is for results; of the rooms' own lines, only those that explain a failure.
  const log = { ...config.log, level: 'warn' as const, destination: process.stderr }
  const rooms = await wired({ ...config, log }, 'operator')
  return {
    ...rooms,
    async close() {
      await rooms.payments.stop()
      rooms.mail.close()
      await rooms.ledger.stop(OPERATOR_STOP_MS)
      await rooms.upstreams.close()
      await rooms.db.end()
    },
  }
}

/** The upstreams of the file, or the one in the settings. */
function upstreamsOf({ upstream, mode, allow }: Config): UpstreamOptions[] {
  const { file, url, key, temperatureMax, ...shared } = upstream
  if (file === 'none') {
    const only = { name: 'only', url, keys: [key], models: [], priority: 1, weight: 1 }
    return [{ ...shared, ...only, temperatureMax }]
  }
  const read = parseUpstreams(readFileSync(file, 'utf8'))
  if ('complaints' in read) complain(read.complaints.map((one) => `${file}: ${one}`))
  const missing = read.upstreams
    .flatMap((one) => one.keys)
    .filter((reference) => secretOf(reference) === undefined)
  const isStrict = mode === 'production' && !allow.plainUpstreams
  const plain = isStrict ? read.upstreams.filter((one) => isPlainHttp(one.url)) : []
  const complaints = [
    ...missing.map((one) => `${file}: ${one} is empty or absent`),
    ...plain.map((one) => `${file}: ${one.name} ${PLAIN_UPSTREAM}`),
  ]
  if (complaints.length > 0) complain(complaints)
  return read.upstreams.map((one) => ({
    ...shared,
    ...one,
    keys: one.keys.flatMap((reference) => secretOf(reference) ?? []),
  }))
}

/** The catalogue in force; at the very first start, the one in the file. */
async function startPricing({ pricing, config, log }: Rooms): Promise<void> {
  if ((await pricing.start()) !== undefined) return
  const { mode, allow } = config
  const { file } = config.catalogue
  const catalogue = await readCatalogue(pricing, file)
  if (mode === 'production' && !allow.exampleCatalogue) {
    const example = await readCatalogue(pricing, SHIPPED_EXAMPLE)
    if (pricing.hasOnlyPricesOf(example, catalogue)) {
      complain([
        `catalogue.file: the database has no prices yet, and all those in ${file} are the ` +
          'example’s, which production refuses; name a file with your own models (id, ' +
          'coefficient, weights) and packs (credits, priceKopecks), apply one with op catalogue ' +
          'apply, or set allow.exampleCatalogue',
      ])
    }
  }
  const applied = await pricing.apply(catalogue, { by: 'first start', note: '' })
  log.info({ version: applied.version, file }, 'the first catalogue is in force')
}

async function readCatalogue(pricing: Rooms['pricing'], file: string): Promise<Catalogue> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) =>
    complain([`${file}: cannot be read: ${error.code}`]),
  )
  const read = pricing.parse(text)
  if ('complaints' in read) complain(read.complaints.map((one) => `${file}: ${one}`))
  return read.catalogue
}

/** Production registers nobody without a text to agree to, unless that is meant. */
function refuseNoDocuments({ documents, config: { mode, allow, brand } }: Rooms): void {
  if (mode !== 'production' || allow.noDocuments || documents.list().length > 0) return
  complain([
    `brand.documentsFile: ${brand.documentsFile} lists no legal pages, which production refuses; ` +
      'add your own, or set allow.noDocuments',
  ])
}

/** The parent of the processes that serve, and each of them. */
async function serve(config: Config): Promise<void> {
  if (isFleetMember()) return serveHere(config)
  const log = createLog({ ...config.log, slug: config.vendor.slug }).child({ role: 'fleet' })
  const { processes } = config.gateway
  const fleet = { isReady: false, isEnding: false }
  const stopped = ended().then(() => {
    fleet.isEnding = true
  })
  const metrics = createMetricsServer({
    text: createFleetMetrics().text,
    health: () => ({
      isReady: fleet.isReady && !fleet.isEnding,
      why: fleet.isEnding ? 'draining' : fleet.isReady ? 'ready' : 'starting',
    }),
  })
  metrics.listen(config.metrics.port, config.gateway.host)
  const code = await runFleet({
    onReady: () => {
      fleet.isReady = true
    },
    processes: processes === 0 ? availableParallelism() : processes,
    log,
    ended: stopped,
    onReplace: (replace) => void process.on('SIGHUP', () => void replace()),
  })
  if (code === 0) log.info('stopped')
  process.exit(code)
}

async function serveHere(config: Config): Promise<void> {
  const { ready, drained } = joinFleet()
  // A terminal's Ctrl-C reaches the whole group; the parent decides when each one leaves.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
  const rooms = await wired(config, 'gateway')
  const { ledger, log, gateway, upstreams } = rooms
  await ledger.start()
  await startPricing(rooms)
  await upstreams.start()
  const port = await gateway.listen(config.gateway.port, config.gateway.host)
  const { host } = config.gateway
  log.info({ process: process.pid, instance: ledger.instance, host, port }, 'serving')
  shareMetrics(rooms.metrics.registry)
  ready()
  await drained
  const { drainSeconds, drainIdleSeconds } = config.gateway
  await gateway.drain({ idleMs: drainIdleSeconds * 1_000, limitMs: drainSeconds * 1_000 })
  await ledger.stop(STOP_MS)
  rooms.pricing.stop()
  await upstreams.close()
  await rooms.db.end()
  log.info('drained')
  process.exit(0)
}

function ended(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}

async function work(config: Config): Promise<void> {
  const ending = new AbortController()
  const stopped = ended() // before anyone is told that we work, and may say stop
  void stopped.then(() => ending.abort())
  const rooms = await wired(config, 'worker')
  const { ledger, mail, log, clock } = rooms
  watchLetters(rooms.metrics, mail)
  watchUsage(rooms.metrics, ledger)
  const metrics = serveMetrics(rooms, config.metrics.workPort, config.gateway.host, () => true)
  const patience = createPatience({ log, clock, signal: ending.signal })
  const hasStarted = await patience.persist(async () => {
    await ledger.start()
    await startPricing(rooms) // top-ups buy what is sold now
  })
  if (hasStarted) await workOn(config, rooms, stopped)
  rooms.pricing.stop()
  mail.close()
  metrics.close()
  await ledger.stop(STOP_MS)
  await rooms.db.end()
  log.info('stopped')
}

/** Jobs, rounds and the sweeper, until we are told to stop or the jobs cannot go on. */
async function workOn(config: Config, rooms: Rooms, stopped: Promise<void>): Promise<void> {
  const { ledger, mail, log, clock } = rooms
  const worker = startWorker({
    databaseUrl: config.database.url.reveal(),
    jobs: createJobs({
      ledger,
      mail,
      accounts: rooms.accounts,
      guards: rooms.guards,
      payments: rooms.payments,
      log,
      entriesKeptDays: config.ledger.entriesKeptDays,
      dayBefore: (days) => dayText(clock.nowMs() - days * DAY_MS),
    }),
    clock,
    log,
  })
  const sweeper = ledger.sweeper(config.ledger.sweepDeadSeconds)
  const sweeping = createRounds([{ name: 'sweeper', everyMs: SWEEP_MS, run: sweeper.tick }], log)
  sweeping.start()
  log.info({ instance: ledger.instance }, 'working')

  rooms.payments.start()
  rooms.guards.start()

  const broken = await Promise.race([stopped.then(() => undefined), worker.broken])
  if (broken !== undefined) {
    log.fatal({ err: broken }, 'jobs cannot go on')
    process.exitCode = 1
  }
  await sweeping.stop()
  await rooms.guards.stop()
  await rooms.payments.stop()
  await worker.stop()
}

async function serveCabinet(config: Config): Promise<void> {
  const stopped = ended()
  const rooms = await wired(config, 'cabinet')
  const { cabinet, log } = rooms
  refuseNoDocuments(rooms)
  await rooms.accounts.check()
  await startPricing(rooms)
  const { host, drainSeconds } = config.cabinet
  const state = { isServing: true }
  const metrics = serveMetrics(rooms, config.metrics.cabinetPort, host, () => state.isServing)
  const port = await cabinet.listen(config.cabinet.port, host)
  log.info({ host, port }, 'serving the cabinet')

  await stopped
  state.isServing = false
  await cabinet.close({ limitMs: drainSeconds * 1_000 })
  rooms.pricing.stop()
  await rooms.payments.stop()
  metrics.close()
  await rooms.ledger.stop(STOP_MS)
  await rooms.db.end()
  log.info('drained')
}

/** Without its metrics a process still does its work, so a port that is taken ends nothing. */
function serveMetrics(
  { metrics, log }: Rooms,
  port: number,
  host: string,
  isReady: () => boolean,
): Server {
  const server = createMetricsServer({
    text: () => metrics.registry.metrics(),
    health: () =>
      isReady() ? { isReady: true, why: 'ready' } : { isReady: false, why: 'draining' },
  })
  server.on('error', (error) => log.warn({ err: error, port }, 'metrics are not served'))
  return server.listen(port, host)
}
