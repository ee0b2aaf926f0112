// A stage for the account area: every room real, the cabinet over HTTP on a port of its own, the
// bank's stand-in, and browsers that keep cookies. Letters are read from the outbox, log lines are
// kept, and the clock of freshness is turned by hand.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Accounts, createAccounts } from '../../src/accounts/accounts.ts'
import { createCabinet, openDocuments, openEndings } from '../../src/cabinet/cabinet.ts'
import type * as contract from '../../src/cabinet/contract/contract.ts'
import { createGuards } from '../../src/guards/guards.ts'
import { createKeys } from '../../src/keys/keys.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { createLog } from '../../src/platform/log.ts'
import { createPricing } from '../../src/pricing/pricing.ts'
import { createUpstreams } from '../../src/upstreams/upstreams.ts'
import { keySettings } from '../support/harness.ts'
import { AGENT, accountSettings, CABINET, PASSWORD } from './accounts.ts'
import { brand, createTestPayments, type TestPaymentsOptions } from './payments.ts'

export type CabinetStage = Awaited<ReturnType<typeof createCabinetStage>>
export type Visitor = ReturnType<typeof createVisitor>
export type Person = Awaited<ReturnType<CabinetStage['person']>>
/** An answer: its status, its JSON as whatever the test expects it to be, its headers. */
export type Said<T = Record<string, unknown>> = { status: number; body: T; headers: Headers }

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

/** The operator's legal pages: one to agree to, one that is optional. Returns their list's path. */
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
  /** Letters then name this very server, and a browser may follow and sign in; else CABINET. */
  readonly port?: number
}

