// Builds every module once, in the order of dependence, and hands each the others that it needs.
// The only conditions are those that turn a setting into a module's option.
import type { Accounts, AccountsOptions } from './accounts/accounts.ts'
import { createAccounts, ownersOf } from './accounts/accounts.ts'
import { createActs } from './acts/acts.ts'
import {
  createCabinet,
  type Documents,
  openClosingHooks,
  openDocuments,
} from './cabinet/cabinet.ts'
import { longReadsOf, openProgramDatabase } from './database.ts'
import { createGateway } from './gateway/gateway.ts'
import { createGuards, type Guards } from './guards/guards.ts'
import { createKeys, type Keys } from './keys/keys.ts'
import { createLedger, type Ledger, ledgerSession } from './ledger/ledger.ts'
import {
  createPayments,
  openPaymentMetrics,
  openYookassaShops,
  type Payments,
  type PaymentsOptions,
} from './payments/payments.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { Config } from './platform/config.ts'
import { addressesOf } from './platform/db/addresses.ts'
import { type Db, openClient } from './platform/db/db.ts'
import { newInstanceId } from './platform/ids.ts'
import { createLog, type Log } from './platform/log.ts'
import { standardOutput } from './platform/log-output.ts'
import { createMail, type Mail } from './platform/mail/mail.ts'
import { createMetrics, type Metrics } from './platform/metrics/metrics.ts'
import { earlierShopsOf } from './platform/shops.ts'
import { createBlockedWork } from './platform/worker/blocked-work.ts'
import { createPricing, type Pricing } from './pricing/pricing.ts'
import { createUpstreams, type UpstreamOptions, type Upstreams } from './upstreams/upstreams.ts'
import { createVendorBill } from './vendor-bill/vendor-bill.ts'
import { watchSecrets } from './watch-secrets.ts'

/** Builds the modules without starting them; main.ts starts those that a command needs. */
export async function wire(
  config: Config,
  upstreamOptions: readonly UpstreamOptions[],
  role: string,
) {
  const clock = systemClock
  const log = createLog({ ...config.log, slug: config.vendor.slug }).child({ role })
  const { direct } = addressesOf(config.database)
  const { db, keeper } = openProgramDatabase(config, role, log)
  const blockedWork = createBlockedWork(log)
  const base = { db, clock, log, blockedWork }
  const pricing = createPricing(base)
  const ledger = await createLedger({
    ...base,
    keeper,
    cell: config.cell,
    connect: () => openClient(direct, `${role} ledger`, ledgerSession),
    ...longReadsOf(config, role),
    instance: newInstanceId(),
    role,
    connections: config.database.ledgerConnections,
    lanes: config.database.ledgerLanes,
    deadlineMs: config.database.ledgerDeadlineMs,
    ...config.ledger,
  })
  const { slug } = config.vendor
  const { cell, brand } = config
  const keys = createKeys({ ...base, ledger, slug, cell, ...keyWaits(config), ...config.keys })
  const mail = createMail({ ...base, ...config.mail })
  const metrics = createMetrics()
  // Called when an e-mail is due or a payment arrives; `accounts` has been built by then.
  const owners = ownersOf(() => accounts)
  const payments = wirePayments(config, { ...base, mail, ledger, metrics, pricing, ...owners })
  const { lastPack: lastPackOf } = payments
  const guards = createGuards({ ...base, ledger, mail, brand, ...owners, lastPackOf })
  const documents = openDocuments(config.brand.documentsFile)
  const accounts: Accounts = wireAccounts(config, {
    ...{ ...base, mail, ledger, keys, guards, payments, documents },
  })
  const bill = { ...config.catalogue, ...config.vendorBill }
  const vendorBill = createVendorBill({ ...base, ledger, pricing, ...bill })
  const { instance } = ledger
  const upstreams = createUpstreams({ ...base, upstreams: upstreamOptions, instance })
  const acts = createActs({ ...base, ...config.acts })
  const gateway = createGateway({
    ...{ keys, ledger, pricing, upstreams, clock, log, metrics },
    waitBytesMax: config.gateway.waitBytesMax,
    settings: {
      ...{ cell, slug, versions: versionsOf(config.vendor.versions) },
      bodyBytesMax: config.gateway.bodyBytesMax,
      requestSecondsMax: config.ledger.requestSecondsMax,
      addressHeader: config.gateway.addressHeader,
      cabinetUrl: config.brand.cabinetUrl,
    },
  })
  const cabinet = createCabinet({
    ...{ ...base, metrics, payments, cell, ...config.cabinet },
    api: {
      ...{ accounts, keys, ledger, guards, payments, pricing, documents, upstreams, mail },
      ...cabinetSettings(config),
    },
  })
  watch(metrics, { ledger, keys, upstreams })
  watchSecrets(metrics, config, role)
  return {
    ...base,
    config,
    ...{ pricing, ledger, keys, mail, guards, payments, accounts, upstreams, metrics },
    ...{ vendorBill, documents, acts, gateway, cabinet },
  }
}

