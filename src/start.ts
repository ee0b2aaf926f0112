// What the programs share when they start: they wait for the database, exit with sentences about
// what is wrong, put the first catalogue in force, and learn when to stop.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REFUSED_CODE } from './fleet/fleet.ts'
import type { OperatorModules } from './operator/operator.ts'
import type { Config } from './platform/config.ts'
import { createDatabaseRetry } from './platform/db/retry.ts'
import { UnfitDatabase } from './platform/db/session.ts'
import { secretVersionsOf } from './platform/secret-versions.ts'
import { EXAMPLE_CATALOGUE } from './platform/settings.ts'
import { readUpstreams } from './upstream-options.ts'
import { type Modules, wire } from './wiring.ts'

/** Time for the ledger to finish its batches after SIGTERM. */
export const STOP_MS = 20_000
/** An operator's command has nothing pending in the ledger's batches. */
const OPERATOR_STOP_MS = 1_000
/** The shipped example, to recognise its made-up prices in a copy under another name. */
const SHIPPED_EXAMPLE = join(import.meta.dirname, '..', EXAMPLE_CATALOGUE)

export function exitWithProblems(problems: readonly string[]): never {
  for (const problem of problems) console.error(problem)
  process.exit(REFUSED_CODE)
}

/**
 * Repeats `start`, which must be repeatable, while the database is unavailable. Returns false when
 * `stopped` resolved first.
 */
export function startWithDatabase(
  { log, clock }: Pick<Modules, 'log' | 'clock'>,
  stopped: Promise<void>,
  start: () => Promise<void>,
): Promise<boolean> {
  const ending = new AbortController()
  void stopped.then(() => ending.abort())
  return createDatabaseRetry({ log, clock, signal: ending.signal }).retryUntilAvailable(start)
}

/** Exits with one sentence if the database is not as configured. */
export function exitIfUnfit<T>(check: Promise<T>): Promise<T> {
  return check.catch((error: unknown) => {
    if (error instanceof UnfitDatabase) exitWithProblems([error.message])
    throw error
  })
}

export function buildModules(config: Config, role: string): Promise<Modules> {
  const read = readUpstreams(config, role === 'gateway')
  if ('problems' in read) exitWithProblems(read.problems)
  return wire(config, read.upstreams, role)
}

/** What commands of operators act through, in a terminal and in the console. */
export function operatorModulesOf(config: Config, modules: Modules): OperatorModules {
  return {
    ...modules,
    vendorPricesFile: config.catalogue.vendorPricesFile,
    entriesKeptDays: config.ledger.entriesKeptDays,
    keySecrets: {
      tag: secretVersionsOf(config.keys.tagSecret),
      lookup: secretVersionsOf(config.keys.lookupSecret),
    },
    async close() {
      await modules.payments.stop()
      modules.mail.close()
      await modules.ledger.stop(OPERATOR_STOP_MS)
      await modules.upstreams.close()
      await modules.db.end()
    },
  }
}

/** Loads the catalogue in force; at the very first start, applies the one in the file. */
export async function startPricing({ pricing, config, log }: Modules): Promise<void> {
  if ((await pricing.start()) !== undefined) return
  const { mode, allow } = config
  const { file, vendorPricesFile } = config.catalogue
  const { catalogue } = await readOrExit(file, pricing.parse)
  if (mode === 'production' && !allow.exampleCatalogue) {
    const example = await readOrExit(SHIPPED_EXAMPLE, pricing.parse)
    if (pricing.hasOnlyPricesOf(example.catalogue, catalogue)) {
      exitWithProblems([
        `catalogue.file: the database has no prices yet, and all those in ${file} are the ` +
          'example’s, which production refuses; name a file with your own models (id, ' +
          'coefficient, weights) and packs (credits, priceKopecks), apply one with op catalogue ' +
          'apply, or set allow.exampleCatalogue',
      ])
    }
  }
  if (vendorPricesFile !== 'none') {
    const { prices } = await readOrExit(vendorPricesFile, pricing.parseVendorPrices)
    const loss = pricing.margin.lines(catalogue, prices).find((one) => one.verdict === 'loss')
    if (loss !== undefined) {
      const what = `${file} sells ${loss.sold} of ${loss.model} below cost`
      exitWithProblems([`catalogue.file: ${what}; see op catalogue margin --catalogue ${file}`])
    }
  }
  const applied = await pricing.apply(catalogue, { by: 'first start', note: '' })
  log.info({ version: applied.version, file }, 'the first catalogue is in force')
}

async function readOrExit<T extends object>(
  file: string,
  parse: (text: string) => T | { readonly problems: readonly string[] },
): Promise<T> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) =>
    exitWithProblems([`${file}: cannot be read: ${error.code}`]),
  )
  const read = parse(text)
  if ('problems' in read) exitWithProblems(read.problems.map((one) => `${file}: ${one}`))
  return read
}

export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
}
