// A whole gateway for tests: real database, real ledger, keys and prices, the real vendor stand-in
// over HTTP, and an account with credits and a key. Nothing of ours is imitated. The gateway
// connects to the database as its role; accounts are made, and entries audited, as the owner.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGateway, type GatewayOptions } from '../../src/gateway/gateway.ts'
import type { LedgerOptions } from '../../src/ledger/ledger.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import { Masked } from '../../src/platform/masked.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { createPricing } from '../../src/pricing/pricing.ts'
import { credits } from '../../src/units/credits.ts'
import { createUpstreams, type UpstreamOptions } from '../../src/upstreams/upstreams.ts'
import { startVendor, type Vendor } from '../../stand-ins/vendor/vendor.ts'
import { urlAs } from '../../tools/program-roles.ts'
import { createTestDatabase, createTestKeys, createTestLedger, quiet } from '../support/harness.ts'
import { openWay, type UpstreamWay } from '../support/upstream-ways.ts'
import { gatewayLimits, upstreamDefaults } from './data-plane.ts'

export type Account = { readonly book: BookId; readonly key: string; readonly keyId: string }
export type TestGateway = Awaited<ReturnType<typeof createTestGateway>>

/** An upstream beside its stand-in; settings not given here are those of the default upstream. */
export type GivenUpstream = Partial<Omit<UpstreamOptions, 'url' | 'keys'>> & {
  readonly name: string
  /** The stand-in accepts only these credentials. */
  readonly keys?: readonly string[]
}

export type TestGatewayOptions = {
  readonly limits?: Partial<GatewayOptions['settings']>
  readonly ledger?: Partial<LedgerOptions>
  readonly idleTimeoutMs?: number
  readonly headersTimeoutMs?: number
  /** Collects what the gateway logs, at every level. */
  readonly logLines?: string[]
  readonly catalogueText?: string
  /** Another upstream than the stand-in, for bytes that no server would send. */
  readonly upstreamUrl?: string
  /** How stand-ins are reached; without it, by direct plain connections. */
  readonly way?: UpstreamWay | undefined
  /** Memory limit of all request bodies in progress. */
  readonly waitBytesMax?: number
  /** Limits on requests that wait, and on free calls that run. */
  readonly waitingMax?: number
  readonly freeMax?: number
  /** The server that the database is made on, when not the tests' own. */
  readonly serverUrl?: string
  /** Set by hand in tests of silent streams. */
  readonly clock?: Clock
  /** The clock of the upstreams' state alone; by default the real one. */
  readonly upstreamClock?: Clock
  /** Several upstreams, each with a stand-in of its own; without it, the one. */
  readonly upstreams?: readonly GivenUpstream[]
}