/** A request waits for the database as long for its key as for its hold. */
function keyWaits({ ledger }: Config) {
  return { unavailableWaitMs: ledger.holdWaitMs }
}

/** There is one provider today; an order stays with the provider and shop it was made with. */
export function wirePayments(
  config: Config,
  modules: { db: Db; mail: Mail; clock: Clock; log: Log; ledger: Ledger; metrics: Metrics } & {
    pricing: Pricing
  } & Pick<PaymentsOptions, 'ownerOf' | 'isClosed'>,
) {
  const { clock, pricing } = modules
  const { yookassa } = config
  const receipt = {
    vatCode: yookassa.receiptVatCode,
    taxSystem: yookassa.receiptTaxSystem,
    subject: yookassa.receiptSubject,
    mode: yookassa.receiptMode,
    measure: yookassa.receiptMeasure,
  }
  const { money, ...settings } = config.payments
  const metrics = openPaymentMetrics(modules.metrics.registry)
  const current = {
    ...yookassa,
    receipt: yookassa.receipts === 'off' ? null : receipt,
    ...{ env: config.mode, clock, onCall: metrics.countCall },
  }
  return createPayments({
    ...modules,
    ...settings,
    metrics,
    cell: config.cell,
    brand: config.brand,
    providers: openYookassaShops(current, earlierShopsOf(yookassa.earlierShops)),
    provider: 'yookassa',
    acceptsTestPayments: money === 'auto' ? config.mode !== 'production' : money === 'test',
    packOf: (id) => soldPack(pricing, id),
    packSold: soldPacks(pricing),
  })
}

/** A pack of the current catalogue, with the field names of an order. */
function soldPack(pricing: Pricing, id: string) {
  const { version: catalogueVersion, packs } = pricing.current()
  const pack = packs.find((one) => one.id === id)
  return pack && { ...pack, title: pack.name.ru, catalogueVersion }
}

/** Packs of any version of the catalogue. A version never changes, so each is read once. */
function soldPacks(pricing: Pricing): PaymentsOptions['packSold'] {
  const versions = new Map<number, Awaited<ReturnType<Pricing['version']>>>()
  return async (version, id) => {
    const catalogue = versions.get(version) ?? (await pricing.version(version))
    if (catalogue !== undefined) versions.set(version, catalogue)
    const pack = catalogue?.packs.find((one) => one.id === id)
    return pack && { ...pack, title: pack.name.ru }
  }
}

/** The accounts module imports no other: it receives the functions of others that it needs. */
function wireAccounts(
  config: Config,
  modules: Pick<AccountsOptions, 'db' | 'clock' | 'log'> & {
    mail: Mail
    ledger: Ledger
    keys: Keys
    guards: Guards
    payments: Payments
    documents: Documents
  },
): Accounts {
  const { ledger, keys, guards, payments, documents, ...others } = modules
  const { mail } = modules
  const accounts: Accounts = createAccounts({
    ...others,
    brand: config.brand,
    settings: config.accounts,
    async openBook(tx) {
      const book = await ledger.createBook(tx)
      await guards.open(tx, book)
      return book
    },
    documents: documents.list,
    closingHooks: openClosingHooks({
      ...{ keys, ledger, guards, payments, mail },
      emailOf: async (account) => (await accounts.find(account))?.email,
    }),
  })
  return accounts
}

