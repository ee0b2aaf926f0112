// A stage for payments: real database, ledger, outbox and jobs' tables, and the real adapter
// against the stand-in of the bank. Tests shift only the clocks: the database's by
// `turnClock`, the bank's by its control calls.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RequestDetails } from '../../src/ledger/ledger.ts'
import type { PaymentsOptions } from '../../src/payments/payments.ts'
import { createPayments, openPaymentMetrics } from '../../src/payments/payments.ts'
import { createYookassa, type YookassaOptions } from '../../src/payments/yookassa/yookassa.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { newHoldId } from '../../src/platform/ids.ts'
import { createMail } from '../../src/platform/mail/mail.ts'
import { Masked } from '../../src/platform/masked.ts'
import { createMetrics } from '../../src/platform/metrics/metrics.ts'
import { credits } from '../../src/units/credits.ts'
import { kopecks } from '../../src/units/kopecks.ts'
import { millionths, ONE } from '../../src/units/price.ts'
import { noTokens, tokens } from '../../src/units/tokens.ts'
import { type BankOptions, startBank } from '../../stand-ins/bank/bank.ts'
import type { TestLedger } from '../support/harness.ts'
import { createTestDatabase, createTestLedger, quiet } from '../support/harness.ts'

export const pack = {
  id: 'pack-35m',
  title: '35 млн кредитов',
  credits: credits(35_000_000),
  priceKopecks: kopecks(130_000),
  catalogueVersion: 1,
}

export const brand = {
  name: 'Tollgate',
  supportEmail: 'help@example.org',
  cabinetUrl: 'https://cabinet.example.org',
}

export type TestPaymentsOptions = {
  readonly bank?: BankOptions
  readonly payments?: Partial<PaymentsOptions>
  readonly yookassa?: Partial<YookassaOptions>
  /** The server that the database is made on, when not the tests' own. */
  readonly serverUrl?: string
}

export type TestPayments = Awaited<ReturnType<typeof createTestPayments>>

