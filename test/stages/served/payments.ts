// The stage of payment journeys and faults: real workers and a real cabinet as processes of their
// own, over real PostgreSQL, against the stand-ins of the bank and of the mail relay. It is a
// deployment that takes real money, so it refuses test payments. It creates orders through the
// entry file of the payments module, as the account area does. Tests shift only the clocks.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BookId, OrderId } from '../../../src/platform/ids.ts'
import type { BankOptions } from '../../../stand-ins/bank/bank.ts'
import { startMailbox } from '../../../stand-ins/mailbox/mailbox.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { sleep } from '../../support/drill.ts'
import { turnClock } from '../../support/harness.ts'
import { createTestPayments, type TestPaymentsOptions } from '../payments.ts'
import { type PaymentProcess, startPaymentProcess } from './process.ts'

export type PaymentStageOptions = {
  /** How many `work` processes. */
  readonly workers: number
  /** Settings of all processes, over those of the stage. */
  readonly env?: Readonly<Record<string, string>>
  readonly bank?: BankOptions
  /** The server that the database is made on, when not the tests' own. */
  readonly serverUrl?: string
  /** For the payments stage that creates the orders. */
  readonly yookassa?: TestPaymentsOptions['yookassa']
  readonly payments?: TestPaymentsOptions['payments']
}

export type PaymentStage = Awaited<ReturnType<typeof createPaymentStage>>

/** Sweeps come every 5 s here, so this is five of them on a busy machine. */
const WAIT_MS_MAX = 30_000

export async function createPaymentStage(options: PaymentStageOptions) {
  const mailbox = await startMailbox()
  const spoolDirectory = await mkdtemp(join(tmpdir(), 'tollgate-spool-'))
  const stage = await createTestPayments({
    bank: { isTest: false, ...options.bank },
    payments: { acceptsTestPayments: false, ...options.payments },
    ...(options.yookassa && { yookassa: options.yookassa }),
    ...(options.serverUrl && { serverUrl: options.serverUrl }),
  })
  const { bank, db, sim } = stage
  const [metricsPort = 0] = await freePorts(1)
  const env = {
    DATABASE_URL: stage.database.url,
    // Several stages share a server of a hundred connections; this much work needs few.
    DATABASE_POOL_SIZE: '4',
    DATABASE_LEDGER_CONNECTIONS: '1',
    DATABASE_LEDGER_LANES: '1',
    LEDGER_SPOOL_DIRECTORY: spoolDirectory,
    MAIL_SMTP_URL: mailbox.smtpUrl,
    YOOKASSA_URL: bank.apiUrl,
    YOOKASSA_SHOP_ID: bank.shopId,
    YOOKASSA_SECRET_KEY: bank.secretKey,
    YOOKASSA_CALLS_PER_SECOND: '100',
    PAYMENTS_MONEY: 'real',
    PAYMENTS_SWEEP_SECONDS: '5',
    CABINET_PORT: '0',
    // The bank says in this header which address it sends from.
    CABINET_ADDRESS_HEADER: 'x-forwarded-for',
    CABINET_TRUSTED_PROXIES: '127.0.0.1',
    METRICS_CABINET_PORT: String(metricsPort),
    METRICS_WORK_PORT: '0',
    ...options.env,
  }
  const startWorker = () => startPaymentProcess('work', env)
  const [cabinet, workers] = await Promise.all([
    startPaymentProcess('cabinet', env),
    Promise.all(Array.from({ length: options.workers }, startWorker)),
  ])
  const noticesUrl = `http://127.0.0.1:${cabinet.ready.port}/notifications/yookassa`
  await sim('settings', { webhookUrl: noticesUrl })
  const turned = { ours: 0 }
  const found = readers(db)

  /** Waits until `look` finds something and returns it; throws with the logged errors otherwise. */
  async function until<T>(
    what: string,
    look: () => Promise<T | undefined | false>,
    limitMs = WAIT_MS_MAX,
  ): Promise<T> {
    const deadline = performance.now() + limitMs
    for (;;) {
      const found = await look()
      if (found !== undefined && found !== false) return found
      if (performance.now() > deadline) {
        const complaints = [...workers, cabinet].flatMap((one) => one.complaints().slice(-5))
        throw new Error(`it never came to this: ${what}\n${complaints.join('\n')}`)
      }
      await sleep(25)
    }
  }

  return {
    ...stage,
    ...found,
    mailbox,
    env,
    cabinet,
    /** The running workers; a program that kills one replaces it here. */
    workers,
    startWorker,
    /** Where the provider sends its notices. */
    noticesUrl,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    until,

    /** Waits until an order is in one of the states. */
    untilState: (id: OrderId, ...states: string[]) =>
      until(`order ${id} is ${states.join(' or ')}`, async () => {
        const state = await found.stateOf(id)
        return states.includes(state) && state
      }),

    /** An order of a new account, waiting for its payer. */
    async bought(changes: Parameters<typeof stage.buy>[1] = {}) {
      const book = await stage.newBook()
      const { id, confirmation, state } = await stage.buy(book, changes)
      return { book, id, confirmation, state }
    },

    /** Moves our clock and the bank's forward, each by its own time. */
    async turn(by: { readonly oursSeconds?: number; readonly theirsSeconds?: number }) {
      turned.ours += by.oursSeconds ?? 0
      await turnClock(db, `${turned.ours} seconds`)
      if (by.theirsSeconds) await sim('advance', { seconds: by.theirsSeconds })
    },

    /** Queues a job now that cron queues each minute or hour. */
    async runJob(name: string): Promise<void> {
      await db.query('select graphile_worker.add_job($1)', [name])
    },

    async end() {
      // Other tests cover the graceful stop; here it would wait for idle connections.
      await Promise.all([...workers, cabinet].map((one: PaymentProcess) => one.kill()))
      await stage.end()
      await mailbox.close()
      await rm(spoolDirectory, { recursive: true, force: true })
    },
  }
}