/** The settings that the account area shows. */
function cabinetSettings({ brand, gateway, vendor, payments }: Config) {
  return {
    brand: { ...brand, requisites: linesOf(brand.requisites) },
    cabinetUrl: brand.cabinetUrl,
    apiUrl: gateway.publicUrl,
    vendorSlug: vendor.slug,
    isSelling: payments.isOpen,
    refundPolicy: payments.refundPolicy,
  }
}

/** The schema of the settings requires at least one. */
function versionsOf(text: string): [string, ...string[]] {
  return text.split(',').map((version) => version.trim()) as [string, ...string[]]
}

/** Splits a setting into lines, at bars and line breaks. */
function linesOf(text: string): string[] {
  return text === 'none' ? [] : text.split(/[|\n]/).map((line) => line.trim())
}

/** Registers metrics that read their numbers from modules. */
function watch(
  metrics: Metrics,
  { ledger, keys, upstreams }: { ledger: Ledger; keys: Keys; upstreams: Upstreams },
): void {
  const of =
    <Key extends keyof ReturnType<Upstreams['views']>[number]>(key: Key) =>
    () =>
      Object.fromEntries(upstreams.views().map((view) => [view.target, Number(view[key])]))
  metrics.counter(
    'gateway_log_lines_dropped_total',
    'Log lines dropped because nobody read the log',
    standardOutput.dropped,
  )
  metrics.gauge('gateway_ledger_away', '1 while the database does not answer', () =>
    Number(ledger.health().isUnavailable),
  )
  metrics.gauge(
    'gateway_ledger_spooled',
    'Charges on disk, not yet in the database',
    () => ledger.health().spooled,
  )
  metrics.gauge(
    'gateway_ledger_refused',
    'Charges that the database refuses, on disk and sent again',
    () => ledger.health().refused.waiting,
  )
  metrics.counter(
    'gateway_charge_log_lost_total',
    'Lines of the charge log that were not written',
    () => ledger.health().logLinesLost,
  )
  metrics.counter(
    'gateway_ledger_refusals_total',
    'Charges that the database refused, ever since the process started',
    () => ledger.health().refused.total,
  )
  metrics.counter(
    'gateway_keys_argon2_runs',
    'Keys checked by Argon2id',
    () => keys.stats().argon2.runs,
  )
  metrics.gauge('gateway_upstream_under_way', 'Requests under way', of('underWay'))
  metrics.counter('gateway_upstream_answered', 'Requests that were answered', of('succeeded'))
  metrics.counter('gateway_upstream_failed', 'Requests that failed', of('failed'))
  watchUpstreams(metrics, upstreams)
  const ofCredentials = (value: (one: ReturnType<Upstreams['credentials']>[number]) => number) =>
    Object.fromEntries(upstreams.credentials().map((one) => [one.target, value(one)]))
  metrics.gauge(
    'gateway_upstream_credential_usable',
    '1 while every process has read the secret and it is valid',
    () => ofCredentials(({ isUsable }) => Number(isUsable)),
    'min',
  )
  metrics.counter(
    'gateway_upstream_credential_failures',
    'Attempts to read a credential that failed',
    () => ofCredentials(({ failures }) => failures),
  )
  metrics.gauge('gateway_upstreams_away', '1 while no upstream is well', () =>
    Number(upstreams.areAllAway()),
  )
  metrics.gauge('gateway_upstream_closed', '1 while a target is in service and serves', () =>
    Object.fromEntries(
      upstreams.views().map((view) => [view.target, Number(view.state === 'closed')]),
    ),
  )
}

