// The program: reads the command line and runs the chosen command. No other file acts when
// imported.
import { availableParallelism } from 'node:os'
import { Command } from 'commander'
import { checkDatabase, checkDatabaseSessions, claimDatabase } from './database.ts'
import { createFleet, isFleetMember, joinFleet } from './fleet/fleet.ts'
import { createJobs } from './jobs.ts'
import { createOperator, type OperatorModules } from './operator/operator.ts'
import { systemClock } from './platform/clock.ts'
import { type Config, describeConfig, loadConfig, passedSocket } from './platform/config.ts'
import { addressesOf } from './platform/db/addresses.ts'
import { isDatabaseUnavailable } from './platform/db/database-errors.ts'
import { migrate } from './platform/db/migrate.ts'
import { missingGrantText } from './platform/db/missing-grants.ts'
import { rereadSettings, watchHangup } from './platform/hangup.ts'
import { createLog } from './platform/log.ts'
import { createMetricsServer, listenForMetrics, serveMetrics } from './platform/metrics/metrics.ts'
import { PROGRAMS, type Program } from './platform/programs.ts'
import { createIntervalLoops } from './platform/worker/interval-loops.ts'
import { startWorker } from './platform/worker/worker.ts'
import { serveCabinet } from './serve-cabinet.ts'
import { serveConsole } from './serve-console.ts'
import {
  buildModules,
  exitIfUnfit,
  exitWithProblems,
  operatorModulesOf,
  STOP_MS,
  startPricing,
  startWithDatabase,
  stopSignal,
} from './start.ts'
import { watchAsWorker } from './watch-modules.ts'
import type { Modules } from './wiring.ts'

/** Twelve checks in the 60 seconds after which a silent process is considered dead. */
const SWEEP_MS = 5_000
/** A look of the sweeper also reads the holds since the last summary. */
const SUMMARIZE_MS = 60_000
const program = new Command('tollgate').description('A prepaid gateway for model messages')
program.option('--config <file>', 'YAML file of settings; without it the defaults stand')

program
  .command('config')
  .description('look at the configuration')
  .argument('<verb>', 'check: print every setting with its source, secrets as dots')
  .argument('[program]', `the one whose secrets are here: ${PROGRAMS.join(', ')}; all without it`)
  .action((verb: string, name?: string) => {
    if (verb !== 'check') program.error(`config has no verb ${verb}; try: config check`)
    const of = PROGRAMS.find((one) => one === name)
    if (of !== name) program.error(`there is no program ${name}; try ${PROGRAMS.join(', ')}`)
    const loaded = loadConfig({ file: program.opts().config, program: of })
    if ('problems' in loaded) exitWithProblems(loaded.problems)
    else console.log(describeConfig(loaded))
  })

