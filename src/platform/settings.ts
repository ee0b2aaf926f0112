// All settings: one schema with limits and defaults. config.ts finds their values (file,
// environment, secret files); tollgate.example.yaml explains the defaults; production.ts has the
// checks of production mode. A new setting needs one line here and one in tollgate.example.yaml.
import { z } from 'zod'
import { assert } from './assert.ts'
import { CELL_MAX } from './ids.ts'
import { refuseInProduction, STAND_IN } from './production.ts'
import { isReadBy, type Program } from './programs.ts'
import {
  choice,
  DEVELOPMENT_ONLY,
  flag,
  none,
  optionalSecret,
  ownSecret,
  secret,
  type Traits,
  text,
  traits,
  webAddress,
  whole,
} from './setting-kinds.ts'
import {
  CLAIM,
  CLAIMS,
  copyAddress,
  databaseUrl,
  headerName,
  headerValue,
  ISSUER,
  networks,
  ORIGIN,
  otherUrl,
  PROXY_EXPECTED,
  PROXY_URL,
  receiptUrl,
  sender,
  smtpUrl,
  sources,
  versions,
} from './setting-shapes.ts'
import { earlierShopsOf, SHOPS, SHOPS_EXPECTED } from './shops.ts'
import type { KeyPath } from './yaml.ts'
import { isZone } from './zone.ts'

export type Setting = Traits & {
  readonly path: KeyPath
  readonly name: string
  readonly env: string
}

/**
 * Its prices are made up: main.ts refuses them in production when the database has no catalogue.
 */
export const EXAMPLE_CATALOGUE = 'catalogue.example.yaml'
/** Programs that share the owner's role must be told so: one SQL call of any then moves money. */
const DATABASE_ROLES = 'separate'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const DAY_SECONDS = 86_400
/** A million million credits, and a thousand million roubles: a sum of them fits an int8 column. */
const CREDITS_PER_DAY_MAX = 1_000_000_000_000
const ROUBLES_PER_DAY_MAX = 1_000_000_000

