// The independent record of a failover: what each client saw, kept outside of the system, and the
// comparison of it with the ledger. A reply that arrived whole must be charged exactly once.
import { holdIdOf } from '../../../src/platform/ids.ts'
import { sleep } from '../../support/drill.ts'
import type { TestDatabase } from '../../support/harness.ts'
import type { Answer } from '../support/gateway-caller.ts'

/** Charges that waited in a spool are stored when the database is back. */
const SETTLED_MS_MAX = 60_000

export type Seen = {
  readonly number: number
  readonly isLong: boolean
  readonly askedMs: number
  /** When the status 200 of a stream arrived, and so when its hold was committed. */
  headMs?: number
  endedMs?: number
  answer?: Answer
}

export type Comparison = {
  /** Whole replies, so acknowledged to a client. */
  readonly acknowledged: number
  /** Acknowledged without a charge, charged twice, charged under another id, never asked. */
  readonly lost: readonly number[]
  readonly doubled: readonly number[]
  readonly foreign: readonly number[]
  readonly openHolds: number
}

type Charge = { readonly output: number; readonly ids: readonly string[] }

/** Waits until every acknowledged request is charged, or no longer; then compares. */
export async function compare(
  seen: ReadonlyMap<number, Seen>,
  { db }: TestDatabase,
  limitMs = SETTLED_MS_MAX,
): Promise<Comparison> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const found = await compareOnce(seen, db)
    const isEven = found.lost.length === 0 && found.openHolds === 0
    if (isEven || performance.now() > deadline) return found
    await sleep(1_000)
  }
}

async function compareOnce(
  seen: ReadonlyMap<number, Seen>,
  db: TestDatabase['db'],
): Promise<Comparison> {
  const { rows } = await db.query(
    `select output::int4 as output, array_agg(hold_id::text) as ids
     from entries where kind = 'charge' group by output`,
  )
  const charges = new Map((rows as Charge[]).map((row) => [row.output, row.ids]))
  const open = await db.query(`select count(*)::int4 as n from holds where state = 'open'`)
  const whole = [...seen.values()].filter((one) => one.answer?.isWhole)
  const isForeign = ([output, ids]: readonly [number, readonly string[]]) => {
    const asked = seen.get(output)
    const requestId = asked?.answer?.requestId ?? ''
    // A client whose connection broke has seen no id.
    return asked === undefined || (requestId !== '' && !ids.includes(`${holdIdOf(requestId)}`))
  }
  return {
    acknowledged: whole.length,
    lost: whole.filter((one) => !charges.has(one.number)).map((one) => one.number),
    doubled: [...charges].filter(([, ids]) => ids.length > 1).map(([output]) => output),
    foreign: [...charges].filter(isForeign).map(([output]) => output),
    openHolds: (open.rows[0] as { n: number }).n,
  }
}

/** The longest time after `sinceMs` in which no request was admitted. */
export function writeGap(seen: Iterable<Seen>, sinceMs: number) {
  const heads = [...seen].flatMap((one) => (one.headMs === undefined ? [] : [one.headMs]))
  const later = heads.filter((ms) => ms > sinceMs - 1_000).sort((a, b) => a - b)
  let gap = { fromMs: sinceMs, toMs: later[0] ?? Number.POSITIVE_INFINITY }
  for (const [i, fromMs] of later.entries()) {
    const toMs = later[i + 1] ?? fromMs
    if (toMs - fromMs > gap.toMs - gap.fromMs) gap = { fromMs, toMs }
  }
  return { ...gap, ms: Math.round(gap.toMs - gap.fromMs) }
}
