// The stage of the program `read-only`: gateway, cabinet and worker processes that connect to one
// address while the server behind it changes, with signed-in people and accounts that have credits.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/platform/db/db.ts'
import { startBank } from '../../../stand-ins/bank/bank.ts'
import { startMailbox } from '../../../stand-ins/mailbox/mailbox.ts'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { CABINET, PASSWORD } from '../../stages/accounts.ts'
import { type CabinetBrowser, createCabinetBrowser } from '../../stages/cabinet.ts'
import { createAccounts } from '../../stages/served/gateway.ts'
import { type PaymentProcess, startPaymentProcess } from '../../stages/served/process.ts'
import {
  createTestDatabase,
  keySettings,
  settingsOf,
  type TestDatabase,
} from '../../support/harness.ts'
import { startServers } from './servers.ts'

/** Several, so that more than one pooled connection is in use at a time. */
const PEOPLE = 3
const KEYS = 3
const LETTER_MS_MAX = 30_000

export type Stage = Awaited<ReturnType<typeof createStage>>

export async function createStage() {
  const servers = await startServers()
  const [database, standby] = await Promise.all([
    createTestDatabase(servers.primary.url),
    servers.startStandby(),
  ])
  const keys = await createAccounts(database, KEYS)
  const [mailbox, vendor, bank] = await Promise.all([startMailbox(), startVendor(), startBank()])
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'tollgate-spool-'))
  const [gatewayPort = 0, metricsPort = 0] = await freePorts(2)
  const env = {
    DATABASE_URL: urlAt(servers.url, database),
    LEDGER_SPOOL_DIRECTORY: spoolDirectory,
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
    BRAND_CABINET_URL: CABINET,
    CABINET_PORT: '0',
    CABINET_PAGES_DIRECTORY: 'none',
    GATEWAY_PORT: String(gatewayPort),
    GATEWAY_PROCESSES: '1',
    METRICS_PORT: String(metricsPort),
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
    MAIL_SMTP_URL: mailbox.smtpUrl,
    YOOKASSA_URL: bank.apiUrl,
    YOOKASSA_SHOP_ID: bank.shopId,
    YOOKASSA_SECRET_KEY: bank.secretKey,
    UPSTREAM_URL: vendor.url,
    // High limits, so that none refuses; other tests cover them.
    ACCOUNTS_ADDRESS_PER_MINUTE: '100000',
    ACCOUNTS_LETTERS_PER_HOUR: '1000',
    ACCOUNTS_ANSWER_MS: '20',
  }
  const [cabinet, work, serve] = await Promise.all([
    startPaymentProcess('cabinet', env),
    startPaymentProcess('work', env),
    startPaymentProcess('serve', env),
  ])
  const cabinetUrl = `http://127.0.0.1:${cabinet.ready.port}`

  /** Registers a person, confirms with the code from the e-mail, and signs in. */
  async function person(email: string): Promise<CabinetBrowser> {
    const visitor = createCabinetBrowser(cabinetUrl)
    await visitor.expectOk('POST /api/auth/register', { email, password: PASSWORD, language: 'en' })
    const [letter] = await mailbox.wait({ to: email }, LETTER_MS_MAX)
    const code = /#code=([\w-]+)/.exec(letter?.text ?? '')?.[1]
    await visitor.expectOk('POST /api/auth/confirm', { code, password: PASSWORD })
    return visitor
  }

  const emails = Array.from({ length: PEOPLE }, (_, i) => `person-${i}@example.org`)
  const people = await Promise.all(
    emails.map(async (email) => ({ email, visitor: await person(email) })),
  )
  const processes: Readonly<Record<string, PaymentProcess>> = { cabinet, work, serve }
  return {
    servers,
    standby,
    database,
    mailbox,
    people,
    keys,
    gatewayUrl: `http://127.0.0.1:${gatewayPort}`,
    processes,
    /** The same database on the standby, which is the primary by then. */
    openMoved(): TestDatabase {
      const url = urlAt(standby.url, database)
      return { ...database, url, db: openDatabase(settingsOf(url), 'test', () => undefined) }
    },
    async end(): Promise<void> {
      for (const one of Object.values(processes)) await one.kill()
      await Promise.all([mailbox.close(), vendor.close(), bank.close()])
      await database.db.end()
      await servers.end()
      await rm(spoolDirectory, { recursive: true, force: true })
    },
  }
}

function urlAt(server: string, { name }: TestDatabase): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
