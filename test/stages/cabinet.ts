// A stage for the account area: every module real, the cabinet over HTTP on a port of its own, the
// bank's stand-in, and browsers that keep cookies. Tests read e-mails from the outbox and log lines
// from `lines`, and shift the clock that decides how old a proof is.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Accounts, createAccounts } from '../../src/accounts/accounts.ts'
import { createCabinet, openClosingHooks, openDocuments } from '../../src/cabinet/cabinet.ts'
import type * as contract from '../../src/cabinet/contract/contract.ts'
import { createGuards } from '../../src/guards/guards.ts'
import { createKeys } from '../../src/keys/keys.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Db, Executor } from '../../src/platform/db/db.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import { Masked } from '../../src/platform/masked.ts'
import { createPricing, type Pricing } from '../../src/pricing/pricing.ts'
import { createStatus } from '../../src/status/status.ts'
import { createUpstreams, type Upstreams } from '../../src/upstreams/upstreams.ts'
import { keySettings } from '../support/harness.ts'
import { AGENT, accountSettings, CABINET, PASSWORD } from './accounts.ts'
import { brand, createTestPayments, type TestPaymentsOptions } from './payments.ts'

export type CabinetStage = Awaited<ReturnType<typeof createCabinetStage>>
export type CabinetBrowser = ReturnType<typeof createCabinetBrowser>
export type Person = Awaited<ReturnType<CabinetStage['person']>>
/** A response whose JSON body has the type that the test expects. */
export type CabinetResponse<T = Record<string, unknown>> = {
  status: number
  body: T
  headers: Headers
}

const DOCUMENTS = `documents:
  - document: offer
    version: "2026-11-01"
    isRequired: true
    title: { ru: Оферта, en: Offer }
    text: { ru: offer.ru.md, en: offer.en.md }
  - document: news
    version: "1"
    isRequired: false
    title: { ru: Новости, en: News }
    text: { ru: offer.ru.md, en: offer.en.md }
`

/** Writes the legal documents, one required and one optional; returns the path of their list. */
export async function writeDocuments(directory: string): Promise<string> {
  await writeFile(join(directory, 'offer.ru.md'), '# Оферта\n')
  await writeFile(join(directory, 'offer.en.md'), '# Offer\n')
  const list = join(directory, 'documents.yaml')
  await writeFile(list, DOCUMENTS)
  return list
}

type StageOptions = TestPaymentsOptions & {
  readonly pagesDirectory?: string
  readonly addressHeader?: string
  /** Other prices than those of the example. */
  readonly catalogueText?: string
  /** The base URL for API clients. */
  readonly apiUrl?: string
  /** E-mails then link to this server, where a browser can sign in; without it to CABINET. */
  readonly port?: number
}

/** What modules of one more process have of their own. */
type OneProcess = Pick<Parameters<typeof createGuards>[0], 'db' | 'ledger' | 'mail'>

