// The stage of the cabinet in a browser: the cabinet and a worker as separate processes, the
// stand-ins for bank and mail, and people created through the cabinet's own HTTP API. Purchases go
// through the bank; spending goes through the ledger, also on past days.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type APIRequestContext, request } from 'playwright-core'
import type * as contract from '../../../src/cabinet/contract/contract.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { type BookId, newHoldId, type OrderId } from '../../../src/platform/ids.ts'
import { type Credits, credits } from '../../../src/units/credits.ts'
import { costOf, ONE, type Price } from '../../../src/units/price.ts'
import { noTokens, type TokenCounts, tokens } from '../../../src/units/tokens.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { PASSWORD } from '../../stages/accounts.ts'
import { createPaymentStage } from '../../stages/served/payments.ts'
import { turnClock } from '../../support/harness.ts'
import { documentFiles } from './documents.ts'

/** The prices of catalogue.example.yaml. */
const price: Price = {
  input: ONE,
  coefficient: (ONE * 5n) as typeof ONE,
  cacheRead: (ONE / 10n) as typeof ONE,
  cacheWrite5m: ((ONE * 5n) / 4n) as typeof ONE,
  cacheWrite1h: (ONE * 2n) as typeof ONE,
}
/** The default browser of people. */
const AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 ' +
  'Safari/537.36'
/** An e-mail takes a second; on a busy machine, several. */
const EMAIL_MS_MAX = 60_000

export type RequestUsage = {
  readonly model: string
  readonly counts: Partial<Record<Count, number>>
}
type Count = keyof TokenCounts
/** `ask('POST /api/orders', {…})`; fails unless the answer is 200. */
type Asks = { ask<T = unknown>(route: string, body?: object): Promise<T> }
type Purchase = { readonly pack?: string; readonly method?: contract.Method }

export type ScreensStage = Awaited<ReturnType<typeof createScreensStage>>
export type Person = Awaited<ReturnType<ScreensStage['person']>>