export async function createTestPayments(options: TestPaymentsOptions = {}) {
  const database = await createTestDatabase(options.serverUrl)
  const ledger = await createTestLedger(database.stageUrl)
  const bank = await startBank(options.bank)
  // The modules' own; tests prepare and look as the owner.
  const { db: own } = ledger
  const { db } = database
  const mail = createMail({
    db: own,
    // No server listens there: tests read e-mails from the outbox.
    smtpUrl: new Masked('smtp://127.0.0.1:1'),
    ...{ from: 'Tollgate <pay@example.org>', brand },
    log: quiet,
    clock: systemClock,
  })
  const registry = createMetrics().registry
  const metrics = openPaymentMetrics(registry)
  const yookassa = () =>
    createYookassa({
      url: bank.apiUrl,
      shopId: bank.shopId,
      secretKey: new Masked(bank.secretKey),
      postTimeoutMs: 5_000,
      getTimeoutMs: 5_000,
      callsPerSecond: 10_000,
      hasSbpQr: false,
      notificationSources: 'any',
      receipt: null,
      env: 'test',
      clock: systemClock,
      onCall: metrics.countCall,
      ...options.yookassa,
    })
  const provider = yookassa()
  const closing: { stop(): Promise<void> }[] = [{ stop: () => provider.close() }]

  /** The payments module, as one more process would create it. */
  function open(changes: Partial<PaymentsOptions> = {}) {
    const payments = createPayments({
      db: own,
      ledger,
      mail,
      clock: systemClock,
      log: quiet,
      metrics,
      cell: 0,
      brand,
      providers: [yookassa()],
      provider: 'yookassa',
      isOpen: true,
      acceptsTestPayments: true,
      refundPolicy: 'prorata',
      sweepSeconds: 0,
      ...{ promoTriesPerHour: 10, refundsPerMonth: 5 },
      digestSecret: new Masked('digest secret of the tests, 32 bytes or more'),
      ...{ hasTopUps: false, timeZone: 'Europe/Moscow', receiptUrl: 'none' },
      trial: { credits: 0, perNetworkDay: 3, creditsPerDay: 0 },
      packOf: (id) => (id === pack.id ? pack : undefined),
      // The stage has no catalogue; tests that change a pack sell it in the version that they say.
      packSold: async (_, id) => (id === pack.id ? pack : undefined),
      ownerOf: async (book) => ({
        email: ownerEmail(book),
        language: 'ru',
        createdAt: new Date(0),
      }),
      endingOf: async () => undefined,
      ...options.payments,
      ...changes,
    })
    closing.push(payments)
    return payments
  }

  const payments = open()
  const state = { attempts: 0 }

  return {
    database,
    db,
    ledger,
    bank,
    mail,
    metrics,
    registry,
    payments,
    provider,
    open,
    newBook: () => ledger.createBook(db),

    /** A purchase with a new attempt, unless the changes name one. */
    buy(book: BookId, changes: Partial<Parameters<typeof payments.buy>[0]> = {}) {
      state.attempts += 1
      return payments.buy({
        book,
        email: ownerEmail(book),
        locale: 'ru',
        pack,
        method: 'card',
        attempt: `attempt ${state.attempts}`,
        returnUrl: 'https://cabinet.example.org/orders/{order}',
        ...changes,
      })
    },

    /** What payers, banks and the provider's staff do. */
    async sim(act: string, body: object = {}, method = 'POST'): Promise<Record<string, unknown>> {
      const response = await fetch(`${bank.controlUrl}/${act}`, {
        method,
        ...(method !== 'GET' && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
      if (!response.ok) throw new Error(`${act}: ${await response.text()}`)
      return (await response.json()) as Record<string, unknown>
    },

    /** Listens for the bank's notices as the cabinet does, and sets this address at the bank. */
    async intake(to: Pick<typeof payments, 'notify'> = payments): Promise<string> {
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        const peer = request.headers['x-forwarded-for']
        const { status, body } = await to.notify({
          provider: (request.url ?? '').split('/').at(-1) ?? '',
          body: Buffer.concat(chunks),
          headers: request.headers,
          peer: typeof peer === 'string' ? peer : '127.0.0.1',
        })
        response.writeHead(status).end(body)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      closing.push({
        async stop() {
          server.closeAllConnections()
          server.close()
        },
      })
      const { port } = server.address() as AddressInfo
      const webhookUrl = `http://127.0.0.1:${port}/notifications/yookassa`
      await this.sim('settings', { webhookUrl })
      return webhookUrl
    },

    /** Spends credits of a book as a request would. */
    async spend(book: BookId, whole: bigint | number, details?: RequestDetails): Promise<void> {
      await (await beginRequest(ledger, book, whole)).settle(whole, details)
    },

    /** A request that is running and may cost so many credits. */
    beginRequest: (book: BookId, whole: bigint | number) => beginRequest(ledger, book, whole),

    entries: async (book: BookId) =>
      (await ledger.statement({ book, beforeSeq: null, limit: 1_000 })).reverse(),

    /** Kinds of the e-mails in the outbox, oldest first. */
    async letters(): Promise<string[]> {
      const { rows } = await db.query('select kind from letters order by posted_at, kind')
      return (rows as { kind: string }[]).map(({ kind }) => kind)
    },

    async end() {
      for (const one of closing) await one.stop()
      await bank.close()
      mail.close()
      await ledger.end()
      await database.drop()
    },
  }
}

/** Owners have addresses of their own: promo codes and refunds are counted by address. */
const ownerEmail = (book: BookId) => `owner.${book}@example.org`

async function beginRequest(ledger: TestLedger, book: BookId, whole: bigint | number) {
  const zero = millionths(0)
  const price = {
    input: ONE,
    coefficient: zero,
    cacheRead: zero,
    cacheWrite5m: zero,
    cacheWrite1h: zero,
  }
  const tariff = await ledger.tariff({ catalogueVersion: 1, model: 'model-small', price })
  const id = newHoldId(0, systemClock.nowMs())
  const worst = credits(whole)
  const fence = (await ledger.balance(book))?.fence ?? 0n
  await ledger.hold({ id, book, tariff, fence, worst, floor: worst })
  return {
    async settle(used: bigint | number, details: RequestDetails = {}): Promise<void> {
      await ledger.settle({
        ...{ id, book, priced: credits(used), ending: 'complete', isEstimated: false, details },
        counts: { ...noTokens, input: tokens(BigInt(used)) },
        messageId: null,
      })
    },
  }
}
