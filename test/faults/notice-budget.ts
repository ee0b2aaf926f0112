// The owner of one unpaid order sends thousands of notifications about it, with made-up payments,
// events and texts of up to 60 KB, from one address and from a botnet. The table of notifications
// stays below 1 MB, genuine notifications are answered as fast as otherwise, and the worker credits
// them without the sweep's help, at the provider's limit of calls.
import { pack } from '../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, isWithin, percentile } from '../support/drill.ts'
import type { FloodAnswer } from './support/notification-flooder.ts'
import {
  type Answered,
  createNotifier,
  prioritize,
  prioritizeDatabase,
  startFlooder,
} from './support/notifier.ts'

/** A quarter of what the cabinet handles at once; each sends as fast as it is answered. */
const CONNECTIONS = 8
const BYTES_MAX = 1_000_000
const ANSWER_MS_MAX = 50
/** The worker looks every second; then it reads one payment after the other. */
const CREDIT_MS_MAX = 5_000
/** Three events, each read at once and then at pauses that double: few in a minute. */
const READS_MAX = 30
/** Ten purchases a second: half of the twenty that a worker reads in a second. */
const GENUINE_PAUSE_MS = 100
const CALLS_PER_SECOND = '20'

type Turn = FloodAnswer & {
  readonly calm: readonly Answered[]
  readonly flooded: readonly Answered[]
}

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull
    ? { flood: 10_000, turns: 5, calm: 30, genuine: 90 }
    : { flood: 500, turns: 1, calm: 10, genuine: 30 }
  prioritize(0)
  const stage = await createPaymentStage({
    workers: 1,
    // Without notifications nothing would be credited before the program ends.
    env: { PAYMENTS_SWEEP_SECONDS: '300', YOOKASSA_CALLS_PER_SECOND: CALLS_PER_SECOND },
  })
  await prioritizeDatabase(stage)
  const flooder = await startFlooder()
  const provider = createNotifier(stage, GENUINE_PAUSE_MS)
  try {
    const own = await stage.bought()
    const { paymentId } = await stage.credit(own.id)
    ensure(paymentId !== null, 'the unpaid order has a payment')
    const before = await measure(stage, paymentId)
    const turns: Turn[] = []
    for (let i = 0; i < size.turns; i++) {
      await provider.prepare(size.calm + size.genuine)
      const calm = await provider.send((sent) => sent < size.calm)
      const state = { isOver: false }
      const flooding = flooder
        .flood({
          url: stage.noticesUrl.replace(/\/yookassa$/, ''),
          ...{ count: size.flood / size.turns, connections: CONNECTIONS, seed: seed + i },
          ...{ replays: [], victims: [], own: { order: own.id, paymentId } },
        })
        .finally(() => {
          state.isOver = true
        })
      const flooded = await provider.send(() => !state.isOver)
      turns.push({ calm, flooded, ...(await flooding) })
    }
    const after = await measure(stage, paymentId)
    const delays = await creditDelays(stage, provider.sentAtMs)
    const figures = {
      bytesGrown: after.bytes - before.bytes,
      rowsOfOrder: after.rows,
      readsOfOrder: after.reads - before.reads,
      ...figuresOf(turns),
      creditP99Ms: Math.round(percentile(delays, 0.99)),
      creditMaxMs: Math.round(Math.max(...delays)),
    }
    say(`${figures.flood} notifications in ${figures.seconds} s, ${figures.genuine} genuine`)
    judge(figures, turns)
    if (isFull) judgeTimes(figures)
    ensure((await stage.stateOf(own.id)) === 'pending', 'the unpaid order is not credited')
    const findings = await stage.ledger.audit('all')
    ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule})`)
    return figures
  } finally {
    flooder.child.kill('SIGKILL')
    await provider.close()
    await stage.end()
  }
}

/** The size of the table, the rows of the flooding order, and how often it was read. */
async function measure(stage: PaymentStage, paymentId: string) {
  const { rows } = await stage.db.query(
    `select pg_total_relation_size('payment_notices')::int4 as bytes,
       (select count(*)::int4 from payment_notices
        where order_id = (select id from orders where provider_payment_id = $1)) as rows`,
    [paymentId],
  )
  const { calls } = await stage.sim('calls?method=GET&last=100000', {}, 'GET')
  const paths = (calls as { path: string }[]).map(({ path }) => path)
  const known = await paidIds(stage)
  const reads = paths.filter(
    (path) => /\/payments\/[^?]+$/.test(path) && !known.has(path.split('/').at(-1) ?? ''),
  )
  return { ...(rows[0] as { bytes: number; rows: number }), reads: reads.length }
}

async function paidIds({ db }: PaymentStage): Promise<Set<string>> {
  const { rows } = await db.query(
    `select provider_payment_id as id from orders where book_id <> (select min(id) from books)`,
  )
  return new Set((rows as { id: string }[]).map(({ id }) => id))
}

/** From sending a genuine notification to its credit; all must be credited by a notification. */
async function creditDelays(stage: PaymentStage, sentAtMs: ReadonlyMap<string, number>) {
  const read = async () => {
    const { rows } = await stage.db.query(
      `select provider_payment_id as id, extract(epoch from credited_at)::float8 * 1000 as "atMs",
         credited_by as by
       from orders where credited_at is not null`,
    )
    return rows as { id: string; atMs: number; by: string }[]
  }
  const credited = await stage.until(
    'every genuine payment whose notification was sent is credited',
    async () => {
      const rows = await read()
      return rows.length === sentAtMs.size && rows
    },
    60_000,
  )
  ensure(
    credited.every(({ by }) => by === 'webhook'),
    'notifications led to the credits, and not the sweep',
  )
  const sum = await stage.db.query(`select sum(available)::int8 as sum from books`)
  const expected = pack.credits * BigInt(credited.length)
  ensure((sum.rows[0] as { sum: bigint }).sum === expected, 'the balances equal the paid packs')
  return credited.map(({ id, atMs }) => atMs - (sentAtMs.get(id) ?? 0))
}

/** The median of the turns' p99, so that other load during one turn does not count. */
function medianP99(turns: readonly (readonly Answered[])[]): number {
  const p99s = turns.map((answers) =>
    percentile(
      answers.map(({ ms }) => ms),
      0.99,
    ),
  )
  return Math.round(percentile(p99s, 0.5))
}

function figuresOf(turns: readonly Turn[]) {
  const answers: Record<string, number> = {}
  for (const turn of turns) {
    for (const [name, count] of Object.entries(turn.answers)) {
      answers[name] = (answers[name] ?? 0) + count
    }
  }
  const flood = Object.values(answers).reduce((sum, count) => sum + count, 0)
  const seconds = turns.reduce((sum, turn) => sum + turn.seconds, 0)
  return {
    flood,
    seconds: Math.round(seconds),
    perSecond: Math.round(flood / seconds),
    genuine: turns.reduce((sum, { flooded }) => sum + flooded.length, 0),
    calmP99Ms: medianP99(turns.map(({ calm }) => calm)),
    floodP99Ms: medianP99(turns.map(({ flooded }) => flooded)),
    answers: Object.entries(answers)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', '),
  }
}

function judge(
  figures: {
    readonly bytesGrown: number
    readonly rowsOfOrder: number
    readonly readsOfOrder: number
  },
  turns: readonly Turn[],
): void {
  const genuine = turns.flatMap(({ flooded }) => flooded)
  const refused = genuine.filter(({ status }) => status !== 200).length
  ensure(refused <= genuine.length / 50, `at most 2 % of the genuine ones get 503 (${refused})`)
  const wrong = turns
    .flatMap(({ answers }) => Object.keys(answers))
    .filter((name) => !/^own (?:200|429|503)$/.test(name))
  ensure(wrong.length === 0, `the flood gets 200, 429 or 503 (${wrong})`)
  const { bytesGrown, rowsOfOrder, readsOfOrder } = figures
  ensure(bytesGrown <= BYTES_MAX, `the table grows by at most 1 MB (${bytesGrown} bytes)`)
  ensure(rowsOfOrder <= 3, `the order has a row for each event (${rowsOfOrder})`)
  ensure(readsOfOrder <= READS_MAX, `the flood costs few calls to the provider (${readsOfOrder})`)
}

function judgeTimes(figures: {
  readonly calmP99Ms: number
  readonly floodP99Ms: number
  readonly creditP99Ms: number
}): void {
  const { calmP99Ms: calm, floodP99Ms: flood, creditP99Ms } = figures
  // On a machine that is slow even without the flood, twice the calm time is enough.
  const isFast = flood <= ANSWER_MS_MAX || isWithin(flood, calm, 2)
  ensure(isFast, `p99 of genuine notifications is at most 50 ms (${flood}, calm ${calm})`)
  ensure(creditP99Ms <= CREDIT_MS_MAX, `credits are not delayed (${creditP99Ms} ms)`)
}