const settings = z.strictObject({
  mode: choice(['development', 'production'], 'development'),
  cell: whole(0, 0, CELL_MAX),
  brand: z.strictObject({
    name: text('Tollgate'),
    supportEmail: text('support@example.com', DEVELOPMENT_ONLY, z.email()),
    cabinetUrl: webAddress('http://127.0.0.1:8081'),
    requisites: none('names no seller', 'noSeller'),
    documentsFile: none('names no legal pages', 'noDocuments'),
  }),
  vendor: z.strictObject({
    slug: text('vendor', {}, z.string().regex(/^[a-z0-9]{2,20}$/, 'expected 2-20 of a-z and 0-9')),
    versions: text('2023-06-01, 2026-10-21', {}, versions),
  }),
  database: z.strictObject({
    url: secret('postgres://postgres@127.0.0.1:5432/tollgate', 1, databaseUrl),
    directUrl: optionalSecret(otherUrl),
    standbyUrl: optionalSecret(otherUrl),
    keeperUrl: optionalSecret(otherUrl),
    roles: choice(['separate', 'one'], DATABASE_ROLES),
    poolSize: whole(8, 1, 200),
    connectTimeoutMs: whole(5_000, 100, 60_000),
    statementTimeoutMs: whole(30_000, 100, 600_000),
    ledgerConnections: whole(2, 1, 2),
    ledgerLanes: whole(4, 1, 64),
    ledgerDeadlineMs: whole(5_000, 100, 60_000),
    lockTimeoutMs: whole(250, 10, 60_000),
  }),
  ledger: z.strictObject({
    spoolDirectory: text('.tollgate/spool', DEVELOPMENT_ONLY),
    spoolAfterMs: whole(10_000, 100, 300_000),
    // Holds leave the ledger after a week; a charge without its hold looks like a missing one.
    chargeLogDays: whole(6, 0, 6),
    holdWaitMs: whole(30_000, 0, 300_000),
    requestSecondsMax: whole(3_600, 1, DAY_SECONDS),
    holdSeconds: whole(3_900, 2, 2 * DAY_SECONDS),
    entriesKeptDays: whole(400, 1, 36_500),
    sessionsKeptDays: whole(90, 1, 400),
    exportDirectory: text('none'),
    sweepDeadSeconds: whole(60, 1, 3_600),
  }),
  keys: z.strictObject({
    tagSecret: ownSecret('development tag secret: never use it in production'),
    lookupSecret: ownSecret('development lookup secret: never use it in production'),
    verifiedMax: whole(100_000, 1, 10_000_000),
    wrongMax: whole(100_000, 1, 10_000_000),
    verifyQueue: whole(64, 0, 10_000),
    wrongPerMinute: whole(20, 1, 100_000),
  }),
  log: z.strictObject({
    level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    pretty: flag(false),
  }),
  gateway: z.strictObject({
    host: text('127.0.0.1'),
    port: whole(8080, 0, 65_535, { aliases: ['PORT'] }),
    processes: whole(0, 0, 256),
    drainSeconds: whole(600, 0, DAY_SECONDS),
    drainIdleSeconds: whole(10, 0, 600),
    bodyBytesMax: whole(32 * MIB, KIB, 256 * MIB),
    waitBytesMax: whole(512 * MIB, MIB, 64 * GIB),
    addressHeader: text('none', {}, headerName),
    publicUrl: webAddress('http://127.0.0.1:8080'),
  }),
  cabinet: z.strictObject({
    host: text('127.0.0.1'),
    port: whole(8081, 0, 65_535),
    drainSeconds: whole(30, 0, 3_600),
    addressHeader: text('none', {}, headerName),
    trustedProxies: text('none', {}, networks),
    pagesDirectory: text('web/dist'),
  }),
  console: z.strictObject({
    host: text('127.0.0.1'),
    port: whole(8083, 0, 65_535),
    drainSeconds: whole(30, 0, 3_600),
    addressHeader: text('none', {}, headerName),
    trustedProxies: text('none', {}, networks),
    pagesDirectory: text('web/console/dist'),
  }),
  accounts: z.strictObject({
    secret: ownSecret('development accounts secret: never use it in production'),
    sessionDays: whole(30, 1, 365),
    freshMinutes: whole(10, 1, 1_440),
    answerMs: whole(500, 1, 10_000),
    passwordQueue: whole(64, 0, 10_000),
    addressPerMinute: whole(20, 1, 100_000),
    wrongPerAccount: whole(10, 1, 1_000),
    wrongMinutes: whole(15, 1, 1_440),
    lettersPerHour: whole(5, 1, 1_000),
    eraseAfterDays: whole(1_095, 0, 36_500),
    recoveryHours: whole(72, 24, 720),
  }),
  mail: z.strictObject({
    smtpUrl: secret('smtp://127.0.0.1:2525?starttls=never', 1, smtpUrl),
    from: text('Tollgate <letters@example.com>', DEVELOPMENT_ONLY, sender),
  }),
  payments: z.strictObject({
    isOpen: flag(true),
    money: choice(['auto', 'real', 'test'], 'auto'),
    refundPolicy: choice(['prorata', 'full', 'none'], 'prorata'),
    sweepSeconds: whole(15, 1, 300),
    promoTriesPerHour: whole(10, 1, 10_000),
    refundsPerMonth: whole(5, 0, 1_000),
    digestSecret: secret('development digest secret: never use it in production', 32),
    hasTopUps: flag(false),
  }),
  trial: z.strictObject({
    // The limits of the tables trials and trial_days.
    credits: whole(0, 0, 1_000_000),
    perNetworkDay: whole(3, 1, 1_000),
    creditsPerDay: whole(5_000_000, 0, 100_000_000),
  }),
  yookassa: z.strictObject({
    url: webAddress(STAND_IN.url),
    shopId: text('100500', DEVELOPMENT_ONLY, z.string().regex(/^\d{1,20}$/, 'expected digits')),
    secretKey: secret(STAND_IN.secretKey),
    earlierShops: optionalSecret(z.string().regex(SHOPS, SHOPS_EXPECTED)),
    // The provider answers within 30 s. The process that creates an order has 45 s to post it, of
    // which 10 may pass in the limiter: after a longer call a worker would post the same order.
    postTimeoutMs: whole(35_000, 1_000, 35_000),
    getTimeoutMs: whole(10_000, 1_000, 35_000),
    callsPerSecond: whole(5, 1, 1_000),
    hasSbpQr: flag(false),
    notificationSources: text('any', {}, sources),
    receipts: choice(['off', 'on'], 'off'),
    receiptVatCode: whole(1, 1, 12),
    receiptTaxSystem: whole(0, 0, 6),
    receiptSubject: choice(
      ['service', 'payment', 'another', 'property_right', 'intellectual_activity'],
      'service',
    ),
    receiptMode: choice(
      ['full_prepayment', 'full_payment', 'advance', 'partial_prepayment'],
      'full_prepayment',
    ),
    receiptMeasure: choice(['piece', 'another'], 'piece'),
    completionReceipts: choice(['off', 'monthly', 'at_end'], 'off'),
    receiptUrl: text('none', {}, receiptUrl),
  }),
  upstream: z.strictObject({
    file: text('none'),
    url: webAddress('http://127.0.0.1:8090'),
    key: secret('stand-in-key-1', 1, headerValue),
    proxy: text('none', {}, z.string().regex(PROXY_URL, PROXY_EXPECTED)),
    proxyLogin: optionalSecret(z.string().regex(/^(?:none|[^:]+:.+)$/, 'expected user:password')),
    ca: text('none'),
    clientCertificate: text('none'),
    clientKey: text('none'),
    http2: flag(false),
    connections: whole(1024, 1, 65_535),
    queueTimeoutMs: whole(30_000, 1_000, 600_000),
    connectTimeoutMs: whole(10_000, 100, 60_000),
    headersTimeoutMs: whole(600_000, 1_000, 3_600_000),
    streamHeadersTimeoutMs: whole(60_000, 1_000, 3_600_000),
    idleTimeoutMs: whole(300_000, 1_000, 3_600_000),
    keepAliveMs: whole(30_000, 1_000, 59_000),
    connectionMaxAgeMs: whole(300_000, 1_000, DAY_SECONDS * 1_000),
    temperatureMax: whole(1, 1, 2),
  }),
  metrics: z.strictObject({
    port: whole(9090, 0, 65_535),
    workPort: whole(9091, 0, 65_535),
    cabinetPort: whole(9092, 0, 65_535),
    consolePort: whole(9093, 0, 65_535),
  }),
  catalogue: z.strictObject({
    file: text(EXAMPLE_CATALOGUE),
    vendorPricesFile: text('none'),
  }),
  vendorBill: z.strictObject({
    url: text(
      'none',
      {},
      z.string().regex(/^(?:none|https?:\/\/\S+[^\s/])$/, 'expected none or http(s)://…'),
    ),
    key: optionalSecret(headerValue),
    upstreams: text('all'),
    alarmPercent: whole(1, 0, 100),
  }),
  reports: z.strictObject({
    timeZone: text('Europe/Moscow', {}, z.string().refine(isZone, 'expected a time zone')),
  }),
  acts: z.strictObject({
    shipTo: text('none', {}, copyAddress),
    shipSecret: optionalSecret(headerValue),
    shipSeconds: whole(5, 1, 60),
    checkSeconds: whole(30, 1, 60),
  }),
  status: z.strictObject({
    // Half of it after a failure: with a minute an outage is confirmed after 90 s at most.
    probeSeconds: whole(30, 0, 60),
    probeKey: optionalSecret(headerValue),
    probeModel: text('cheapest'),
  }),
  operators: z.strictObject({
    secret: ownSecret('development operators secret: never use it in production'),
    consoleUrl: text('http://127.0.0.1:8083', {}, z.string().regex(ORIGIN, 'expected an origin')),
    idleMinutes: whole(30, 1, 240),
    sessionHours: whole(12, 1, 24),
    passwordQueue: whole(16, 0, 1_000),
    addressPerMinute: whole(20, 1, 1_000),
    wrongPerOperator: whole(10, 1, 100),
    wrongMinutes: whole(15, 1, 1_440),
    sessionFile: text('default'),
    token: optionalSecret(headerValue),
    oidcIssuer: text('none', {}, z.string().regex(ISSUER, 'expected none or http(s)://…')),
    oidcClientId: text('none'),
    oidcClientSecret: optionalSecret(headerValue),
    oidcName: text('SSO'),
    oidcAllowedClaim: text('none', {}, z.string().regex(CLAIM, 'expected none or name=value')),
    oidcSecondFactor: text('own', {}, z.string().regex(CLAIMS, 'expected own or amr=mfa,…')),
    supportCreditsPerDay: whole(20_000_000, 0, CREDITS_PER_DAY_MAX),
    supportRoublesPerDay: whole(5_000, 0, ROUBLES_PER_DAY_MAX),
    financeCreditsPerDay: whole(1_000_000_000, 0, CREDITS_PER_DAY_MAX),
    financeRoublesPerDay: whole(500_000, 0, ROUBLES_PER_DAY_MAX),
    adminCreditsPerDay: whole(1_000_000_000, 0, CREDITS_PER_DAY_MAX),
    adminRoublesPerDay: whole(500_000, 0, ROUBLES_PER_DAY_MAX),
    approveGrantsAbove: whole(0, 0, CREDITS_PER_DAY_MAX),
    approveAdjustmentsAbove: whole(0, 0, CREDITS_PER_DAY_MAX),
    approveRefundsAbove: whole(0, 0, ROUBLES_PER_DAY_MAX),
    approveReviewsAbove: whole(0, 0, ROUBLES_PER_DAY_MAX),
    approvePromosAbove: whole(0, 0, CREDITS_PER_DAY_MAX),
    approveCatalogue: flag(false),
    approveUpstreams: flag(false),
    approvalHours: whole(24, 1, 168),
  }),
  allow: z.strictObject({
    exampleCatalogue: flag(false),
    noSeller: flag(false),
    noDocuments: flag(false),
    plainUpstreams: flag(false),
    plainMail: flag(false),
    sharedSecrets: flag(false),
  }),
})

