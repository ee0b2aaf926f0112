// The stage of journeys through the account area: cabinet, worker and gateway as separate
// processes, as operators start them, over a real database and the stand-ins for vendor, bank and
// mail. Keeps all they print, at the most verbose log level.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBank } from '../../../stand-ins/bank/bank.ts'
import { startMailbox } from '../../../stand-ins/mailbox/mailbox.ts'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { ageProofs } from '../../stages/accounts.ts'
import { writeDocuments } from '../../stages/cabinet.ts'
import { type Served, startServed } from '../../stages/served/served.ts'
import { createDatabaseProxy } from '../../support/database-proxy.ts'
import { createTestDatabase, keySettings, type TestDatabase } from '../../support/harness.ts'

export const PASSWORD = 'a quiet evening in may'
/** An e-mail takes a second; beside a build on two cores, ten. */
const EMAIL_MS_MAX = 30_000

type Command = Parameters<typeof startServed>[0]
type Environment = Readonly<Record<string, string>>

export type JourneyStage = Awaited<ReturnType<typeof createJourneyStage>>

/**
 * `env`: settings for all processes, which override those of the stage; a function prepares the
 * database before any of them starts.
 */
export async function createJourneyStage(
  env: Environment | ((database: TestDatabase) => Promise<Environment>) = {},
) {
  const database = await createTestDatabase()
  const own = typeof env === 'function' ? await env(database) : env
  const { db } = database
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-journey-'))
  const [mailbox, bank, vendor] = await Promise.all([startMailbox(), startBank(), startVendor()])
  const proxy = await createDatabaseProxy(database.url)
  const [cabinetPort = 0, gatewayPort = 0] = await freePorts(2)
  // By host name, not by IP address: passkeys are bound to a host name.
  const url = `http://localhost:${cabinetPort}`
  const apiUrl = `http://127.0.0.1:${gatewayPort}`
  const settings = {
    DATABASE_URL: database.url,
    // Several stages share a server of a hundred connections; these processes need few.
    DATABASE_POOL_SIZE: '4',
    DATABASE_LEDGER_CONNECTIONS: '1',
    DATABASE_LEDGER_LANES: '1',
    LEDGER_SPOOL_DIRECTORY: join(directory, 'spool'),
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
    UPSTREAM_URL: vendor.url,
    UPSTREAM_KEY: vendor.keys[0] ?? '',
    GATEWAY_PORT: String(gatewayPort),
    GATEWAY_PUBLIC_URL: apiUrl,
    GATEWAY_PROCESSES: '1',
    CABINET_PORT: String(cabinetPort),
    BRAND_CABINET_URL: url,
    BRAND_DOCUMENTS_FILE: await writeDocuments(directory),
    MAIL_SMTP_URL: mailbox.smtpUrl,
    YOOKASSA_URL: bank.apiUrl,
    YOOKASSA_SHOP_ID: bank.shopId,
    YOOKASSA_SECRET_KEY: bank.secretKey,
    METRICS_PORT: '0',
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
    LOG_LEVEL: 'trace',
    ...own,
  }
  const started: Served[] = []
  const start = async (command: Command, ready: RegExp, more: Environment = {}) => {
    const served = await startServed(command, { ...settings, ...more }, ready)
    started.push(served)
    return served
  }

  async function end(): Promise<void> {
    // Other tests cover the graceful shutdown; here it would wait for idle connections.
    for (const { child } of started) child.kill('SIGKILL')
    await Promise.all(started.map((one) => one.stop()))
    await Promise.all([mailbox.close(), bank.close(), vendor.close()])
    await proxy.end()
    await database.drop()
    await rm(directory, { recursive: true, force: true })
  }

  // Start the cabinet first: processes that start together would each activate the catalogue.
  const processes = await start('cabinet', /"serving the cabinet"/, { DATABASE_URL: proxy.url })
    .then(async (cabinet) => {
      const [gateway, worker] = await Promise.all([
        start('serve', /"the fleet is ready"/),
        start('work', /"working"/),
      ])
      return { cabinet, gateway, worker }
    })
    .catch(async (error: unknown) => {
      await end()
      throw error
    })

  /** Acts of payers, banks and the provider's staff. */
  async function sim(act: string, body: object): Promise<void> {
    const response = await fetch(`${bank.controlUrl}/${act}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${act}: ${await response.text()}`)
  }
  /** What the bank has. */
  const look = async (act: string) => (await fetch(`${bank.controlUrl}/${act}`)).json()
  await sim('settings', { webhookUrl: `http://127.0.0.1:${cabinetPort}/notifications/yookassa` })

  return {
    ...{ url, apiUrl, db, database, mailbox, vendor, processes, sim, look, directory, proxy },
    /** One more process with the settings of the stage. */
    start,
    /** For a command that a test runs to its end. */
    settings,

    /** The newest e-mail of a kind to an address, as soon as it is there. */
    async newestEmail(to: string, kind: string) {
      const [found] = await mailbox.wait({ to, kind }, EMAIL_MS_MAX)
      if (found !== undefined) return found
      const printed = processes.worker.printed().split('\n').slice(-40).join('\n')
      throw new Error(`${to} never got ${kind}\n${printed}`)
    },

    /** Makes every proof of every session an hour old. */
    async letSessionsAge(): Promise<void> {
      await ageProofs(db, '1 hour')
    },

    end,
  }
}
