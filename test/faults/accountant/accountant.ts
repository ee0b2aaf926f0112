// After a random month (purchases, refunds, disputes, promo codes, adjustments, late captures,
// requests that end after midnight, an erased person) every figure of today and of the month is
// what plain SQL and the bank say, to the microcredit and the kopeck. A sealed month stays, and
// what comes late is a correction of the next one.
import { type Drill, ensure } from '../../support/drill.ts'
import { compareMonth, compareToday } from './compare.ts'
import * as deeds from './deeds.ts'
import { createWorld, type World } from './world.ts'

const FULL = { books: 40, ticks: 60, deeds: 12, requests: 26_000 }
const SHORT = { books: 5, ticks: 8, deeds: 6, requests: 400 }
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

type Say = (text: string) => void

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull ? FULL : SHORT
  const startedMs = performance.now()
  const world = await createWorld(seed)
  try {
    const cast = deeds.newCast()
    for (let i = 0; i < size.books; i++) cast.books.push(await world.stage.newBook())
    const figures = await playMonth(world, cast, size, say)
    const findings = await world.ledger.audit('all')
    const wrong = findings.filter(({ rule }) => rule !== 'hold_overdue')
    ensure(wrong.length === 0, `the audit finds nothing: ${wrong.map(({ rule }) => rule)}`)
    ensure(!isFull || figures.requests >= 20_000, `a whole month of requests (${figures.requests})`)
    return { ...figures, seconds: Math.round((performance.now() - startedMs) / 1_000) }
  } finally {
    await world.end()
  }
}

async function playMonth(world: World, cast: deeds.Cast, size: typeof FULL, say: Say) {
  const [month, next] = world.months
  const lengthMs = month.toMs - month.fromMs
  const inside = Array.from(
    { length: size.ticks },
    (_, i) => month.fromMs + (lengthMs * (i + 0.37)) / size.ticks,
  )
  const edges = [month.fromMs - 3 * DAY_MS, month.fromMs - HOUR_MS, month.toMs - 20 * MINUTE_MS]
  const ticks = [...edges, ...inside].toSorted((a, b) => a - b)
  const each = Math.ceil(size.requests / ticks.length)
  let compared = 0
  await world.jumpTo(month.fromMs - 4 * DAY_MS)
  await deeds.buyFirstPacks(world, cast)
  for (const [i, ms] of ticks.entries()) {
    await tick(world, cast, { ms, deeds: size.deeds, requests: each })
    if (i === Math.floor(ticks.length / 2)) await deeds.closeAndErase(world, cast)
    if (i % 4 === 3) compared += await compareToday(world, await world.reports.today())
  }
  say(`${each * ticks.length} requests in ${ticks.length} steps`)

  await deeds.captureLate(world, cast)
  await world.jumpTo(month.toMs + HOUR_MS)
  for (const settle of cast.running.splice(0)) await settle()
  await tick(world, cast, { ms: month.toMs + 2 * HOUR_MS, deeds: size.deeds, requests: each })
  compared += await compareMonth(world, month, await world.reports.month(month.name))
  compared += await compareToday(world, await world.reports.today())
  await sealAndCorrect(world, cast, [month, next], say)
  const { rows } = await world.db.query(
    `select count(*)::int4 as entries,
       (count(*) filter (where kind in ('charge', 'void')))::int4 as requests from entries`,
  )
  return { compared, ...(rows[0] as { entries: number; requests: number }) }
}

async function tick(
  world: World,
  cast: deeds.Cast,
  p: { readonly ms: number; readonly deeds: number; readonly requests: number },
): Promise<void> {
  await world.jumpTo(p.ms)
  for (let i = 0; i < p.deeds; i++) await deeds.doSomething(world, cast)
  await deeds.sendRequests(world, cast, p.requests)
  await deeds.runJobs(world)
}

type Months = World['months']

/** The month is sealed; then late captures of it become known. */
async function sealAndCorrect(world: World, cast: deeds.Cast, [month, next]: Months, say: Say) {
  const { reports, payments, db } = world
  const seal = async (name: string) => {
    const prepared = await reports.prepareSeal(name)
    await db.transaction((tx) => reports.storeSeal(tx, prepared, 'olga'))
  }
  await world.jumpTo(month.toMs + DAY_MS)
  await seal(month.name)
  const before = await reports.month(month.name)
  ensure(before.differences.length === 0, 'a new count finds what was sealed')

  await world.jumpTo(month.toMs + 2 * DAY_MS)
  const takenIn = async () => (await reports.month(month.name)).figures.money.taken
  const sealed = await takenIn()
  for (const id of cast.unseen.splice(0)) await payments.check(id)
  const after = await reports.month(month.name)
  ensure(after.figures.money.taken === sealed, 'a sealed month keeps its figures')
  const late = lateOf(after.differences)
  const open = await reports.month(next.name)
  ensure(
    lateOf(open.corrections.filter(({ about }) => about === month.name)) === late,
    'what became known is a correction of the month in which it did',
  )
  ensure(late > 0n, 'a late capture of the sealed month became known')
  say(`late captures of the sealed month: ${late} kopecks`)

  await world.jumpTo(next.toMs + DAY_MS)
  await compareMonth(world, next, await reports.month(next.name))
  await seal(next.name)
  const first = await reports.month(month.name)
  ensure(lateOf(first.differences) === late, 'the seal and the new count differ as before')
  const after2 = next.toMs + HOUR_MS
  const third = new Date(after2 + 12 * HOUR_MS).toISOString().slice(0, 7)
  const { corrections } = await reports.month(third)
  ensure(corrections.length === 0, `a correction is reported once: ${corrections[0]?.figure}`)
}

const lateOf = (
  differences: readonly { section: string; figure: string; unit: string; difference: bigint }[],
) =>
  differences.find(
    ({ section, figure, unit }) => section === 'money' && figure === 'taken' && unit === 'roubles',
  )?.difference ?? 0n