export async function createScreensStage() {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-screens-'))
  for (const [name, text] of Object.entries(documentFiles)) {
    await writeFile(join(directory, name), text)
  }
  const [port = 0] = await freePorts(1)
  // By host name, not by IP address: passkeys are bound to a host name.
  const url = `http://localhost:${port}`
  const stage = await createPaymentStage({
    workers: 1,
    env: {
      CABINET_PORT: String(port),
      BRAND_CABINET_URL: url,
      BRAND_DOCUMENTS_FILE: join(directory, 'documents.yaml'),
      BRAND_REQUISITES: 'ООО «Пример»|ИНН 7700000000|ОГРН 1027700000000',
      GATEWAY_PUBLIC_URL: 'https://api.example.org',
      ACCOUNTS_ANSWER_MS: '50',
      ACCOUNTS_FRESH_MINUTES: '600',
      ACCOUNTS_ADDRESS_PER_MINUTE: '10000',
      ACCOUNTS_LETTERS_PER_HOUR: '1000',
      YOOKASSA_RECEIPTS: 'on',
      PAYMENTS_HAS_TOP_UPS: 'true',
      YOOKASSA_HAS_SBP_QR: 'true',
    },
  })
  const { db, ledger, mailbox, sim } = stage
  const opened: APIRequestContext[] = []
  const counter = { attempts: 0 }

  /** The newest e-mail of a kind, and the code in its link. */
  async function codeFor(email: string, kind: string): Promise<string> {
    const [found] = await mailbox.wait({ to: email, kind }, EMAIL_MS_MAX)
    const code = /#code=([\w-]+)/.exec(found?.text ?? '')?.[1]
    if (code === undefined) throw new Error(`no ${kind} came to ${email}`)
    return code
  }

  /** An HTTP client that keeps cookies and sends an origin, like a browser. */
  async function client(
    userAgent: string = AGENT,
  ): Promise<Asks & { readonly http: APIRequestContext }> {
    const extraHTTPHeaders = { origin: url }
    const http = await request.newContext({ baseURL: url, extraHTTPHeaders, userAgent })
    opened.push(http)
    return {
      http,
      async ask<T = unknown>(route: string, body: object = {}): Promise<T> {
        const [method = 'GET', path = ''] = route.split(' ')
        const options = method === 'GET' ? { method } : { method, data: body }
        const response = await http.fetch(path, options)
        if (response.ok()) return (await response.json()) as T
        throw new Error(`${route}: ${response.status()} ${await response.text()}`)
      },
    }
  }

  return {
    ...{ ...stage, url, codeFor, client },

    /** A person with a confirmed account, signed in. */
    async person(name: string) {
      const email = `${name}@example.org`
      const { http, ask } = await client()
      const { documents } = await ask<contract.Brand>('GET /api/brand')
      const consents = documents.filter((one) => one.isRequired)
      await ask('POST /api/auth/register', {
        ...{ email, password: PASSWORD, language: 'ru' },
        consents: consents.map(({ document, version }) => ({ document, version })),
      })
      const code = await codeFor(email, 'confirm-email')
      await ask('POST /api/auth/confirm', { code, password: PASSWORD })
      const { account } = await ask<contract.Me>('GET /api/me')
      const { rows } = await db.query('select book_id as book from accounts where id = $1', [
        account,
      ])
      return { email, account, book: (rows[0] as { book: BookId }).book, ask, http }
    },

    /** An order that waits for its payer. */
    async placeOrder(own: Asks, purchase: Purchase = {}): Promise<OrderId> {
      counter.attempts += 1
      const { pack = 'pack-35m', method = 'card' } = purchase
      const attempt = `attempt-${counter.attempts}`
      const { id } = await own.ask<contract.Order>('POST /api/orders', { pack, method, attempt })
      return id as OrderId
    },

    /** A purchase that is paid and credited. */
    async buyAndPay(own: Asks, purchase: Purchase = {}): Promise<OrderId> {
      const id = await this.placeOrder(own, purchase)
      await sim('pay', { orderId: id })
      await this.checkUntilState(own, id, 'credited')
      return id
    },

    /** Polls an order as its page does, until it has this state. */
    async checkUntilState(own: Asks, id: OrderId, ...states: string[]): Promise<void> {
      await own.ask(`POST /api/orders/${id}/check`)
      await stage.untilState(id, ...states)
    },

    /** Creates an active key; returns its plain value. */
    async issueKey(own: Asks): Promise<string> {
      const { id, plain } = await own.ask<contract.NewKey>('POST /api/key')
      await own.ask(`POST /api/key/${id}/confirm`)
      return plain
    },

    /** One request to a model, charged as the gateway would. */
    async chargeRequest(book: BookId, { model, counts }: RequestUsage): Promise<void> {
      const used = countsOf(counts)
      const priced = pricedOf(used)
      const tariff = await ledger.tariff({ catalogueVersion: 1, model, price })
      const fence = (await ledger.balance(book))?.fence ?? 0n
      const id = newHoldId(0, systemClock.nowMs())
      await ledger.hold({ id, book, tariff, fence, worst: priced, floor: priced })
      const ending = { ending: 'complete', isEstimated: false, messageId: null } as const
      await ledger.settle({ id, book, counts: used, priced, ...ending })
    },

    /** A request that is still running: its worst case is held. */
    async holdRequest(book: BookId, worst: number): Promise<void> {
      const tariff = await ledger.tariff({ catalogueVersion: 1, model: 'model-large', price })
      const fence = (await ledger.balance(book))?.fence ?? 0n
      const id = newHoldId(0, systemClock.nowMs())
      await ledger.hold({ id, book, tariff, fence, worst: credits(worst), floor: credits(1) })
    },

    /** Marks the total spent, as the worker does twice a week. */
    async markPace(book: BookId, mark: 'pace' | 'mark'): Promise<void> {
      await db.query(
        `update guards set ${mark}_at = ledger_now(),
           ${mark}_spent = (select spent_total from books where id = $1) where book_id = $1`,
        [book],
      )
    },

    /** Runs the work as of some time ago, such as `3 days`, by the ledger's clock. */
    async ago(interval: string, work: () => Promise<void>): Promise<void> {
      await turnClock(db, `${interval} ago`)
      // A new database has no partitions of past days.
      await db.query(`select ledger_entries_day_make((ledger_now() at time zone 'UTC')::date)`)
      await work()
      await turnClock(db, '0 days')
    },

    async end() {
      for (const http of opened) await http.dispose()
      await stage.end()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function countsOf(counts: RequestUsage['counts']): TokenCounts {
  const given = Object.entries(counts).map(([name, count]) => [name, tokens(count)])
  return { ...noTokens, ...Object.fromEntries(given) }
}

function pricedOf(counts: TokenCounts): Credits {
  const each = { output: price.coefficient, ...price }
  const names = Object.keys(noTokens) as Count[]
  return names.reduce((sum, name) => sum + costOf(counts[name], each[name]), 0n) as Credits
}
