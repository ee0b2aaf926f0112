// The database server and its disk are lost, twice. Restored to the end of the archive, nothing is
// missing that was acknowledged before. Restored to an earlier moment, `op restore check` names
// what was acknowledged after it: charges, purchases, and a key that was replaced; after
// `op restore repair` each is there once, the old key is refused, and the check reports nothing.

import type { BookId } from '../../../src/platform/ids.ts'
import { newHoldId } from '../../../src/platform/ids.ts'
import { isRefusal } from '../../../src/platform/refusal.ts'
import { credits } from '../../../src/units/credits.ts'
import { ONE } from '../../../src/units/price.ts'
import { noTokens, tokens } from '../../../src/units/tokens.ts'
import { createOperatorStage, type OperatorStage } from '../../stages/operator.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { startArchivedServer } from './server.ts'

const RESTORE_SECONDS_MAX = 300
const PACK = 35_000_000

/** What was acknowledged, kept apart from the database. */
type Acknowledged = {
  /** Microcredits by hold. */
  readonly charges: Map<string, bigint>
  readonly orders: Map<string, BookId>
}

type Customer = { readonly book: BookId; readonly buy: () => Promise<string> }
type Server = Awaited<ReturnType<typeof startArchivedServer>>
type Scene = {
  readonly server: Server
  readonly stage: OperatorStage
  readonly known: Acknowledged
  /** How many of the acknowledged charges and orders are from before the moment. */
  readonly before: { readonly charges: number; readonly orders: number }
  /** As PostgreSQL writes it. */
  readonly moment: string
  /** The owner of a key that was replaced after the moment, and the old key. */
  readonly replaced: { readonly book: BookId; readonly key: string }
}

export const drill: Drill = async ({ isFull, seed, say }) => {
  const server = await startArchivedServer()
  const stage = await createOperatorStage({ serverUrl: server.url })
  try {
    const scene = await play(server, stage, { isFull, pick: random(seed) })
    const endSeconds = await timed(async () => {
      await server.destroy()
      await server.restore()
    })
    await ensureComplete(stage, scene.known, 'after a restore to the end of the archive')
    await ensureRecorded(stage, isFull ? 2 : 1)
    const whole = await op(scene, 'check')
    ensure(whole.code === 0, `the check finds nothing: ${whole.out} ${whole.err}`)
    say(`restored to the end of the archive in ${endSeconds} s: nothing is missing`)

    const momentSeconds = await timed(async () => {
      await server.destroy()
      await server.restore(scene.moment)
    })
    const lost = await ensureListed(scene)
    say(`restored to ${scene.moment} in ${momentSeconds} s: ${lost.charges} charges are missing`)
    const repairSeconds = await timed(() => repair(scene))
    const slowest = Math.max(endSeconds, momentSeconds)
    if (isFull) ensure(slowest <= RESTORE_SECONDS_MAX, `a restore takes ${slowest} s`)
    return {
      ...{ charges: scene.known.charges.size, purchases: scene.known.orders.size },
      ...{ lostCharges: lost.charges, lostPurchases: lost.orders },
      ...{ endSeconds, momentSeconds, repairSeconds, megabytes: await megabytes(stage) },
    }
  } finally {
    await stage.end()
    await server.end()
  }
}