type Db = Awaited<ReturnType<typeof createTestPayments>>['db']

export type NoticeSeen = {
  readonly event: string
  readonly outcome: string | null
  readonly tries: number
}

/** Reads the tables as an auditor would. */
function readers(db: Db) {
  return {
    /** Entries of the ledger that an order made, and what triggered the credit. */
    async credit(id: OrderId) {
      const { rows } = await db.query(
        `select o.credited_by as by, o.provider_payment_id as "paymentId",
           extract(epoch from o.credited_at - o.captured_at)::float8 as seconds,
           (select count(*)::int4 from entries e where e.kind = 'purchase' and e.ref = o.id)
             as entries,
           (select coalesce(sum(amount), 0)::int8 from entries e
            where e.kind = 'purchase' and e.ref = o.id) as amount
         from orders o where o.id = $1`,
        [id],
      )
      return rows[0] as {
        by: string | null
        paymentId: string | null
        seconds: number | null
        entries: number
        amount: bigint
      }
    },

    async stateOf(id: OrderId): Promise<string> {
      const { rows } = await db.query('select state from orders where id = $1', [id])
      return (rows[0] as { state: string }).state
    },

    /** The notices about an order's payment, oldest first. */
    async notices(paymentId: string | null): Promise<NoticeSeen[]> {
      const { rows } = await db.query(
        `select event, outcome, tries from payment_notices
         where provider_payment_id = $1 order by id`,
        [paymentId],
      )
      return rows as NoticeSeen[]
    },

    /** Every review of an order. */
    async reviews(id: OrderId) {
      const { rows } = await db.query(
        `select reason, detail, has_money as "hasMoney" from payment_reviews
         where order_id = $1 order by id`,
        [id],
      )
      return rows as { reason: string; detail: string; hasMoney: boolean }[]
    },

    async countNotices(): Promise<number> {
      const { rows } = await db.query('select count(*)::int4 as n from payment_notices')
      return (rows[0] as { n: number }).n
    },

    /** The available credits of a book. */
    async availableOf(book: BookId): Promise<bigint> {
      const { rows } = await db.query('select available from books where id = $1', [book])
      return (rows[0] as { available: bigint }).available
    },
  }
}
