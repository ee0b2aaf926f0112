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
import { createMail, type Mail } from './platform/mail/mail.ts'
import { createMetrics, type Metrics } from './platform/metrics/metrics.ts'
import { earlierShopsOf } from './platform/shops.ts'
import { type BlockedWork, createBlockedWork } from './platform/worker/blocked-work.ts'
import { createPricing, type Pricing } from './pricing/pricing.ts'
import { createReports, type ReportOptions } from './reports/reports.ts'
import { createStaff } from './staff/staff.ts'
import { createStatus, type StatusOptions } from './status/status.ts'
import { createSummaries } from './summaries/summaries.ts'
import { createUpstreams, type UpstreamOptions, type Upstreams } from './upstreams/upstreams.ts'
import { createVendorBill } from './vendor-bill/vendor-bill.ts'
import { watchModules } from './watch-modules.ts'
import { watchSecrets } from './watch-secrets.ts'

/** Builds the modules without starting them; main.ts starts those that a command needs. */
export async function wire(config: Config, targets: readonly UpstreamOptions[], role: string) {
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
  const mail = createMail({ ...base, brand, ...config.mail })
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
  const vendorBill = createVendorBill({ ...base, ledger, pricing, ...billSettings(config) })
  const upstreams = createUpstreams({ ...base, upstreams: targets, instance: ledger.instance })
  const reports = wireReports(config, { ...base, ledger, payments, vendorBill, upstreams })
  const acts = createActs({ ...base, ...config.acts })
  const staff = createStaff({ db, clock, name: brand.name, settings: config.operators })
  const summaries = createSummaries({ ...base, mail, ledger, payments, brand, accounts })
  const status = wireStatus(config, { ...base, mail, payments, pricing, upstreams })
  const gateway = createGateway({
    ...{ keys, ledger, pricing, upstreams, clock, log, metrics },
    waitBytesMax: config.gateway.waitBytesMax,
    settings: {
      ...{ cell, slug, versions: versionsOf(config.vendor.versions) },
      bodyBytesMax: config.gateway.bodyBytesMax,
      requestSecondsMax: config.ledger.requestSecondsMax,
      addressHeader: config.gateway.addressHeader,
      cabinetUrl: config.brand.cabinetUrl,
      cabinetOrigin: new URL(config.brand.cabinetUrl).origin,
    },
  })
  const cabinet = createCabinet({
    ...{ ...base, metrics, payments, cell, ...config.cabinet },
    api: {
      ...{ accounts, keys, ledger, guards, payments, pricing, documents, status },
      ...cabinetSettings(config),
    },
  })
  watchModules(metrics, { ledger, keys, upstreams })
  watchSecrets(metrics, config, role)
  return {
    ...base,
    config,
    ...{ pricing, ledger, keys, mail, guards, payments, accounts, upstreams, metrics },
    ...{ vendorBill, reports, documents, acts, staff, status, summaries, gateway, cabinet },
  }
}

function billSettings(config: Config) {
  return { ...config.catalogue, ...config.vendorBill }
}

/** The probes ask the other modules; the module itself imports none of them. */
function wireStatus(
  { status, gateway, payments: selling }: Config,
  modules: Pick<StatusOptions, 'db' | 'clock' | 'log'> & {
    readonly blockedWork: BlockedWork
    readonly mail: Mail
    readonly payments: Payments
    readonly pricing: Pricing
    readonly upstreams: Upstreams
  },
) {
  const { mail, payments, pricing, upstreams, ...base } = modules
  return createStatus({
    ...base,
    probeSeconds: status.probeSeconds,
    apiUrl: gateway.publicUrl,
    key: status.probeKey,
    model: () => probedModel(pricing, status.probeModel),
    targets: upstreams.seen,
    isSelling: selling.isOpen,
    payments: payments.health,
    letters: mail.stats,
    relayProblem: mail.problem,
  })
}

function probedModel(pricing: Pricing, name: string): string | undefined {
  if (name !== 'cheapest') return name
  const { models } = pricing.current()
  return models.toSorted((a, b) => (a.price.coefficient < b.price.coefficient ? -1 : 1))[0]?.id
}

/** Orders without a receipt count with the VAT that receipts would have. */
function wireReports(
  { reports, yookassa }: Config,
  modules: Omit<ReportOptions, 'timeZone' | 'vatCode'>,
) {
  return createReports({ ...modules, ...reports, vatCode: yookassa.receiptVatCode })
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
  } & Pick<PaymentsOptions, 'ownerOf' | 'endingOf'>,
) {
  const { clock, pricing } = modules
  const { yookassa } = config
  const receipt = {
    vatCode: yookassa.receiptVatCode,
    taxSystem: yookassa.receiptTaxSystem,
    subject: yookassa.receiptSubject,
    mode: yookassa.receiptMode,
    measure: yookassa.receiptMeasure,
    completions: yookassa.completionReceipts,
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
    trial: config.trial,
    brand: config.brand,
    providers: openYookassaShops(current, earlierShopsOf(yookassa.earlierShops)),
    provider: 'yookassa',
    ...{ timeZone: config.reports.timeZone, receiptUrl: yookassa.receiptUrl },
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
  modules: Pick<AccountsOptions, 'db' | 'clock' | 'log' | 'blockedWork'> & {
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
    onConfirmed: async (tx, owner) => void (await payments.grantTrial(tx, owner)),
    closingHooks: openClosingHooks({
      ...{ keys, ledger, guards, payments, mail },
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

export type Modules = Awaited<ReturnType<typeof wire>>
