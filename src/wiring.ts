// Builds every module once, in the order of dependence, and hands each the others that it needs.
// The only conditions are those that turn a setting into a module's option.
import { type Accounts, type AccountsOptions, createAccounts } from './accounts/accounts.ts'
import { createCabinet, type Documents, openDocuments, openEndings } from './cabinet/cabinet.ts'
import { createGateway } from './gateway/gateway.ts'
import { createGuards, type Guards } from './guards/guards.ts'
import { createKeys, type Keys } from './keys/keys.ts'
import { createLedger, type Ledger, ledgerSession } from './ledger/ledger.ts'
import {
  createPayments,
  openPaymentMetrics,
  openYookassa,
  type Payments,
  type PaymentsOptions,
} from './payments/payments.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { type Db, openClient, openDatabase, type Tx } from './platform/db/db.ts'
import { type BookId, newInstanceId } from './platform/ids.ts'
import { createLog, type Log } from './platform/log.ts'
import { createMail, type Mail } from './platform/mail/mail.ts'
import { createMetrics, type Metrics } from './platform/metrics/metrics.ts'
import { createPricing, type Pricing } from './pricing/pricing.ts'
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
  const ground = { db, clock, log }
  const pricing = createPricing(ground)
  const ledger = await createLedger({
    ...ground,
    connect: () => openClient(database, `${role} ledger`, ledgerSession),
    instance: newInstanceId(),
    role,
    connections: config.database.ledgerConnections,
    lanes: config.database.ledgerLanes,
    deadlineMs: config.database.ledgerDeadlineMs,
    ...config.ledger,
  })
  const { slug } = config.vendor
  const { cell } = config
  const keys = createKeys({ ...ground, ledger, slug, cell, ...config.keys })
  const mail = createMail({ ...ground, ...config.mail })
  const metrics = createMetrics()
  // Asked when something is to be told; the accounts are there by then.
  const ownerOf = (book: BookId, tx?: Tx) => accounts.ownerOf(book, tx)
  const guards = createGuards({ ...ground, ledger, mail, brand: config.brand, ownerOf })
  const payments = wirePayments(config, { ...ground, mail, ledger, metrics, pricing, ownerOf })
  const documents = openDocuments(config.brand.documentsFile)
  const accounts: Accounts = wireAccounts(config, {
    ...{ ...ground, mail, ledger, keys, guards, payments, documents },
  })
  const { instance } = ledger
  const upstreams = createUpstreams({ ...ground, upstreams: upstreamOptions, instance })
  const gateway = createGateway({
    ...{ keys, ledger, pricing, upstreams, clock, log, metrics },
    waitBytesMax: config.gateway.waitBytesMax,
    limits: {
      cell,
      slug,
      bodyBytesMax: config.gateway.bodyBytesMax,
      requestSecondsMax: config.ledger.requestSecondsMax,
      addressHeader: config.gateway.addressHeader,
      cabinetUrl: config.brand.cabinetUrl,
    },
  })
  const cabinet = createCabinet({
    ...{ ...ground, metrics, payments, cell, ...config.cabinet },
    api: {
      ...{ accounts, keys, ledger, guards, payments, pricing, documents, upstreams, mail },
      ...facesOf(config),
    },
  })
  watch(metrics, { ledger, keys, upstreams })
  return {
    ...ground,
    config,
    ...{ pricing, ledger, keys, mail, guards, payments, accounts, upstreams, metrics },
    documents,
    gateway,
    cabinet,
  }
}

