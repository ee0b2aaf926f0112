// Somebody has the owner's password: posts a purchase that no order sold, alters what a purchase
// posted, what an order sold, an entry and a price list, each with the trigger switched on again in
// the same transaction, and switches a trigger off. Nothing refuses that; a real worker finds each
// of them within a minute. The short form starts the job that cron starts each minute, and the
// worker checks each second.
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
    commit: (stage, order) =>
      unseen(
        'orders',
        'orders_keep_their_word',
        `credits = credits * 2 where id = '${order}'`,
      )(stage),
    isFound: (stage, order) => hasFinding(stage, 'posting_differs', order),
  },
  {
    what: 'an altered entry',
    commit: unseen('entries', 'entries_never_change', "at = at - interval '1 s' where seq = 1"),
    isFound: async (stage) => saidTampered(stage, '"rows_changed","subject":"entries_'),
  },
  {
    what: 'an altered price list',
    commit: unseen(
      'catalogue_versions',
      'catalogue_versions_are_append_only',
      "body = body || ' ', digest = encode(sha256(convert_to(body || ' ', 'UTF8')), 'hex')",
    ),
    isFound: async (stage) => saidTampered(stage, '"rows_changed","subject":"catalogue_versions"'),
  },
  {
    what: 'a trigger that is switched off',
    commit: ({ db }) => db.query('alter table operator_acts disable trigger all'),
    isFound: async (stage) => saidTampered(stage, 'trigger_disabled'),
  },
]

/** Changes a row past a trigger, and leaves the trigger as it was. */
function unseen(table: string, trigger: string, change: string) {
  return ({ db }: PaymentStage): Promise<unknown> =>
    db.transaction(async (tx) => {
      await tx.query(`alter table ${table} disable trigger ${trigger}`)
      await tx.query(`update ${table} set ${change}`)
      await tx.query(`alter table ${table} enable trigger ${trigger}`)
    })
}

function saidTampered({ workers }: PaymentStage, text: string): boolean {
  return (workers[0]?.complaints() ?? []).some(
    (line) => line.includes('acts or triggers were tampered with') && line.includes(text),
  )
}

export const drill: Drill = async ({ isFull, say }) => {
  const env = isFull ? {} : { ACTS_CHECK_SECONDS: '1' }
  const stage = await createPaymentStage({ workers: 1, env })
  try {
    const orders: OrderId[] = []
    for (const _ of crimes) orders.push(await purchase(stage))
    // The jobs have seen everything in order, and from now on look at what is new.
    await stage.runJob('payments-tie')
    await stage.until('the first look', async () => (await idleJobs(stage)) === 0)
    ensure((await findings(stage)) === 0, 'nothing is found while nothing is wrong')
    const figures: Record<string, number> = {}
    for (const [i, { what, commit, isFound }] of crimes.entries()) {
      const order = orders[i] as OrderId
      const sinceMs = performance.now()
      await commit(stage, order)
      if (!isFull) await stage.runJob('payments-tie')
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
