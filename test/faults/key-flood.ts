// Keys under attack, with two processes. A process that has a key in its cache refuses the next
// hold as soon as another process has committed the key's reissue. Made-up keys cost neither a
// query nor a run of Argon2id. Wrong secrets on a real public id do not slow a valid caller down.
import { type ChildProcess, fork } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Db } from '../../src/platform/db/db.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, isWithin, percentile } from '../support/drill.ts'
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

export const drill: Drill = async ({ isFull, say }) => {
  const database = await createTestDatabase()
  const ledger = await createTestLedger(database.url)
  const keys = createTestKeys(ledger.db, ledger)
  const { rows } = await database.db.query(
    `insert into tariffs (catalogue_version, model, coefficient, cache_read, cache_write_5m,
       cache_write_1h) values (1, 'model', 1, 0, 0, 0) returning id`,
  )
  const { child, call } = await otherProcess(database.url, (rows[0] as { id: number }).id)
  try {
    const book = await ledger.createBook(database.db)
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

/** Each round: the other process caches the key, we reissue it, the other process refuses it. */
async function reissue(db: Db, keys: Keys, call: Caller, book: BookId, rounds: number) {
  let { plain } = await issue(db, keys, book)
  const ask = (key: string) => ({ plain: key, address: '192.0.2.1' })
  for (let round = 0; round < rounds; round++) {
    const warm = await call([ask(plain), ask(plain)])
    ensure(
      warm.answers.every((one) => one.outcome === 'granted'),
      'an active key is accepted',
    )
    const queriesBefore = warm.stats.queries
    const next = await issue(db, keys, book)
    const after = await call([ask(plain), ask(plain), ask(plain)])
    ensure(
      after.answers.every((one) => one.outcome === 'key_revoked'),
      `the old key is refused after the commit (${after.answers.map((one) => one.outcome)})`,
    )
    // The hold's fence refused it: the other process did not read the key from the database.
    ensure(after.stats.queries === queriesBefore, 'the other process had the key in its cache')
    plain = next.plain
  }
  return rounds
}

async function makeUp(call: Caller, count: number) {
  const before = (await call([])).stats
  const asks = Array.from({ length: count }, (_, i) => ({
    // Right length and alphabet, wrong tag.
    plain: PREFIX + randomBytes(51).toString('base64url').slice(0, 68),
    address: `198.51.${i >> 8}.${i & 255}`,
  }))
  const { answers, stats } = await call(asks)
  ensure(
    answers.every((one) => one.outcome === 'key_unknown'),
    'a made-up key is refused',
  )
  ensure(stats.queries === before.queries, 'made-up keys cost no query')
  ensure(stats.argon2.runs === before.argon2.runs, 'made-up keys cost no run of Argon2id')
  return answers.length
}

/** The same public id with another secret, and a valid tag, which needs the stolen tag secret. */
function forge(plain: string): string {
  const untagged = plain.slice(0, PREFIX.length + ID_LENGTH) + randomBytes(32).toString('base64url')
  const tag = createHmac('sha256', keySettings.tagSecret.reveal()).update(untagged).digest()
  return untagged + tag.subarray(0, 8).toString('base64url')
}

/** The worst case: the attacker has stolen the tag secret, so the tag check stops no wrong key. */
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
      ensure(last?.outcome === 'granted', 'the valid caller is accepted during the flood')
      ensure(
        answers
          .slice(0, -1)
          .every((one) => one.outcome === 'key_unknown' || one.outcome === 'key_checks_overloaded'),
        'a wrong secret is refused',
      )
      wrong += attack.length
      flooded.push(last.ms)
    }
  }
  ensure(wrong >= 1_000, 'at least 1,000 wrong secrets were tried')
  const round = (ms: number) => Math.round(ms * 100) / 100
  const figures = {
    wrongSecrets: wrong,
    calmP99Ms: round(percentile(calm, 0.99)),
    floodP99Ms: round(percentile(flooded, 0.99)),
  }
  ensure(
    !isFull || isWithin(figures.floodP99Ms, figures.calmP99Ms, 2),
    `p99 is at most twice the calm one (${figures.floodP99Ms}, calm ${figures.calmP99Ms} ms)`,
  )
  return figures
}
