// Every room built once, in order of dependence. Reads like a parts list: no conditions, no rules.
import { createGateway } from './gateway/gateway.ts'
import { createKeys, type Keys } from './keys/keys.ts'
import { createLedger, type Ledger, ledgerSession } from './ledger/ledger.ts'
import { systemClock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { openClient, openDatabase } from './platform/db.ts'
import { newInstanceId } from './platform/ids.ts'
import { createLog } from './platform/log.ts'
import { createMetrics, type Metrics } from './platform/metrics.ts'
import { createPricing } from './pricing/pricing.ts'
import { createUpstreams, type UpstreamOptions, type Upstreams } from './upstreams/upstreams.ts'

/** Nothing is started yet: who needs a room started says so in main.ts. */
export async function wire(
  config: Config,
  upstreamOptions: readonly UpstreamOptions[],
  role: string,
) {
  const clock = systemClock
  const log = createLog({ ...config.log, slug: config.vendor.slug }).child({ role })
  const database = { ...config.database, url: config.database.url.reveal() }
  const db = openDatabase(database, role, (error) =>
    log.warn({ err: error }, 'an idle database connection was lost'),
  )
  const pricing = createPricing({ db, log, clock })
  const ledger = await createLedger({
    db,
    connect: () => openClient(database, `${role} ledger`, ledgerSession),
    instance: newInstanceId(),
    role,
    clock,
    log,
    connections: config.database.ledgerConnections,
    lanes: config.database.ledgerLanes,
    deadlineMs: config.database.ledgerDeadlineMs,
    ...config.ledger,
  })
  const keys = createKeys({
    db,
    ledger,
    clock,
    log,
    slug: config.vendor.slug,
    cell: config.cell,
    ...config.keys,
  })
  const metrics = createMetrics()
  const upstreams = createUpstreams({
    upstreams: upstreamOptions,
    db,
    instance: ledger.instance,
    clock,
    log,
  })
  const gateway = createGateway({
    keys,
    ledger,
    pricing,
    upstreams,
    clock,
    log,
    metrics,
    waitBytesMax: config.gateway.waitBytesMax,
    limits: {
      cell: config.cell,
      slug: config.vendor.slug,
      bodyBytesMax: config.gateway.bodyBytesMax,
      requestSecondsMax: config.ledger.requestSecondsMax,
      addressHeader: config.gateway.addressHeader,
      cabinetUrl: config.brand.cabinetUrl,
    },
  })
  watch(metrics, { ledger, keys, upstreams })
  return { config, clock, log, db, pricing, ledger, keys, upstreams, metrics, gateway }
}

/** Numbers that rooms know and metrics show. */
function watch(
  metrics: Metrics,
  { ledger, keys, upstreams }: { ledger: Ledger; keys: Keys; upstreams: Upstreams },
): void {
  const of =
    <Key extends keyof ReturnType<Upstreams['views']>[number]>(key: Key) =>
    () =>
      Object.fromEntries(upstreams.views().map((view) => [view.target, Number(view[key])]))
  metrics.gauge('gateway_ledger_away', '1 while the database does not answer', () =>
    Number(ledger.health().isAway),
  )
  metrics.gauge(
    'gateway_ledger_spooled',
    'Charges on disk, not yet in the database',
    () => ledger.health().spooled,
  )
  metrics.gauge(
    'gateway_keys_argon2_runs',
    'Keys checked by Argon2id',
    () => keys.stats().argon2.runs,
  )
  metrics.gauge('gateway_upstream_under_way', 'Requests under way', of('underWay'))
  metrics.gauge('gateway_upstream_answered', 'Requests that were answered', of('succeeded'))
  metrics.gauge('gateway_upstream_failed', 'Requests that failed', of('failed'))
  metrics.gauge('gateway_upstream_closed', '1 while a target takes requests', () =>
    Object.fromEntries(
      upstreams.views().map((view) => [view.target, Number(view.state === 'closed')]),
    ),
  )
}

export type Rooms = Awaited<ReturnType<typeof wire>>
