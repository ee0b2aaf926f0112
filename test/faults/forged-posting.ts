// Somebody has the owner's password: posts a purchase that no order sold, alters what a purchase
// posted and what an order sold, and switches a trigger off. Nothing refuses that; a real worker
// finds each of them within a minute, and `op audit` shows them. The short form starts the jobs
// that cron starts each minute.
import type { OrderId } from '../../src/platform/ids.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure } from '../support/drill.ts'

/** A minute until cron's next, and what the jobs take on a busy machine. */
const FOUND_MS_MAX = 75_000
const FORGED = `pay_${'f'.repeat(32)}`

type Crime = {
  readonly what: string
  commit(stage: PaymentStage, order: OrderId): Promise<unknown>
  /** True once somebody would be woken up. */
  isFound(stage: PaymentStage, order: OrderId): Promise<boolean>
}

const crimes: readonly Crime[] = [
  {
    what: 'a purchase without an order',
    commit: ({ db }) =>
      db.query(
        `select ledger_credit(min(id), 'purchase', $1, 1000000000000000, 'clearing', '')
         from books`,
        [FORGED],
      ),
    isFound: (stage) => hasFinding(stage, 'posting_without_order', FORGED),
  },
  {
    what: 'an altered posting',
    commit: ({ db }, order) =>
      db.query('update postings set amount = amount + 1 where ref = $1', [order]),
    isFound: (stage, order) => hasFinding(stage, 'posting_differs', order),
  },
  {
    what: 'an altered order',
    async commit({ db }, order) {
      await db.transaction(async (tx) => {
        await tx.query('alter table orders disable trigger orders_keep_their_word')
        await tx.query('update orders set credits = credits * 2 where id = $1', [order])
        await tx.query('alter table orders enable trigger orders_keep_their_word')
      })
    },
    isFound: (stage, order) => hasFinding(stage, 'posting_differs', order),
  },
  {
    what: 'a trigger that is switched off',
    commit: ({ db }) => db.query('alter table operator_acts disable trigger all'),
    isFound: async ({ workers }) => (workers[0]?.said('the audit found this') ?? 0) > 0,
  },
]

export const drill: Drill = async ({ isFull, say }) => {
  const stage = await createPaymentStage({ workers: 1 })
  try {
    const orders: OrderId[] = []
    for (const _ of crimes) orders.push(await purchase(stage))
    // The jobs have seen everything in order, and from now on look at what is new.
    await runJobs(stage)
    await stage.until('the first look', async () => (await idleJobs(stage)) === 0)
    ensure((await findings(stage)) === 0, 'nothing is found while nothing is wrong')
    const figures: Record<string, number> = {}
    for (const [i, { what, commit, isFound }] of crimes.entries()) {
      const order = orders[i] as OrderId
      const sinceMs = performance.now()
      await commit(stage, order)
      if (!isFull) await runJobs(stage)
      await stage.until(`${what} is found`, () => isFound(stage, order), FOUND_MS_MAX)
      figures[`${what}, seconds`] = Math.round((performance.now() - sinceMs) / 100) / 10
      say(`${what}: found`)
    }
    return figures
  } finally {
    await stage.end()
  }
}

async function purchase(stage: PaymentStage): Promise<OrderId> {
  const { id } = await stage.bought()
  await stage.sim('pay', { orderId: id })
  await stage.untilState(id, 'credited')
  return id
}

async function runJobs(stage: PaymentStage): Promise<void> {
  for (const name of ['payments-tie', 'audit']) await stage.runJob(name)
}

async function idleJobs({ db }: PaymentStage): Promise<number> {
  const { rows } = await db.query('select count(*)::int4 as n from graphile_worker._private_jobs')
  return (rows[0] as { n: number }).n
}

async function findings({ db }: PaymentStage): Promise<number> {
  const { rows } = await db.query('select count(*)::int4 as n from payment_findings')
  return (rows[0] as { n: number }).n
}

async function hasFinding({ db }: PaymentStage, rule: string, subject: string): Promise<boolean> {
  const { rows } = await db.query(
    'select from payment_findings where rule = $1 and subject = $2 and cleared_at is null',
    [rule, subject],
  )
  return rows.length > 0
}