/** The state of targets by model; labels are targets of the configuration, models, and limits. */
function watchUpstreams(metrics: Metrics, upstreams: Upstreams): void {
  const paidModels = () =>
    upstreams
      .views()
      .flatMap(({ target, details }) =>
        details.models.filter(({ isFree }) => !isFree).map((one) => ({ target, ...one })),
      )
  const byModel = (read: (one: ReturnType<typeof paidModels>[number]) => number) => () =>
    Object.fromEntries(paidModels().map((one) => [`${one.target} ${one.model}`, read(one)]))
  const { gauge } = metrics
  gauge('gateway_upstream_out_of_service', '1 while the upstream refuses the credential', () =>
    Object.fromEntries(
      upstreams.views().map(({ target, details }) => [target, Number(details.out !== null)]),
    ),
  )
  const sick = byModel(({ state }) => Number(state === 'sick'))
  gauge('gateway_upstream_sick', '1 while a target fails for a model', sick)
  const forbidden = byModel(({ state }) => Number(state === 'forbidden'))
  gauge('gateway_upstream_forbidden', '1 while a target forbids a model', forbidden)
  const cooling = byModel((one) => one.coolingSeconds)
  gauge('gateway_upstream_cooling_seconds', 'How much longer a pause lasts', cooling, 'max')
  const left = () =>
    Object.fromEntries(
      paidModels().flatMap(({ target, model, limits }) =>
        Object.entries(limits).map(([kind, { limit, left }]) => [
          `${target} ${model} ${kind}`,
          left / limit,
        ]),
      ),
    )
  gauge('gateway_upstream_limit_left', 'The part of a limit that is left', left, 'min')
  const most = () =>
    Object.fromEntries(
      paidModels().flatMap(({ target, model, most }) =>
        most === null ? [] : [[`${target} ${model}`, most]],
      ),
    )
  gauge('gateway_upstream_most', 'How many requests at a time a target takes', most)
  gauge('gateway_upstream_waiting', 'Requests that wait for a target', upstreams.waitingForTarget)
}

type WorkerModules = Pick<Modules, 'acts' | 'mail' | 'ledger' | 'payments' | 'vendorBill'>

/** Metrics that a worker reads from the database; a fleet of gateways would add them up. */
export function watchAsWorker(
  metrics: Metrics,
  { acts, mail, ledger, payments, vendorBill }: WorkerModules,
  { entriesKeptDays }: { readonly entriesKeptDays: number },
) {
  payments.exportWatch()
  acts.exportWatch(metrics)
  metrics.asyncGauge('gateway_letters', 'E-mails that wait, and that failed today', async () => {
    const { queued, failed } = await mail.stats()
    return { queued, failed }
  })
  metrics.asyncGauge(
    'gateway_letters_oldest_seconds',
    'Age of the oldest that waits',
    async () => ({
      queued: (await mail.stats()).oldestSeconds,
    }),
  )
  metrics.asyncGauge('gateway_usage_lag_seconds', 'Age of what is not yet added up', async () => ({
    sums: await ledger.aggregationLagSeconds(),
  }))
  metrics.asyncGauge('gateway_quarantine', 'Charges in quarantine', async () => {
    const { settles, oldestSeconds } = await ledger.quarantine.count()
    return { settles, oldest_seconds: oldestSeconds }
  })
  metrics.asyncGauge('gateway_lost_spools', 'Spools of lost processes, out of reach', async () => ({
    spools: (await ledger.lostSpools()).length,
  }))
  metrics.asyncGauge(
    'gateway_backup_age_seconds',
    'Since the last backup, and since WAL was last archived; -1: never',
    ledger.backupAge,
  )
  metrics.asyncGauge(
    'gateway_partition_days_ahead',
    'Days with a partition of entries',
    async () => ({
      entries: await ledger.partitionDaysAhead(),
    }),
  )
  metrics.asyncGauge('gateway_days_overdue', 'Days since a day should have left', async () => ({
    entries: await ledger.days.overdue(entriesKeptDays),
  }))
  metrics.asyncGauge(
    'gateway_vendor_bill',
    "Difference of the vendor's bill from our counts",
    vendorBill.status,
  )
}

export type Modules = Awaited<ReturnType<typeof wire>>