/** Customers buy, charge and replace a key: before a backup, after it, and after the moment. */
async function play(
  server: Server,
  stage: OperatorStage,
  { isFull, pick }: { readonly isFull: boolean; readonly pick: () => number },
): Promise<Scene> {
  const customers: Customer[] = []
  for (const name of ['anna', 'boris', 'clara']) {
    const person = await stage.person(name)
    customers.push({ book: person.book, buy: async () => (await stage.buyPack(person)).id })
  }
  const [anna, boris, clara] = customers as [Customer, Customer, Customer]
  const known: Acknowledged = { charges: new Map(), orders: new Map() }
  const requests = (count: number) => charge(stage, customers, known, count, pick)
  if (isFull) await fill(stage)
  for (const one of customers) known.orders.set(await one.buy(), one.book)
  const key = await issueKey(stage, clara.book)
  await requests(20)
  await server.backUp(stage.database.name)
  if (isFull) {
    // The next night: a differential backup.
    await requests(20)
    await server.backUp(stage.database.name)
  }
  await requests(isFull ? 5_000 : 300)
  const before = { charges: known.charges.size, orders: known.orders.size }
  await sleep(1_100)
  const moment = (await server.ask('select clock_timestamp()::text as value')) ?? ''
  await sleep(1_100)
  for (const one of [anna, boris]) known.orders.set(await one.buy(), one.book)
  await issueKey(stage, clara.book)
  await requests(isFull ? 5_000 : 300)
  await server.archiveAll()
  return { server, stage, known, before, moment, replaced: { book: clara.book, key } }
}

function op({ stage, moment }: Scene, verb: string) {
  const { spoolDirectory } = stage.ledger
  return stage.op(['--yes', 'restore', verb, spoolDirectory, '--since', isoOf(moment)])
}

/** `2026-11-18 03:35:24.133+00` as an operator types it. */
function isoOf(moment: string): string {
  return moment.replace(' ', 'T').replace(/\+00$/, 'Z')
}

/** Exactly what was acknowledged after the moment is lost, and the check names all of it. */
async function ensureListed(scene: Scene): Promise<{ charges: number; orders: number }> {
  const { stage, known, before, moment, replaced } = scene
  const stored = await chargesOf(stage)
  const lost = [...known.charges.keys()].filter((id) => !stored.has(id))
  ensure(lost.length === known.charges.size - before.charges, 'what came after it is lost')
  const { out, err, code } = await stage.op([
    ...['--json', 'restore', 'check', stage.ledger.spoolDirectory, '--since', isoOf(moment)],
  ])
  ensure(code === 1, `the check finds what is missing: ${out} ${err}`)
  const found = JSON.parse(out) as {
    readonly charges: readonly { readonly charges: number }[]
    readonly payments: readonly { readonly orderRef: string }[]
    readonly fences: readonly { readonly book: string }[]
  }
  const listed = found.charges.reduce((sum, one) => sum + one.charges, 0)
  ensure(listed === lost.length, `it lists all ${lost.length} lost charges, not ${listed}`)
  const refs = found.payments.map(({ orderRef }) => orderRef).sort()
  const bought = [...known.orders.keys()].slice(before.orders).sort()
  ensure(`${refs}` === `${bought}`, `it lists the lost purchases ${bought}, not ${refs}`)
  const fenced = found.fences.map(({ book }) => book)
  ensure(`${fenced}` === `${replaced.book}`, `it lists whose key was replaced: ${fenced}`)
  return { charges: lost.length, orders: bought.length }
}

async function repair(scene: Scene): Promise<void> {
  const { stage, known, replaced } = scene
  const { out, err, code } = await op(scene, 'repair')
  ensure(code === 0, `the repair ends well: ${out} ${err}`)
  await ensureComplete(stage, known, 'after the repair')
  const again = await op(scene, 'check')
  ensure(again.code === 0, `the check finds nothing any more: ${again.out}`)
  ensure(await isRefused(stage, replaced.key), 'the key that was replaced is refused')
  const [finding] = await stage.ledger.audit('all')
  ensure(finding === undefined, `the audit is empty: ${finding?.rule} ${finding?.detail}`)
}