program
  .command('migrate')
  .description('bring the database up to date')
  .action(async () => {
    // A closed terminal must not end a migration.
    watchHangup()
    const applied = await migrateAll(loadConfigOrExit('migrate'))
    console.log(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`)
  })

program
  .command('serve')
  .description('answer /v1 until SIGTERM')
  .action(async () => serve(loadConfigOrExit('serve')))

program
  .command('work')
  .description('run jobs and the sweeper until SIGTERM')
  .action(async () => work(loadConfigOrExit('work')))

program
  .command('cabinet')
  .description('answer the account area and payment providers until SIGTERM')
  .action(async () => serveCabinet(loadConfigOrExit('cabinet'), () => load('cabinet')))

program
  .command('console')
  .description('answer the pages of operators until SIGTERM')
  .action(async () => serveConsole(loadConfigOrExit('console'), () => load('console')))

program.addCommand(createOperator(operatorModules))

await program.parseAsync().catch((error: unknown) => {
  const text = missingGrantText(error)
  if (text !== undefined) exitWithProblems([text])
  throw error
})

function load(of: Program) {
  return loadConfig({ file: program.opts().config, program: of })
}

function loadConfigOrExit(of: Program): Config {
  const loaded = load(of)
  if ('problems' in loaded) exitWithProblems(loaded.problems)
  return loaded.config
}

async function migrateAll(config: Config): Promise<string[]> {
  const { direct } = addressesOf(config.database)
  const { roles } = config.database
  // Standard output is for the result.
  const log = createLog({ ...config.log, destination: process.stderr }).child({ role: 'migrate' })
  const never = new Promise<void>(() => undefined)
  await startWithDatabase({ log, clock: systemClock }, never, () =>
    exitIfUnfit(checkDatabaseSessions(config)),
  )
  const applied = await exitIfUnfit(migrate(direct, { roles, print: console.log }))
  if (await exitIfUnfit(claimDatabase(config))) applied.push(`cell ${config.cell}`)
  return applied
}

async function operatorModules(): Promise<OperatorModules> {
  const config = loadConfigOrExit('op')
  // Standard output is for results, so the modules log warnings and errors to standard error.
  const log = { ...config.log, level: 'warn' as const, destination: process.stderr }
  // Any other error meets the command too, which prints it.
  await exitIfUnfit(checkDatabase(config)).catch(() => undefined)
  const modules = await buildModules({ ...config, log }, 'operator')
  return operatorModulesOf(config, modules)
}

/** Runs the parent of the fleet or, in a process of the fleet, the gateway. */
async function serve(config: Config): Promise<void> {
  if (isFleetMember()) return serveAsMember(config)
  const ended = stopSignal()
  const log = createLog({ ...config.log, slug: config.vendor.slug }).child({ role: 'fleet' })
  const { processes, host, port } = config.gateway
  const fleet = createFleet({ count: processes === 0 ? availableParallelism() : processes, log })
  watchHangup().act = () => void fleet.replaceAll()
  // Each process checks again when it starts; here, the sentence is printed once for all of them.
  await exitIfUnfit(checkDatabase(config)).catch((error: unknown) => {
    if (!isDatabaseUnavailable(error)) throw error
  })
  const metrics = createMetricsServer({ text: fleet.metricsText, health: fleet.health })
  listenForMetrics(metrics, { port: config.metrics.port, host, log })
  const code = await fleet.run({ host, port, fd: passedSocket(), ended })
  if (code === 0) log.info('stopped')
  process.exit(code)
}

async function serveAsMember(config: Config): Promise<void> {
  const fleet = joinFleet()
  // Ctrl-C in a terminal reaches the whole process group; the parent decides when each process
  // drains.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
  const modules = await buildModules(config, 'gateway')
  const { ledger, log, gateway, upstreams } = modules
  const hasStarted = await startWithDatabase(modules, fleet.drained, async () => {
    try {
      await exitIfUnfit(checkDatabase(config))
      await ledger.start()
      await startPricing(modules)
      await upstreams.start()
    } catch (error) {
      if (isDatabaseUnavailable(error)) fleet.reportWait()
      throw error
    }
  })
  if (hasStarted) {
    log.info({ process: process.pid, instance: ledger.instance }, 'serving')
    await fleet.serve({
      take: gateway.take,
      listen: () => gateway.listen(config.gateway.port, config.gateway.host),
      health: () => ({
        isDatabaseAway: ledger.health().isUnavailable,
        areUpstreamsAway: upstreams.areAllAway(),
      }),
      metrics: () => modules.metrics.registry.getMetricsAsJSON(),
    })
    await fleet.drained
    const { drainSeconds, drainIdleSeconds } = config.gateway
    await gateway.drain({ idleMs: drainIdleSeconds * 1_000, limitMs: drainSeconds * 1_000 })
  }
  await ledger.stop(STOP_MS)
  modules.pricing.stop()
  await upstreams.close()
  await modules.db.end()
  await fleet.leave()
  log.info('drained')
  process.exit(0)
}

async function work(config: Config): Promise<void> {
  const stopped = stopSignal() // before the log says `working`: a signal may follow at once
  const hangup = watchHangup()
  const modules = await buildModules(config, 'worker')
  const { ledger, mail, log } = modules
  hangup.act = () => rereadSettings(modules, load('work'))
  watchAsWorker(modules.metrics, modules, config.ledger)
  const address = { port: config.metrics.workPort, host: config.gateway.host }
  const metrics = serveMetrics(modules, address, modules.blockedWork.health)
  const hasStarted = await startWithDatabase(modules, stopped, async () => {
    await exitIfUnfit(checkDatabase(config))
    await ledger.start()
    await startPricing(modules) // top-ups need the current packs
  })
  if (hasStarted) await runUntilStopped(config, modules, stopped)
  modules.pricing.stop()
  mail.close()
  metrics.close()
  await ledger.stop(STOP_MS)
  await modules.db.end()
  log.info('stopped')
}

/** Runs jobs, loops and the sweeper until a signal stops the process or jobs cannot continue. */
async function runUntilStopped(
  config: Config,
  modules: Modules,
  stopped: Promise<void>,
): Promise<void> {
  const { ledger, mail, log, clock, blockedWork } = modules
  const worker = startWorker({
    databaseUrl: addressesOf(config.database).direct.url,
    jobs: createJobs({
      ledger,
      mail,
      accounts: modules.accounts,
      guards: modules.guards,
      payments: modules.payments,
      vendorBill: modules.vendorBill,
      status: modules.status,
      summaries: modules.summaries,
      log,
      entriesKeptDays: config.ledger.entriesKeptDays,
    }),
    ...{ clock, log, blockedWork },
  })
  const sweeper = ledger.sweeper(config.ledger.sweepDeadSeconds)
  const sweepLoop = createIntervalLoops(
    [
      { name: 'sweeper', everyMs: SWEEP_MS, run: sweeper.tick },
      { name: 'sweeper-summary', everyMs: SUMMARIZE_MS, run: sweeper.summarize },
    ],
    log,
    blockedWork,
  )
  sweepLoop.start()
  log.info({ instance: ledger.instance }, 'working')

  const closings = modules.accounts.closings.loops
  const loops = [modules.payments, modules.guards, modules.acts, modules.status, closings]
  for (const { start } of loops) start()
  const broken = await Promise.race([stopped.then(() => undefined), worker.broken])
  if (broken !== undefined) {
    log.fatal({ err: broken }, 'jobs cannot go on')
    process.exitCode = 1
  }
  await sweepLoop.stop()
  for (const { stop } of loops) await stop()
  await worker.stop()
}