export async function createCabinetStage(options: StageOptions = {}) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLog({ level: 'trace', destination, slug: keySettings.slug })
  const clockShift = { ms: 0 }
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + clockShift.ms }
  // Called when an e-mail is written; `accounts` exists by then.
  const ownerOf = (book: BookId) => accounts.ownerOf(book)
  const cabinetUrl = options.port === undefined ? CABINET : `http://127.0.0.1:${options.port}`
  const ownBrand = { ...brand, cabinetUrl }
  const endingOf = (book: BookId, executor?: Executor) => accounts.endingOf(book, executor)
  const given = { log, ownerOf, endingOf, brand: ownBrand, ...options.payments }
  const pay = await createTestPayments({ ...options, payments: given })
  const { db, ledger, mail, payments } = pay
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-cabinet-'))
  const documents = openDocuments(await writeDocuments(directory))

  // The modules connect as the programs do; tests prepare and look as the owner.
  const { db: own } = ledger
  const keys = createKeys({ db: own, ledger, clock: systemClock, log, ...keySettings })
  const pricing = createPricing({ db: own, log, clock: systemClock })
  await applyPrices(pricing, options.catalogueText)
  // Without upstreams of its own: it reads what the gateway's processes have recorded.
  const { instance } = ledger
  const upstreams = createUpstreams({ db: own, log, clock: systemClock, instance, upstreams: [] })
  const openStatus = (db: Db) => createTestStatus(db, { log, upstreams, payments, mail })
  const status = openStatus(own)
  const lastPackOf = payments.lastPack
  const openGuards = (on: OneProcess) =>
    createGuards({ ...on, log, brand: ownBrand, ownerOf, lastPackOf })
  const guards = openGuards({ db: own, ledger, mail })
  /** The accounts module, as one more process would create it. */
  const openAccounts = (on: { readonly db: Db } & Parameters<typeof openClosingHooks>[0]) =>
    createAccounts({
      ...{ db: on.db, mail, clock, log, brand: ownBrand },
      settings: accountSettings,
      async openBook(tx) {
        const book = await ledger.createBook(tx)
        await guards.open(tx, book)
        return book
      },
      documents: documents.list,
      onConfirmed: async (tx, owner) => void (await payments.grantTrial(tx, owner)),
      closingHooks: openClosingHooks(on),
    })
  const modules = { keys, ledger, guards, payments, mail }
  const accounts: Accounts = openAccounts({ db: own, ...modules })
  const cabinet = createCabinet({
    ...{ db: own, clock, log, payments, cell: 0 },
    metrics: { countAnswer: () => undefined },
    addressHeader: options.addressHeader ?? 'x-real-ip',
    trustedProxies: '127.0.0.1',
    pagesDirectory: options.pagesDirectory ?? 'none',
    api: {
      ...{ ...modules, accounts, pricing, documents, status },
      brand: { ...brand, requisites: ['ООО «Пример»', 'ИНН 7700000000'] },
      cabinetUrl,
      apiUrl: options.apiUrl ?? 'https://api.example.org',
      vendorSlug: keySettings.slug,
      isSelling: true,
      refundPolicy: 'prorata',
    },
  })
  const port = await cabinet.listen(options.port ?? 0, '127.0.0.1')
  const url = `http://127.0.0.1:${port}`
  await pay.sim('settings', { webhookUrl: `${url}/notifications/yookassa` })
  const browser = () => createCabinetBrowser(url, cabinetUrl)

  /** The signed-in browser of an owner with a confirmed account, and the account's book. */
  async function person(name: string, language: 'ru' | 'en' = 'en') {
    const email = `${name}@example.org`
    const own = browser()
    const consents = documents.list().filter((one) => one.isRequired)
    await own.expectOk('POST /api/auth/register', {
      email,
      password: PASSWORD,
      language,
      consents,
    })
    const { rows } = await db.query(
      `select body_text as text from letters where recipient = $1 order by posted_at desc limit 1`,
      [email],
    )
    const code = /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1]
    await own.expectOk('POST /api/auth/confirm', { code, password: PASSWORD })
    const account = await accounts.findByEmail(email)
    if (account === undefined) throw new Error(`${email} has no account`)
    return Object.assign(own, { email, book: account.book, account: account.id })
  }

  return {
    ...pay,
    ...{ accounts, keys, guards, openGuards, pricing, cabinet, documents, lines, clockShift, url },
    ...{ browser, person, upstreams, status, openStatus, brand: ownBrand, openAccounts },

    /** Buys a pack, pays it and waits until it is credited. */
    async buyPack(own: CabinetBrowser, pack = 'pack-35m'): Promise<contract.Order> {
      const purchase = {
        pack,
        method: 'card',
        attempt: `a${systemClock.spanMs()}`.replace('.', '-'),
      }
      const { body } = await own.expectOk<contract.Order>('POST /api/orders', purchase)
      await pay.sim('pay', { orderId: body.id })
      await pay.sim('settle')
      await payments.jobs.applyNotification()
      const paid = await own.expectOk<contract.Order>(`GET /api/orders/${body.id}`)
      if (paid.body.state !== 'credited') throw new Error(`the order is ${paid.body.state}`)
      return paid.body
    },

    /** Kinds of the e-mails to one address, oldest first. */
    async emailKindsTo(recipient: string): Promise<string[]> {
      const { rows } = await db.query(
        'select kind from letters where recipient = $1 order by posted_at',
        [recipient],
      )
      return (rows as { kind: string }[]).map(({ kind }) => kind)
    },

    spend: pay.spend,

    /** A worker takes every step of closings that can be taken now. */
    async runClosings(): Promise<void> {
      await db.query('update account_closings set next_at = ledger_now() where ended_at is null')
      await accounts.closings.run()
    },

    async end() {
      await cabinet.close({ idleMs: 0, limitMs: 2_000 })
      pricing.stop()
      await pay.end()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

type StatusModules = {
  readonly log: Log
  readonly upstreams: Upstreams
} & Pick<Awaited<ReturnType<typeof createTestPayments>>, 'payments' | 'mail'>

/** Nobody starts its probes: they run when a test says so, and no gateway is at its address. */
function createTestStatus(db: Db, { log, upstreams, payments, mail }: StatusModules) {
  return createStatus({
    ...{ db, clock: systemClock, log, probeSeconds: 30, model: () => undefined },
    ...{ apiUrl: 'http://127.0.0.1:1', key: new Masked('none'), isSelling: true },
    ...{ targets: upstreams.seen, payments: payments.health },
    ...{ letters: mail.stats, relayProblem: mail.problem },
  })
}

/** Without a text, the prices of the example. */
async function applyPrices(pricing: Pricing, text?: string): Promise<void> {
  const example = join(import.meta.dirname, '../../catalogue.example.yaml')
  const read = pricing.parse(text ?? (await readFile(example, 'utf8')))
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  await pricing.apply(read.catalogue, { by: 'a test', note: '' })
}

type RequestOptions = { readonly origin?: string | null; readonly headers?: Record<string, string> }

/** A browser that keeps cookies, sends its origin, and calls the cabinet over HTTP. */
export function createCabinetBrowser(url: string, ownOrigin: string = CABINET) {
  const jar = new Map<string, string>()

  function headers(
    { origin = ownOrigin, headers: more = {} }: RequestOptions,
    isGet: boolean,
  ): Headers {
    const sent = new Headers({ 'user-agent': AGENT, 'x-real-ip': '203.0.113.7' })
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    if (cookie !== '') sent.set('cookie', cookie)
    if (!isGet) sent.set('content-type', 'application/json')
    if (!isGet && origin !== null) sent.set('origin', origin)
    for (const [name, value] of Object.entries(more)) sent.set(name, value)
    return sent
  }

  /** `send('POST /api/orders', {…})`. */
  async function send<T = Record<string, unknown>>(
    route: string,
    body: unknown = {},
    sent: RequestOptions = {},
  ): Promise<CabinetResponse<T>> {
    const [method = 'GET', path = ''] = route.split(' ')
    const isGet = method === 'GET'
    const response = await fetch(`${url}${path}`, {
      method,
      headers: headers(sent, isGet),
      ...(isGet ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) storeCookie(jar, line)
    const text = await response.text()
    const parsed = text === '' ? {} : JSON.parse(text)
    return { status: response.status, body: parsed as T, headers: response.headers }
  }

  return {
    jar,
    send,
    /** For the preparation of a test: throws when the status is not 200. */
    async expectOk<T = Record<string, unknown>>(
      route: string,
      body: unknown = {},
    ): Promise<CabinetResponse<T>> {
      const response = await send<T>(route, body)
      if (response.status === 200) return response
      throw new Error(`${route}: ${response.status} ${JSON.stringify(response.body)}`)
    },
    /** The status and code of a refusal: `409 refund_refused`. */
    async refusal(route: string, body: unknown = {}, sent: RequestOptions = {}): Promise<string> {
      const response = await send<Partial<contract.ErrorBody>>(route, body, sent)
      return `${response.status} ${response.body.error?.code}`
    },
    headers: () => headers({}, true),
  }
}

function storeCookie(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split('; ')
  const [name = '', ...value] = pair.split('=')
  if (attributes.some((one) => /^max-age=0$/i.test(one))) jar.delete(name)
  else jar.set(name, value.join('='))
}
