// Runs ledger tables: lines that an accountant can read, against a real ledger. A line says which
// book does what, what is expected, and what is then available, held and owed; a line without these
// three expects them as they were. A table runs by single rows, or as arrays: neighbouring lines of
// one verb, for three customers who do the same, in one call of the database.
import assert from 'node:assert/strict'
import { ledgerSession } from '../../src/ledger/ledger.ts'
import { Fault } from '../../src/platform/assert.ts'
import type { Tx } from '../../src/platform/db/db.ts'
import { openClient } from '../../src/platform/db/db.ts'
import type { BookId, HoldId } from '../../src/platform/ids.ts'
import { newHoldId } from '../../src/platform/ids.ts'
import { createLog } from '../../src/platform/log.ts'
import { isRefusal } from '../../src/platform/refusal.ts'
import { credits, wholeCredits } from '../../src/units/credits.ts'
import { ONE } from '../../src/units/price.ts'
import { noTokens, tokens } from '../../src/units/tokens.ts'
import type { TestDatabase, TestLedger } from './harness.ts'
import { createTestLedger, settingsOf, turnClock } from './harness.ts'

export type Form = 'single rows' | 'arrays'
type Line = { book: string; verb: string; words: string[]; expected: string; after: string }
/** One customer's names: books and requests. Postings happen once, so references are prefixed. */
type Customer = { readonly books: Map<string, BookId>; readonly ids: Map<string, HoldId> }
type Desk = { ledger: TestLedger; database: TestDatabase; tariff: number }
type Play = Desk & { book: BookId; idOf(name: string): HoldId; refOf(name: string): string }

/** Verbs that travel in batches; neighbours of one verb share a call. */
const BATCHED = ['hold', 'settle', 'void']
/** Words that only help reading. */
const PADDING = ['floor', 'fence', 'of', 'as', 'per']

export async function createTableRunner(database: TestDatabase, form: Form) {
  const sent: string[] = []
  const ledger = await createTestLedger(database.url, {
    connect: () => overheard(database.url, sent),
    log: createLog({ level: 'silent' }),
  })
  const price = {
    input: ONE,
    coefficient: ONE,
    cacheRead: ONE,
    cacheWrite5m: ONE,
    cacheWrite1h: ONE,
  }
  const tariff = await ledger.tariff({ catalogueVersion: 1, model: 'model', price })
  const desk: Desk = { ledger, database, tariff }

  /** Runs a table for customers of its own; fails with the line whose result differs. */
  async function run(table: string): Promise<void> {
    sent.length = 0
    await turnClock(database.db, '0')
    const customers = Array.from({ length: form === 'arrays' ? 3 : 1 }, (): Customer => {
      return { books: new Map(), ids: new Map() }
    })
    const expected = new Map<string, string>()
    for (const group of groupsOf(linesOf(table), form)) {
      const plays = await Promise.all(
        customers.map((customer) => Promise.all(group.map((line) => playOf(desk, customer, line)))),
      )
      await Promise.all(
        group.flatMap((line, i) =>
          // All customers share the database's clock, so shift it once.
          (line.verb === 'clock' ? plays.slice(0, 1) : plays).map(async (play) => {
            assert.equal(await outcomeOf(line, play[i] as Play), line.expected, textOf(line))
          }),
        ),
      )
      for (const line of group) if (line.after !== '') expected.set(line.book, line.after)
      for (const [i, line] of group.entries()) {
        for (const play of plays) {
          const after = expected.get(line.book) ?? '0 0 0'
          assert.equal(await bookText(play[i] as Play), after, `after: ${textOf(line)}`)
        }
      }
    }
    const calls = sent.filter((name) => name !== 'beat')
    for (const name of calls) assert.equal(name.endsWith('_many'), form === 'arrays', name)
  }

  return { run, audit: () => ledger.audit('all'), end: () => ledger.end() }
}

