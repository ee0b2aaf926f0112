// The program `tollgate cabinet`: serves the account area and the notifications of payment
// providers until SIGTERM.
import { checkDatabase } from './database.ts'
import { type Config, type loadConfig, passedSocket } from './platform/config.ts'
import { rereadSettings, watchHangup } from './platform/hangup.ts'
import { serveMetrics } from './platform/metrics/metrics.ts'
import { createIntervalLoops } from './platform/worker/interval-loops.ts'
import {
  buildModules,
  exitIfUnfit,
  exitWithProblems,
  STOP_MS,
  startPricing,
  startWithDatabase,
  stopSignal,
} from './start.ts'
import { watchReencryption } from './watch-secrets.ts'
import type { Modules } from './wiring.ts'

/** A run re-encrypts up to 1,000 second factors; without a succession it is one query. */
const REENCRYPT_MS = 60_000

/** Visitors find the status read already: it must be known when the database stops. */
const STATUS_MS = 5_000

/** `reload` reads the settings again. */
export async function serveCabinet(
  config: Config,
  reload: () => ReturnType<typeof loadConfig>,
): Promise<void> {
  const stopped = stopSignal()
  const hangup = watchHangup()
  const modules = await buildModules(config, 'cabinet')
  const { cabinet, log, accounts, payments } = modules
  hangup.act = () => rereadSettings(modules, reload())
  requireDocuments(modules)
  const { host, drainSeconds } = config.cabinet
  const state = { isReady: false, why: 'starting' }
  const metrics = serveMetrics(modules, { port: config.metrics.cabinetPort, host }, () => state)
  const hasStarted = await startWithDatabase(modules, stopped, async () => {
    await exitIfUnfit(checkDatabase(config))
    await accounts.check()
    await startPricing(modules)
  })
  if (hasStarted) {
    watchReencryption(modules.metrics, accounts)
    payments.exportWatch() // the same numbers as a worker's, which may be away
    const port = await cabinet.listen(config.cabinet.port, host, passedSocket())
    Object.assign(state, { isReady: true, why: 'ready' })
    const reencryption = {
      ...{ name: 'reencrypt', everyMs: REENCRYPT_MS, isImmediate: true },
      run: () => accounts.reencrypt(),
    }
    const status = {
      ...{ name: 'status', everyMs: STATUS_MS, isImmediate: true },
      run: () => modules.status.refresh(),
    }
    const loops = createIntervalLoops([reencryption, status], log)
    loops.start()
    log.info({ host, port }, 'serving the cabinet')
    await stopped
    Object.assign(state, { isReady: false, why: 'draining' })
    await loops.stop()
  }
  await cabinet.close({ limitMs: drainSeconds * 1_000 })
  modules.pricing.stop()
  await payments.stop()
  metrics.close()
  await modules.ledger.stop(STOP_MS)
  await modules.db.end()
  log.info('drained')
}

/** In production, refuses to start without legal pages, unless `allow.noDocuments` is set. */
function requireDocuments({ documents, config: { mode, allow, brand } }: Modules): void {
  if (mode !== 'production' || allow.noDocuments || documents.list().length > 0) return
  exitWithProblems([
    `brand.documentsFile: ${brand.documentsFile} lists no legal pages, which production refuses; ` +
      'add your own, or set allow.noDocuments',
  ])
}
