// The whole service on the cluster, all in production mode from the files of deploy/: two groups of
// gateways behind nginx, a worker, a cabinet, and stand-ins for the vendor, the bank and the mail
// relay. One person registers, buys a pack and gets a key; the other accounts are prepared.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openDatabase } from '../../../src/platform/db/db.ts'
import { startBank } from '../../../stand-ins/bank/bank.ts'
import { startMailbox } from '../../../stand-ins/mailbox/mailbox.ts'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { PASSWORD } from '../../stages/accounts.ts'
import { createCabinetBrowser, writeDocuments } from '../../stages/cabinet.ts'
import { createAccounts } from '../../stages/served/gateway.ts'
import { startPaymentProcess } from '../../stages/served/process.ts'
import { createCertificates } from '../../support/certificates.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { keySettings, settingsOf, type TestDatabase } from '../../support/harness.ts'
import { startTlsFront } from '../../support/tls-fronts.ts'
import { CABINET_HOST, startEdge } from '../edge/stage.ts'
import { type Cluster, createCluster } from './cluster.ts'
import { environmentOf, writeSecrets } from './units.ts'

const root = join(import.meta.dirname, '../../..')
/** Each request in 100 is of the person, whose pack then suffices for all that wait at once. */
const ACCOUNTS = 99
/** An e-mail or a credited payment, while two cores also start everything else. */
const WAIT_MS_MAX = 30_000
const CONSENT = { document: 'offer', version: '2026-11-01' }

export type Stage = Awaited<ReturnType<typeof createStage>>