/** Requests of random customers, one after the other in eight loops. */
async function charge(
  { ledger }: OperatorStage,
  customers: readonly Customer[],
  { charges }: Acknowledged,
  count: number,
  pick: () => number,
): Promise<void> {
  const price = {
    input: ONE,
    coefficient: ONE,
    cacheRead: ONE,
    cacheWrite5m: ONE,
    cacheWrite1h: ONE,
  }
  const tariff = await ledger.tariff({ catalogueVersion: 1, model: 'drill', price })
  let left = count
  const loop = async () => {
    while (left-- > 0) {
      const { book } = customers[Math.floor(pick() * customers.length)] as Customer
      const fence = (await ledger.balance(book))?.fence ?? 0n
      const id = newHoldId(0, Date.now())
      const priced = 1 + Math.floor(pick() * 100)
      await ledger.hold({ id, book, tariff, fence, worst: credits(200), floor: credits(1) })
      const settled = await ledger.settle({
        ...{ id, book, tariff, priced: credits(priced), caller: { key: null, fence } },
        counts: { ...noTokens, input: tokens(priced) },
        ...{ ending: 'complete', isEstimated: false, messageId: null },
      })
      ensure(!settled.isSpooled && settled.amount === credits(priced), 'a charge is taken whole')
      charges.set(id, settled.amount)
    }
  }
  await Promise.all(Array.from({ length: 8 }, loop))
}

async function issueKey({ keys, ledger }: OperatorStage, book: BookId): Promise<string> {
  return ledger.db.transaction(async (tx) => {
    const { plain, keyId } = await keys.issue(tx, book)
    await keys.confirm(tx, book, keyId)
    return plain
  })
}

async function isRefused({ keys }: OperatorStage, plain: string): Promise<boolean> {
  return keys.verify(plain, '127.0.0.1').then(
    () => false,
    (error: unknown) => isRefusal(error) && error.code === 'key_revoked',
  )
}

async function chargesOf({ db }: OperatorStage) {
  const { rows } = await db.query(
    `select hold_id as id, count(*)::int4 as times, -sum(amount)::int8 as amount
     from entries where kind = 'charge' group by hold_id`,
  )
  const found = rows as { id: string; times: number; amount: bigint }[]
  return new Map(found.map((row) => [row.id, row]))
}

/** Everything acknowledged is there once, and nothing else is. */
async function ensureComplete(
  stage: OperatorStage,
  { charges, orders }: Acknowledged,
  when: string,
): Promise<void> {
  const stored = await chargesOf(stage)
  for (const [id, amount] of charges) {
    const one = stored.get(id)
    ensure(one?.times === 1, `${when}, ${id} is charged once, not ${one?.times ?? 0} times`)
    ensure(BigInt(one.amount) === amount, `${when}, ${id} has its amount`)
  }
  ensure(stored.size === charges.size, `${when}, there are no other charges`)
  const { rows } = await stage.db.query(
    `select ref, count(*)::int4 as times, sum(amount)::int8 as amount from entries
     where kind = 'purchase' group by ref`,
  )
  const bought = rows as { ref: string; times: number; amount: bigint }[]
  for (const { ref, times, amount } of bought) {
    ensure(orders.has(ref) && times === 1, `${when}, ${ref} is credited once`)
    ensure(BigInt(amount) === credits(PACK), `${when}, ${ref} has its amount`)
  }
  ensure(bought.length === orders.size, `${when}, every purchase is credited: ${bought.length}`)
}

/** The shipped command records each backup, for the metric of their age. */
async function ensureRecorded({ db }: OperatorStage, count: number): Promise<void> {
  const { rows } = await db.query('select count(*)::int4 as count from backups')
  const recorded = (rows[0] as { count: number }).count
  ensure(recorded === count, `each of ${count} backups is recorded (${recorded})`)
}

/** About a gigabyte that a backup carries and a restore brings back. */
async function fill({ db }: OperatorStage): Promise<void> {
  await db.query('create table filler (id int8 primary key, text text not null)')
  for (let part = 0; part < 10; part++) {
    await db.query(
      `insert into filler select n, repeat(md5(n::text), 30)
       from generate_series($1::int8, $1::int8 + 99999) as n`,
      [part * 100_000],
    )
  }
}

async function megabytes({ db }: OperatorStage): Promise<number> {
  const { rows } = await db.query('select pg_database_size(current_database())::float8 as bytes')
  return Math.round((rows[0] as { bytes: number }).bytes / 1_000_000)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return Math.round((performance.now() - began) / 100) / 10
}