export async function createCabinetStage(options: StageOptions = {}) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLog({ level: 'trace', destination, slug: keySettings.slug })
  const turned = { ms: 0 }
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + turned.ms }
  // Asked when something is to be told; the accounts are there by then.
  const ownerOf = (book: BookId) => accounts.ownerOf(book)
  const cabinetUrl = options.port === undefined ? CABINET : `http://127.0.0.1:${options.port}`
  const ownBrand = { ...brand, cabinetUrl }
  const given = { log, ownerOf, brand: ownBrand, ...options.payments }
  const pay = await createTestPayments({ ...options, payments: given })
  const { db, ledger, mail, payments } = pay
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-cabinet-'))
  const documents = openDocuments(await writeDocuments(directory))

  const keys = createKeys({ db, ledger, clock: systemClock, log, ...keySettings })
  const pricing = createPricing({ db, log, clock: systemClock })
  const example = join(import.meta.dirname, '../../catalogue.example.yaml')
  const read = pricing.parse(await readFile(example, 'utf8'))
  if ('complaints' in read) throw new Error(read.complaints.join('\n'))
  await pricing.apply(read.catalogue, { by: 'a test', note: '' })
  // It asks nobody: what processes with upstreams of their own saw is what it tells.
  const { instance } = ledger
  const upstreams = createUpstreams({ db, log, clock: systemClock, instance, upstreams: [] })
  const guards = createGuards({ db, ledger, mail, log, brand: ownBrand, ownerOf })
  const accounts: Accounts = createAccounts({
    ...{ db, mail, clock, log, brand: ownBrand },
    settings: accountSettings,
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
  const cabinet = createCabinet({
    ...{ db, clock, log, payments, cell: 0 },
    metrics: { answered: () => undefined },
    addressHeader: options.addressHeader ?? 'x-real-ip',
    trustedProxies: '127.0.0.1',
    pagesDirectory: options.pagesDirectory ?? 'none',
    api: {
      ...{ accounts, keys, ledger, guards, payments, pricing, documents, upstreams, mail },
      brand: { ...brand, requisites: ['ООО «Пример»', 'ИНН 7700000000'] },
      cabinetUrl,
      apiUrl: 'https://api.example.org',
      vendorSlug: keySettings.slug,
      isSelling: true,
      refundPolicy: 'prorata',
    },
  })
  const port = await cabinet.listen(options.port ?? 0, '127.0.0.1')
  const url = `http://127.0.0.1:${port}`
  await pay.sim('settings', { webhookUrl: `${url}/notifications/yookassa` })
  const visitor = () => createVisitor(url, cabinetUrl)

  /** Somebody with a confirmed account, signed in, and the account's book. */
  async function person(name: string, language: 'ru' | 'en' = 'en') {
    const email = `${name}@example.org`
    const own = visitor()
    const consents = documents.list().filter((one) => one.isRequired)
    await own.must('POST /api/auth/register', {
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
    await own.must('POST /api/auth/confirm', { code, password: PASSWORD })
    const account = await accounts.findByEmail(email)
    if (account === undefined) throw new Error(`${email} has no account`)
    return Object.assign(own, { email, book: account.book, account: account.id })
  }

  return {
    ...{ ...pay, accounts, keys, guards, pricing, cabinet, documents, lines, turned, url },
    ...{ visitor, person, upstreams, brand: ownBrand },

    /** A purchase that is paid and credited. */
    async bought(own: Visitor, pack = 'pack-35m'): Promise<contract.Order> {
      const ask = { pack, method: 'card', attempt: `a${systemClock.spanMs()}`.replace('.', '-') }
      const { body } = await own.must<contract.Order>('POST /api/orders', ask)
      await pay.sim('pay', { orderId: body.id })
      await pay.sim('settle')
      await payments.jobs.applyNotification()
      const paid = await own.must<contract.Order>(`GET /api/orders/${body.id}`)
      if (paid.body.state !== 'credited') throw new Error(`the order is ${paid.body.state}`)
      return paid.body
    },

    /** Kinds of the letters to one person, oldest first. */
    async lettersTo(recipient: string): Promise<string[]> {
      const { rows } = await db.query(
        'select kind from letters where recipient = $1 order by posted_at',
        [recipient],
      )
      return (rows as { kind: string }[]).map(({ kind }) => kind)
    },

    spend: (book: BookId, whole: number) => pay.spend(book, whole),

    async end() {
      await cabinet.close({ idleMs: 0, limitMs: 2_000 })
      pricing.stop()
      await pay.end()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

type Sent = { readonly origin?: string | null; readonly headers?: Record<string, string> }

/** A browser: keeps cookies, names its origin, and speaks to the cabinet over HTTP. */
export function createVisitor(url: string, ownOrigin: string = CABINET) {
  const jar = new Map<string, string>()

  function headers({ origin = ownOrigin, headers: more = {} }: Sent, isGet: boolean): Headers {
    const sent = new Headers({ 'user-agent': AGENT, 'x-real-ip': '203.0.113.7' })
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    if (cookie !== '') sent.set('cookie', cookie)
    if (!isGet) sent.set('content-type', 'application/json')
    if (!isGet && origin !== null) sent.set('origin', origin)
    for (const [name, value] of Object.entries(more)) sent.set(name, value)
    return sent
  }

  /** `ask('POST /api/orders', {…})`. */
  async function ask<T = Record<string, unknown>>(
    route: string,
    body: unknown = {},
    sent: Sent = {},
  ): Promise<Said<T>> {
    const [method = 'GET', path = ''] = route.split(' ')
    const isGet = method === 'GET'
    const response = await fetch(`${url}${path}`, {
      method,
      headers: headers(sent, isGet),
      ...(isGet ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) keep(jar, line)
    const text = await response.text()
    const said = text === '' ? {} : JSON.parse(text)
    return { status: response.status, body: said as T, headers: response.headers }
  }

  return {
    jar,
    ask,
    /** For the steps of an arrangement; the test itself asserts. */
    async must<T = Record<string, unknown>>(route: string, body: unknown = {}): Promise<Said<T>> {
      const said = await ask<T>(route, body)
      if (said.status === 200) return said
      throw new Error(`${route}: ${said.status} ${JSON.stringify(said.body)}`)
    },
    /** The code of a no, with its status: `409 refund_refused`. */
    async no(route: string, body: unknown = {}, sent: Sent = {}): Promise<string> {
      const said = await ask<Partial<contract.No>>(route, body, sent)
      return `${said.status} ${said.body.error?.code}`
    },
    headers: () => headers({}, true),
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split('; ')
  const [name = '', ...value] = pair.split('=')
  if (attributes.some((one) => /^max-age=0$/i.test(one))) jar.delete(name)
  else jar.set(name, value.join('='))
}