export async function createStage(options: {
  /** Gives each node a disk of this size; without it they share the machine's. */
  readonly diskMegabytes?: number | undefined
  readonly say: (text: string) => void
}) {
  const { say } = options
  const cluster = await createCluster(options.diskMegabytes)
  const closing: (() => Promise<unknown>)[] = [() => cluster.end()]
  const end = async () => {
    for (const close of closing.reverse()) await close()
  }
  try {
    await cluster.untilWhole()
    say(`three nodes under Patroni ${cluster.patroniVersion}, three etcd and HAProxy run`)
    const standIns = await startStandIns()
    closing.push(standIns.close)
    const folder = join(cluster.folder, 'tollgate')
    await writeSecrets(folder, secretsOf(cluster, standIns))
    const settings = await settingsFor(folder, standIns)
    await migrate(folder, settings)
    const programs = await startPrograms(folder, settings)
    closing.push(() => Promise.all(programs.all.map((one) => one.kill())))
    const edge = await startEdge(programs.gatewayPorts, programs.cabinetPort)
    closing.push(() => edge.stop())
    const cabinetUrl = `http://127.0.0.1:${programs.cabinetPort}`
    await standIns.sim('settings', { webhookUrl: `${cabinetUrl}/notifications/yookassa` })
    const owner = await register(cabinetUrl, standIns)
    const database = openOwners(cluster)
    closing.push(() => database.db.end())
    const keys = [owner.key, ...(await createAccounts(database, ACCOUNTS))]
    return {
      cluster,
      edge,
      database,
      keys,
      owner,
      programs: programs.all,
      vendor: standIns.vendor,
      end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

type StandIns = Awaited<ReturnType<typeof startStandIns>>

async function startStandIns() {
  const [vendor, bank, mailbox] = await Promise.all([
    startVendor({ requestsMax: 1_000_000 }),
    startBank({ isTest: false, shopId: '123456', secretKey: 'live_stand-in-secret' }),
    startMailbox(),
  ])
  // Production calls a payment provider only over TLS.
  const certificates = await createCertificates()
  const front = await startTlsFront(bank.url, certificates)
  return {
    vendor,
    bank,
    mailbox,
    bankUrl: `${front.url}/v3`,
    authority: certificates.file('ca.pem'),
    /** What payers, banks and the provider's staff do. */
    async sim(act: string, body: object = {}): Promise<void> {
      const headers = { 'content-type': 'application/json' }
      const sent = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(`${bank.controlUrl}/${act}`, sent)
      if (!response.ok) throw new Error(`${act}: ${await response.text()}`)
    },
    async close(): Promise<void> {
      await Promise.all([vendor.close(), front.close(), mailbox.close()])
      await bank.close()
      await certificates.remove()
    },
  }
}

function secretsOf(cluster: Cluster, { bank, mailbox, vendor }: StandIns) {
  const secret = () => randomBytes(32).toString('hex')
  return {
    'migrate-database-url': cluster.urlAs('tollgate_migrate'),
    'gateway-database-url': cluster.urlAs('tollgate_gateway'),
    'worker-database-url': cluster.urlAs('tollgate_worker'),
    'cabinet-database-url': cluster.urlAs('tollgate_cabinet'),
    'keeper-database-url': cluster.urlAs('tollgate_keeper'),
    'keys-tag-secret': keySettings.tagSecret.reveal(),
    'keys-lookup-secret': keySettings.lookupSecret.reveal(),
    'accounts-secret': secret(),
    'payments-digest-secret': secret(),
    'yookassa-secret-key': bank.secretKey,
    'mail-smtp-url': mailbox.smtpUrl,
    'upstream-key': vendor.keys[1] ?? '',
  }
}

/** What an operator would write into tollgate.yaml. */
async function settingsFor(folder: string, { vendor, bank, bankUrl, authority }: StandIns) {
  // Production refuses the example's prices.
  const example = await readFile(join(root, 'catalogue.example.yaml'), 'utf8')
  const catalogue = join(folder, 'catalogue.yaml')
  await writeFile(catalogue, example.replace('priceKopecks: 130000', 'priceKopecks: 140000'))
  return {
    PATH: process.env.PATH ?? '',
    UPSTREAM_URL: vendor.url,
    BRAND_REQUISITES: 'Example Ltd',
    BRAND_DOCUMENTS_FILE: await writeDocuments(folder),
    BRAND_CABINET_URL: `https://${CABINET_HOST}`,
    BRAND_SUPPORT_EMAIL: 'support@example.org',
    CATALOGUE_FILE: catalogue,
    GATEWAY_PUBLIC_URL: 'https://api.example.org',
    GATEWAY_PROCESSES: '2',
    GATEWAY_ADDRESS_HEADER: 'x-real-ip',
    GATEWAY_DRAIN_IDLE_SECONDS: '0',
    CABINET_PAGES_DIRECTORY: 'none',
    // The bank says in this header which address it sends from.
    CABINET_ADDRESS_HEADER: 'x-forwarded-for',
    CABINET_TRUSTED_PROXIES: '127.0.0.1',
    // One person asks several times a second.
    ACCOUNTS_ADDRESS_PER_MINUTE: '100000',
    MAIL_FROM: 'Letters <letters@example.org>',
    YOOKASSA_URL: bankUrl,
    NODE_EXTRA_CA_CERTS: authority,
    YOOKASSA_SHOP_ID: bank.shopId,
    PAYMENTS_MONEY: 'real',
    PAYMENTS_SWEEP_SECONDS: '5',
  }
}

type Environment = Readonly<Record<string, string>>

async function migrate(folder: string, settings: Environment): Promise<void> {
  const env = { ...(await environmentOf('migrate', folder)), ...settings }
  await promisify(execFile)(process.execPath, ['src/main.ts', 'migrate'], { cwd: root, env })
}

async function startPrograms(folder: string, settings: Environment) {
  const ports = await freePorts(7)
  const [cabinetPort = 0, cabinetMetrics = 0, workMetrics = 0, ...gateways] = ports
  const serve = async (group: number) => {
    const [port, metrics] = gateways.slice(group * 2)
    const own = await environmentOf('gateway', folder, `gateway-${group + 1}`)
    const numbers = { GATEWAY_PORT: String(port), METRICS_PORT: String(metrics) }
    return startPaymentProcess('serve', { ...own, ...settings, ...numbers })
  }
  const cabinet = startPaymentProcess('cabinet', {
    ...(await environmentOf('cabinet', folder)),
    ...settings,
    CABINET_PORT: String(cabinetPort),
    METRICS_CABINET_PORT: String(cabinetMetrics),
  })
  const work = startPaymentProcess('work', {
    ...(await environmentOf('worker', folder)),
    ...settings,
    METRICS_WORK_PORT: String(workMetrics),
  })
  return {
    all: await Promise.all([serve(0), serve(1), cabinet, work]),
    gatewayPorts: [gateways[0] ?? 0, gateways[2] ?? 0],
    cabinetPort,
  }
}

/** A person who registers, buys a pack at the bank and issues a key, all on the cluster. */
async function register(url: string, { mailbox, sim }: StandIns) {
  const browser = createCabinetBrowser(url, `https://${CABINET_HOST}`)
  const email = 'owner@example.org'
  const form = { email, password: PASSWORD, language: 'en', consents: [CONSENT] }
  await browser.expectOk('POST /api/auth/register', form)
  const [letter] = await mailbox.wait({ to: email }, WAIT_MS_MAX)
  const code = /#code=([\w-]+)/.exec(letter?.text ?? '')?.[1]
  await browser.expectOk('POST /api/auth/confirm', { code, password: PASSWORD })
  await buyPack(browser, sim, 'first')
  const { body } = await browser.expectOk<{ id: string; plain: string }>('POST /api/key')
  await browser.expectOk(`POST /api/key/${body.id}/confirm`)
  return { browser, key: body.plain, buy: (attempt: string) => buyPack(browser, sim, attempt) }
}

type Browser = ReturnType<typeof createCabinetBrowser>

async function buyPack(browser: Browser, sim: StandIns['sim'], attempt: string): Promise<void> {
  const purchase = { pack: 'pack-300m', method: 'card', attempt }
  const { body } = await browser.expectOk<{ id: string }>('POST /api/orders', purchase)
  await sim('pay', { orderId: body.id })
  await sim('settle')
  const deadline = performance.now() + WAIT_MS_MAX
  for (;;) {
    const order = await browser.send<{ state: string }>(`GET /api/orders/${body.id}`)
    if (order.body.state === 'credited') return
    const said = `${order.status} ${JSON.stringify(order.body)}`
    ensure(performance.now() < deadline, `a paid pack is credited: ${said}`)
    await sleep(100)
  }
}

/** The database as its owner, who prepares it and looks at it. */
function openOwners(cluster: Cluster): TestDatabase {
  const url = cluster.urlAs('tollgate_migrate')
  const db = openDatabase(settingsOf(url), 'drill', () => undefined)
  return { url, stageUrl: url, name: 'tollgate', db, drop: () => db.end() }
}