/** One provider today; an order stays with the one it was made with. */
export function wirePayments(
  config: Config,
  rooms: { db: Db; mail: Mail; clock: Clock; log: Log; ledger: Ledger; metrics: Metrics } & {
    pricing: Pricing
  } & Pick<PaymentsOptions, 'ownerOf'>,
) {
  const { clock, pricing } = rooms
  const { receipts, receiptVatCode, receiptTaxSystem, receiptSubject, receiptMode } =
    config.yookassa
  const { money, ...settings } = config.payments
  const metrics = openPaymentMetrics(rooms.metrics.registry)
  const yookassa = openYookassa({
    ...config.yookassa,
    receipt:
      receipts === 'off'
        ? null
        : {
            vatCode: receiptVatCode,
            taxSystem: receiptTaxSystem,
            subject: receiptSubject,
            mode: receiptMode,
            measure: config.yookassa.receiptMeasure,
          },
    env: config.mode,
    clock,
    onCall: metrics.called,
  })
  return createPayments({
    ...rooms,
    ...settings,
    metrics,
    cell: config.cell,
    brand: config.brand,
    providers: [yookassa],
    provider: yookassa.name,
    takesTest: money === 'auto' ? config.mode !== 'production' : money === 'test',
    packOf: (id) => soldPack(pricing, id),
  })
}

/** A pack as it is sold now, in the words of an order. */
function soldPack(pricing: Pricing, id: string) {
  const { version: catalogueVersion, packs } = pricing.current()
  const pack = packs.find((one) => one.id === id)
  return pack && { ...pack, title: pack.name, catalogueVersion }
}

/** People may enter no other room: what they need of the others is handed to them. */
function wireAccounts(
  config: Config,
  rooms: Pick<AccountsOptions, 'db' | 'clock' | 'log'> & {
    mail: Mail
    ledger: Ledger
    keys: Keys
    guards: Guards
    payments: Payments
    documents: Documents
  },
): Accounts {
  const { ledger, keys, guards, payments, documents, ...others } = rooms
  const { mail } = rooms
  const accounts: Accounts = createAccounts({
    ...others,
    brand: config.brand,
    settings: config.accounts,
    async openBook(tx) {
      const book = await ledger.open(tx)
      await guards.open(tx, book)
      return book
    },
    documents: documents.list,
    endings: openEndings({
      ...{ keys, ledger, guards, payments, mail },
      emailOf: async (account) => (await accounts.find(account))?.email,
    }),
  })
  return accounts
}

/** What the account area shows of the settings. */
function facesOf({ brand, gateway, vendor, payments }: Config) {
  return {
    brand: { ...brand, requisites: linesOf(brand.requisites) },
    cabinetUrl: brand.cabinetUrl,
    apiUrl: gateway.publicUrl,
    vendorSlug: vendor.slug,
    isSelling: payments.isOpen,
    refundPolicy: payments.refundPolicy,
  }
}

/** Lines of a setting that is one text: a bar ends one, and so does a new line. */
function linesOf(text: string): string[] {
  return text === 'none' ? [] : text.split(/[|\n]/).map((line) => line.trim())
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
    'gateway_ledger_refused',
    'Charges that the database refused, kept on disk',
    () => ledger.health().refused.waiting,
  )
  metrics.counter(
    'gateway_ledger_refusals_total',
    'Charges that the database refused, ever since the process started',
    () => ledger.health().refused.total,
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

/** Numbers of the outbox, for the one process that is asked: a fleet would add them up. */
export function watchLetters(metrics: Metrics, mail: Mail): void {
  metrics.asked('gateway_letters', 'Letters that wait, and that failed today', async () => {
    const { queued, failed } = await mail.stats()
    return { queued, failed }
  })
  metrics.asked('gateway_letters_oldest_seconds', 'Age of the oldest that waits', async () => ({
    queued: (await mail.stats()).oldestSeconds,
  }))
}

/** How far the sums of usage are behind the entries, for the one process that is asked. */
export function watchUsage(metrics: Metrics, ledger: Ledger): void {
  metrics.asked('gateway_usage_lag_seconds', 'Age of what is not yet added up', async () => ({
    sums: await ledger.addedUpLagSeconds(),
  }))
}

export type Rooms = Awaited<ReturnType<typeof wire>>