export async function createTestGateway(options: TestGatewayOptions = {}) {
  const database = await createTestDatabase(options.serverUrl)
  const given: readonly GivenUpstream[] = options.upstreams ?? [{ name: 'only' }]
  const vendors = await Promise.all(
    // A storm of five minutes sends more requests than a stand-in keeps by default.
    given.map(({ keys }) => startVendor({ requestsMax: 100_000, ...(keys && { keys }) })),
  )
  const { way } = options
  const ways = await Promise.all(vendors.map((one) => way && openWay(way, one.url)))
  const role = urlAs(database.url, 'tollgate_gateway')
  const auditor = await createTestLedger(database.url, {}, { isStarted: false })
  // One object: a test may replace a verb of the gateway's own ledger.
  const ledger = Object.assign(await createTestLedger(role, options.ledger), {
    audit: auditor.audit,
  })
  const keys = createTestKeys(ledger.db, ledger)
  const log = logOf(options.logLines)
  const pricing = createPricing({ db: ledger.db, log, clock: systemClock })
  await pricing.start()
  await applyCatalogue(pricing, options.catalogueText)
  const upstreams = createUpstreams({
    waitingMax: options.waitingMax,
    upstreams: given.map((one, i) => ({
      ...upstreamOf(one, vendors[i] as Vendor, options),
      ...ways[i]?.options,
    })),
    db: ledger.db,
    instance: ledger.instance,
    clock: options.upstreamClock ?? systemClock,
    log,
  })
  const metrics = createMetrics()
  const gateway = createGateway({
    keys,
    ledger,
    pricing,
    upstreams,
    clock: options.clock ?? systemClock,
    log,
    metrics,
    waitBytesMax: options.waitBytesMax ?? 2 ** 30,
    freeMax: options.freeMax,
    settings: { ...gatewayLimits, ...options.limits },
  })
  const port = await gateway.listen(0, '127.0.0.1')

  /** An account with this many purchased credits, and its key. */
  async function account(whole: bigint | number): Promise<Account> {
    const book = await ledger.createBook(database.db)
    if (BigInt(whole) > 0n) await topUp(book, whole)
    const issued = await database.db.transaction((tx) => keys.issue(tx, book))
    await database.db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
    return { book, key: issued.plain, keyId: issued.keyId }
  }

  async function topUp(book: BookId, whole: bigint | number): Promise<void> {
    const posted = {
      book,
      kind: 'purchase' as const,
      ref: `pack ${book} ${Math.random()}`,
      amount: credits(whole),
      contra: 'clearing' as const,
      note: '',
    }
    await database.db.transaction((tx) => ledger.credit(tx, posted))
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    database,
    vendor: vendors[0] as Vendor,
    vendors,
    upstreams,
    ledger,
    keys,
    pricing,
    account,
    topUp,
    /** Entries of a book, oldest first, once no request of it is in progress. */
    async statement(book: BookId) {
      await settled(ledger, book)
      return (await ledger.statement({ book, beforeSeq: null, limit: 1_000 })).reverse()
    },
    settled: (book: BookId) => settled(ledger, book),
    /** A metric as an operator reads it: the sum over its labels, but those given. */
    async metric(name: string, given: Readonly<Record<string, string>> = {}): Promise<number> {
      const read = await metrics.registry.getSingleMetric(name)?.get()
      if (read === undefined) throw new Error(`there is no metric ${name}`)
      return read.values
        .filter(({ labels }) => Object.entries(given).every(([key, one]) => labels[key] === one))
        .reduce((sum, { value }) => sum + value, 0)
    },
    /** The sum of all observations of a histogram. */
    async observed(name: string): Promise<number> {
      const read = await metrics.registry.getSingleMetric(name)?.get()
      const values = (read?.values ?? []) as { metricName?: string; value: number }[]
      return values
        .filter(({ metricName }) => metricName === `${name}_sum`)
        .reduce((sum, { value }) => sum + value, 0)
    },
    drain: gateway.drain,
    closeAll: gateway.closeAll,
    async end() {
      gateway.closeAll()
      await gateway.drain({ idleMs: 0, limitMs: 0 })
      pricing.stop()
      await upstreams.close()
      await ledger.end()
      await auditor.end()
      for (const one of ways) await one?.close()
      for (const vendor of vendors) await vendor.close()
      await database.drop()
    },
  }
}

function upstreamOf(
  { keys, ...one }: GivenUpstream,
  vendor: Vendor,
  options: TestGatewayOptions,
): UpstreamOptions {
  const { headersTimeoutMs, idleTimeoutMs } = options
  return {
    ...upstreamDefaults,
    url: options.upstreamUrl ?? vendor.url,
    keys: (keys ?? vendor.keys.slice(0, 1)).map((key) => new Masked(key)),
    ...(headersTimeoutMs && { headersTimeoutMs, streamHeadersTimeoutMs: headersTimeoutMs }),
    ...(idleTimeoutMs && { idleTimeoutMs }),
    ...one,
  }
}

function logOf(lines: string[] | undefined): Log {
  if (lines === undefined) return quiet
  return createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } })
}

async function applyCatalogue(pricing: ReturnType<typeof createPricing>, given?: string) {
  const file = join(import.meta.dirname, '../../catalogue.example.yaml')
  const read = pricing.parse(given ?? (await readFile(file, 'utf8')))
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  await pricing.apply(read.catalogue, { by: 'test', note: '' })
}

/** Waits at most 15 s until a book has no held credits. */
async function settled(
  ledger: { balance(book: BookId): Promise<{ held: bigint } | undefined> },
  book: BookId,
) {
  for (let i = 0; i < 1_500; i++) {
    if ((await ledger.balance(book))?.held === 0n) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`book ${book} still holds credits`)
}