function linesOf(table: string): Line[] {
  return table
    .split('\n')
    .map((text) => text.replace(/#.*/, '').trim())
    .filter((text) => text !== '' && !text.startsWith('book '))
    .map((text) => {
      const [book = '', deed = '', expected = '', ...after] = text.split(/\s{2,}/)
      assert.ok(expected !== '', `two spaces stand between columns: ${text}`)
      const [verb = '', ...words] = deed.split(' ').filter((word) => !PADDING.includes(word))
      return { book, verb, words, expected, after: after.join(' ') }
    })
}

function groupsOf(lines: Line[], form: Form): Line[][] {
  const groups: Line[][] = []
  for (const line of lines) {
    const last = groups.at(-1)
    const mayJoin = form === 'arrays' && BATCHED.includes(line.verb)
    if (mayJoin && last?.[0]?.verb === line.verb) last.push(line)
    else groups.push([line])
  }
  return groups
}

async function playOf(desk: Desk, customer: Customer, line: Line): Promise<Play> {
  const { books, ids } = customer
  if (!books.has(line.book)) {
    // 'nobody' has the id of a book that does not exist.
    const isNobody = line.book === 'nobody'
    books.set(
      line.book,
      isNobody ? ((1n << 39n) as BookId) : await desk.ledger.createBook(desk.ledger.db),
    )
  }
  const book = books.get(line.book) as BookId
  const idOf = (name: string) => {
    const id = ids.get(name) ?? newHoldId(0, Date.now())
    ids.set(name, id)
    return id
  }
  // A reference is unique per customer, not per book.
  const refOf = (name: string) => `${[...books.values()][0]} ${name}`
  return { ...desk, book, idOf, refOf }
}

/** What happened, in the table's words: a refusal by its code, a bug as 'fault'. */
async function outcomeOf(line: Line, play: Play): Promise<string> {
  const verb = verbs[line.verb]
  assert.ok(verb !== undefined, `no verb for: ${textOf(line)}`)
  try {
    return await verb(play, ...line.words)
  } catch (error) {
    if (isRefusal(error)) return error.code
    if (error instanceof Fault) return 'fault'
    throw error
  }
}

async function bookText(play: Play): Promise<string> {
  const book = await play.ledger.balance(play.book)
  if (book === undefined) return '0 0 0'
  return [book.available, book.held, book.debt].map(wholeCredits).join(' ')
}

function textOf(line: Line): string {
  return [line.book, line.verb, ...line.words].join(' ')
}

const amountOf = (word = '0') => credits(BigInt(word))

type VerbOfTable = (play: Play, ...words: string[]) => Promise<string>

const verbs: Record<string, VerbOfTable> = {
  async hold({ ledger, book, tariff, idOf }, id = '', worst, floor, fence = '0') {
    const ask = { id: idOf(id), book, tariff, fence: BigInt(fence) }
    const { granted } = await ledger.hold({
      ...ask,
      worst: amountOf(worst),
      floor: amountOf(floor),
    })
    return `granted ${wholeCredits(granted)}`
  },
  async settle({ ledger, book, idOf }, id = '', priced = '0', ending = 'complete') {
    const settled = await ledger.settle({
      id: idOf(id),
      book,
      counts: { ...noTokens, input: tokens(BigInt(priced)) },
      priced: amountOf(priced),
      ending: ending as 'complete',
      isEstimated: false,
      messageId: `msg ${id}`,
    })
    // The database is available here, so a spooled charge means that it was refused.
    if (settled.isSpooled) return 'fault'
    const lost = settled.writtenOff === 0n ? '' : `, lost ${wholeCredits(settled.writtenOff)}`
    return `charged ${wholeCredits(settled.amount)}${lost}`
  },
  async void({ ledger, book, tariff, idOf }, id = '', ending = 'refused') {
    const ask = { id: idOf(id), book, tariff, ending: ending as 'refused', reason: 'a table' }
    return (await ledger.void(ask)).outcome
  },
  purchase: (play, amount, ref) => credit(play, 'purchase', amount, ref),
  promo: (play, amount, ref) => credit(play, 'promo', amount, ref),
  transfer: (play, amount, ref) => credit(play, 'transfer', amount, ref),
  adjust: (play, amount, ref = '') =>
    post(play, (tx, p) =>
      play.ledger.adjust(tx, {
        ...p,
        ref: play.refOf(ref),
        amount: amountOf(amount),
        contra: 'loss',
      }),
    ),
  refund: (play, amount, lot = '', ref = '') =>
    post(play, async (tx, p) => {
      const seq = await lotOf(play, lot)
      return play.ledger.refund(tx, {
        ...p,
        lot: seq,
        ref: play.refOf(ref),
        amount: amountOf(amount),
      })
    }),
  reverse: (play, ref = '', lot = '') =>
    post(play, async (tx, p) => {
      return play.ledger.reverseRefund(tx, {
        ...p,
        lot: await lotOf(play, lot),
        ref: play.refOf(ref),
      })
    }),
  force: (play, amount, ref = '', lot) =>
    post(play, async (tx, p) => {
      const seq = lot === undefined ? null : await lotOf(play, lot)
      const debit = { lot: seq, ref: play.refOf(ref), amount: amountOf(amount) }
      return play.ledger.forceDebit(tx, { ...p, ...debit, contra: 'clearing' })
    }),
  /** The unspent credits of each lot. */
  async lots({ ledger, book }) {
    const lots = await ledger.lots(book)
    return lots.map((lot) => `${lot.ref.split(' ')[1]} ${wholeCredits(lot.unspent)}`).join(', ')
  },
  async limit({ ledger, book }, what, amount, seconds = '3600') {
    const velocitySeconds = Number(seconds)
    const none = { dayLimit: null, velocityLimit: null, velocitySeconds }
    const limit = { [what === 'day' ? 'dayLimit' : 'velocityLimit']: amountOf(amount) }
    await ledger.setLimits(ledger.db, book, what === 'none' ? none : { ...none, ...limit })
    return 'done'
  },
  async block({ ledger, book }, reason) {
    await ledger.block(ledger.db, book, reason as 'operator_blocked')
    return 'done'
  },
  async resume({ ledger, book }, reason) {
    const isLifted = await ledger.resume(ledger.db, book, reason as 'operator_blocked')
    return isLifted ? 'done' : 'not so'
  },
  async raise({ ledger, book }) {
    return `fence ${await ledger.db.transaction((tx) => ledger.raiseFence(tx, book))}`
  },
  async clock({ database }, ...interval) {
    await turnClock(database.db, interval.join(' '))
    return 'done'
  },
}

async function post(
  { ledger, book }: Play,
  work: (tx: Tx, p: { book: BookId; note: string }) => Promise<{ isRepeat: boolean }>,
): Promise<string> {
  const { isRepeat } = await ledger.db.transaction((tx) => work(tx, { book, note: 'a table' }))
  return isRepeat ? 'repeated' : 'posted'
}

async function credit(
  play: Play,
  kind: 'purchase' | 'promo' | 'transfer',
  word: string | undefined,
  ref = '',
): Promise<string> {
  const contra = kind === 'promo' ? 'promo' : 'clearing'
  const posting = { ref: play.refOf(ref), amount: amountOf(word) }
  return post(play, (tx, p) => play.ledger.credit(tx, { ...p, ...posting, kind, contra }))
}

async function lotOf({ ledger, book, refOf }: Play, name: string): Promise<bigint> {
  const lots = await ledger.lots(book)
  return lots.find((lot) => lot.ref === refOf(name))?.seq ?? 0n
}

/** A connection of the ledger that notes the names of the statements it sends. */
function overheard(url: string, sent: string[]) {
  const client = openClient(settingsOf(url), 'ledger', ledgerSession)
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  client.query = ((statement: { name?: string }, ...rest: unknown[]) => {
    // What a new connection verifies has no name.
    if (statement.name !== undefined) sent.push(statement.name)
    return query(statement, ...rest)
  }) as typeof client.query
  return client
}
