// The program `tollgate console`: serves the pages and the API of operators until SIGTERM.
import { checkDatabase } from './database.ts'
import { openConsole } from './operator/operator.ts'
import { type Config, type loadConfig, passedSocket } from './platform/config.ts'
import { rereadSettings, watchHangup } from './platform/hangup.ts'
import { serveMetrics } from './platform/metrics/metrics.ts'
import {
  buildModules,
  exitIfUnfit,
  operatorModulesOf,
  startPricing,
  startWithDatabase,
  stopSignal,
} from './start.ts'

/** `reload` reads the settings again. */
export async function serveConsole(
  config: Config,
  reload: () => ReturnType<typeof loadConfig>,
): Promise<void> {
  const stopped = stopSignal()
  const hangup = watchHangup()
  const modules = await buildModules(config, 'console')
  const { log, metrics, clock } = modules
  hangup.act = () => rereadSettings(modules, reload())
  const { host, drainSeconds } = config.console
  const state = { isReady: false, why: 'starting' }
  const metricsServer = serveMetrics(
    modules,
    { port: config.metrics.consolePort, host },
    () => state,
  )
  const operatorModules = operatorModulesOf(config, modules)
  const desk = openConsole({
    ...{ modules: operatorModules, clock, log, metrics, ...config.console },
    ...{ cell: config.cell, brand: config.brand },
  })
  const hasStarted = await startWithDatabase(modules, stopped, async () => {
    await exitIfUnfit(checkDatabase(config))
    await startPricing(modules)
  })
  if (hasStarted) {
    const port = await desk.listen(config.console.port, host, passedSocket())
    Object.assign(state, { isReady: true, why: 'ready' })
    log.info({ host, port }, 'serving the console')
    await stopped
    Object.assign(state, { isReady: false, why: 'draining' })
  }
  await desk.close({ limitMs: drainSeconds * 1_000 })
  modules.pricing.stop()
  metricsServer.close()
  await operatorModules.close()
  log.info('drained')
}