export type SettingValues = z.output<typeof settings>

/** The schema with the rules between settings; `program` decides which secrets must be there. */
export function settingsSchema(program: Program | undefined) {
  return settings.superRefine((config, context) => {
    // zod leaves a value that its own rule refused as it was written: a secret would be a string
    // here, not Masked. config.ts parses once more without such values.
    if (context.issues.length > 0) return
    const reportProblem = (path: KeyPath, message: string) => {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
    // Otherwise the sweeper could void the hold of a request that is still being served.
    if (config.ledger.holdSeconds <= config.ledger.requestSecondsMax) {
      reportProblem(
        ['ledger', 'holdSeconds'],
        `must exceed ledger.requestSecondsMax, which is ${config.ledger.requestSecondsMax}`,
      )
    }
    const earlier = earlierShopsOf(config.yookassa.earlierShops).map(({ shopId }) => shopId)
    if (new Set([config.yookassa.shopId, ...earlier]).size <= earlier.length) {
      reportProblem(['yookassa', 'earlierShops'], 'names a shop twice, or the current one')
    }
    const { receipts, receiptMode, completionReceipts } = config.yookassa
    if (completionReceipts !== 'off' && (receipts === 'off' || receiptMode !== 'full_prepayment')) {
      reportProblem(
        ['yookassa', 'completionReceipts'],
        'needs receipts: on and receiptMode: full_prepayment, because it completes a prepayment',
      )
    }
    // One without the other would be a header that is not read, or proxies that look like one
    // client.
    for (const server of ['cabinet', 'console'] as const) {
      const { addressHeader, trustedProxies } = config[server]
      if ((addressHeader === 'none') === (trustedProxies === 'none')) continue
      reportProblem([server, 'trustedProxies'], `goes together with ${server}.addressHeader`)
    }
    const { url, key } = config.vendorBill
    const isKeyRead = isReadBy(program, { name: 'vendorBill.key', isSecret: true })
    if (isKeyRead && (url === 'none') !== (key.reveal() === 'none')) {
      reportProblem(['vendorBill', 'key'], 'goes together with vendorBill.url')
    }
    const { oidcIssuer, oidcClientId, oidcClientSecret } = config.operators
    const isSecretRead = isReadBy(program, { name: 'operators.oidcClientSecret', isSecret: true })
    const isOff = oidcIssuer === 'none'
    if (isOff !== (oidcClientId === 'none')) {
      reportProblem(['operators', 'oidcClientId'], 'goes together with operators.oidcIssuer')
    }
    if (isSecretRead && isOff !== (oidcClientSecret.reveal() === 'none')) {
      reportProblem(['operators', 'oidcClientSecret'], 'goes together with operators.oidcIssuer')
    }
    const { roles, keeperUrl } = config.database
    if (program === 'work' && roles === 'separate' && keeperUrl.reveal() === 'none') {
      reportProblem(['database', 'keeperUrl'], 'is needed by work when database.roles is separate')
    }
    if (config.mode === 'production') {
      const read = listSettings().filter((one) => isReadBy(program, one))
      const found = read.map((one) => ({ ...one, value: valueAt(config, one.path) }))
      refuseInProduction(config, found, reportProblem)
    }
  })
}

/** The value at a path of nested objects; undefined when there is none. */
export function valueAt(tree: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (here, step) => (here as Record<PropertyKey, unknown> | undefined)?.[step],
    tree,
  )
}

/** Lists all settings by walking the schema, so that each has an environment name. */
export function listSettings(): Setting[] {
  return Object.entries(settings.shape).flatMap(([area, schema]) =>
    schema instanceof z.ZodObject
      ? Object.entries(schema.shape).map(([thing, leaf]) => settingOf([area, thing], leaf))
      : [settingOf([area], schema)],
  )
}

function settingOf(path: readonly string[], leaf: z.ZodType): Setting {
  const known = traits.get(leaf)
  assert(known, `the setting ${path.join('.')} is not made by a helper of settings.ts`)
  return { ...known, path, name: path.join('.'), env: envNameOf(path) }
}

/** The path in upper snake case; a setting without an area gets the product's name in front. */
function envNameOf(path: readonly string[]): string {
  return (path.length === 1 ? ['tollgate', ...path] : path)
    .map((part) => part.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase())
    .join('_')
}
