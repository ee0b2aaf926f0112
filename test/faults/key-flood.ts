// Keys under attack, with two processes. A revoked key's next hold is refused by another process
// that knows the key by heart, at the instant of the commit. Made-up keys cost neither a query nor
// a run of Argon2id. Wrong secrets on a real public id do not slow a valid caller down.
import { type ChildProcess, fork } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Db } from '../../src/platform/db/db.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import type { Fault } from '../support/fault.ts'
import { hold, isWithin, percentile } from '../support/fault.ts'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  keySettings,
} from '../support/harness.ts'
import type { CallerAnswer, CallerAsk } from './support/key-caller.ts'

const PREFIX = `sk-${keySettings.slug}-api03-`
/** Cell and public id. */
const ID_LENGTH = 14

type Stats = ReturnType<ReturnType<typeof createTestKeys>['stats']>
type Caller = (asks: CallerAsk[]) => Promise<{ answers: CallerAnswer[]; stats: Stats }>

export const fault: Fault = async ({ isFull, say }) => {
  const database = await createTestDatabase()
  const ledger = await createTestLedger(database.url)
  const keys = createTestKeys(ledger.db, ledger)
  const { rows } = await database.db.query(
    `insert into tariffs (catalogue_version, model, coefficient, cache_read, cache_write_5m,
       cache_write_1h) values (1, 'model', 1, 0, 0, 0) returning id`,
  )
  const { child, call } = await otherProcess(database.url, (rows[0] as { id: number }).id)
  try {
    const book = await ledger.open(database.db)
    await database.db.transaction((tx) =>
      ledger.credit(tx, {
        book,
        kind: 'purchase',
        ref: 'p',
        amount: credits(10n ** 9n),
        contra: 'clearing',
        note: '',
      }),
    )
    const reissues = await reissue(database.db, keys, call, book, isFull ? 200 : 30)
    say(`${reissues} reissues: the old key was refused by the next hold of the other process`)
    const madeUp = await makeUp(call, 10_000)
    say(`${madeUp} made-up keys: no query, no Argon2id`)
    const { plain } = await issue(database.db, keys, book)
    const flood = await floodOf(call, plain, isFull)
    const { calmP99Ms, floodP99Ms } = flood
    say(`valid caller's p99: calm ${calmP99Ms} ms, under 1,000 wrong secrets ${floodP99Ms} ms`)
    return { reissues, madeUp, ...flood }
  } finally {
    child.kill('SIGKILL')
    await ledger.end()
    await database.drop()
  }
}

async function otherProcess(url: string, tariff: number) {
  const child: ChildProcess = fork(join(import.meta.dirname, 'support/key-caller.ts'), [
    url,
    String(tariff),
  ])
  await new Promise((resolve) => child.once('message', resolve))
  const call: Caller = (asks) =>
    new Promise((resolve) => {
      child.once('message', (message) => resolve(message as Awaited<ReturnType<Caller>>))
      child.send(asks)
    })
  return { child, call }
}

type Keys = ReturnType<typeof createTestKeys>

async function issue(db: Db, keys: Keys, book: BookId) {
  const issued = await db.transaction((tx) => keys.issue(tx, book))
  await db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
  return issued
}

/** Each round: warm in the other process, reissued here, refused there at once, on every try. */
async function reissue(db: Db, keys: Keys, call: Caller, book: BookId, rounds: number) {
  let { plain } = await issue(db, keys, book)
  const ask = (key: string) => ({ plain: key, address: '192.0.2.1' })
  for (let round = 0; round < rounds; round++) {
    const warm = await call([ask(plain), ask(plain)])
    hold(
      warm.answers.every((one) => one.outcome === 'granted'),
      'an active key is admitted',
    )
    const queriesBefore = warm.stats.queries
    const next = await issue(db, keys, book)
    const after = await call([ask(plain), ask(plain), ask(plain)])
    hold(
      after.answers.every((one) => one.outcome === 'key_revoked'),
      `the old key is refused at the commit (${after.answers.map((one) => one.outcome)})`,
    )
    // It was refused by the hold's fence, not by a look at the database: the cache was warm.
    hold(after.stats.queries === queriesBefore, 'the other process knew the key by heart')
    plain = next.plain
  }
  return rounds
}

async function makeUp(call: Caller, count: number) {
  const before = (await call([])).stats
  const asks = Array.from({ length: count }, (_, i) => ({
    // The right length and alphabet; only the tag cannot be right.
    plain: PREFIX + randomBytes(51).toString('base64url').slice(0, 68),
    address: `198.51.${i >> 8}.${i & 255}`,
  }))
  const { answers, stats } = await call(asks)
  hold(
    answers.every((one) => one.outcome === 'key_unknown'),
    'a made-up key is refused',
  )
  hold(stats.queries === before.queries, 'made-up keys cost no query')
  hold(stats.argon2.runs === before.argon2.runs, 'made-up keys cost no run of Argon2id')
  return answers.length
}

/** The same public id with another secret, and the tag that only a thief of its secret can make. */
function forge(plain: string): string {
  const untagged = plain.slice(0, PREFIX.length + ID_LENGTH) + randomBytes(32).toString('base64url')
  const tag = createHmac('sha256', keySettings.tagSecret.reveal()).update(untagged).digest()
  return untagged + tag.subarray(0, 8).toString('base64url')
}

/** The worst attacker: one who has stolen the tag secret, so that every wrong key looks real. */
async function floodOf(call: Caller, plain: string, isFull: boolean) {
  const rounds = isFull ? 5 : 3
  const valid = { plain, address: '192.0.2.7' }
  const calm: number[] = []
  const flooded: number[] = []
  let wrong = 0
  await call([valid])
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < 300; i++) calm.push((await call([valid])).answers[0]?.ms ?? Number.NaN)
    for (let i = 0; i < 300; i++) {
      const attack = Array.from({ length: 4 }, () => ({
        plain: forge(plain),
        address: '203.0.113.9',
      }))
      const { answers } = await call([...attack, valid])
      const last = answers.at(-1)
      hold(last?.outcome === 'granted', 'the valid caller is admitted during the flood')
      hold(
        answers
          .slice(0, -1)
          .every((one) => one.outcome === 'key_unknown' || one.outcome === 'key_checks_overloaded'),
        'a wrong secret is refused',
      )
      wrong += attack.length
      flooded.push(last.ms)
    }
  }
  hold(wrong >= 1_000, 'at least 1,000 wrong secrets were tried')
  const round = (ms: number) => Math.round(ms * 100) / 100
  const figures = {
    wrongSecrets: wrong,
    calmP99Ms: round(percentile(calm, 0.99)),
    floodP99Ms: round(percentile(flooded, 0.99)),
  }
  hold(
    !isFull || isWithin(figures.floodP99Ms, figures.calmP99Ms, 2),
    `p99 stays within twice of calm (${figures.floodP99Ms} of ${figures.calmP99Ms})`,
  )
  return figures
}
