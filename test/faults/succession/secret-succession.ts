// The tag, lookup and accounts secrets get successors while messages and streams run and owners use
// the cabinet: real gateway and cabinets, restarted one after the other at each step. No request
// fails, no key is refused, no session is lost, and authenticator apps work at every step. Then the
// former secrets are withdrawn: keys that they made are refused, all others and the authenticator
// apps work.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Pool } from 'undici'
import { Masked } from '../../../src/platform/masked.ts'
import { credits } from '../../../src/units/credits.ts'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage, type Serving } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { createTestKeys, createTestLedger, keySettings } from '../../support/harness.ts'
import { call } from '../support/gateway-caller.ts'
import { describe, SHORT_IDLE, startLoad } from '../support/gateway-load.ts'
import { enrol, signIn, startVisits } from '../support/owners.ts'
import { type Cabinets, startCabinets } from './cabinets.ts'

const NAMES = ['tag', 'lookup', 'accounts'] as const
type Name = (typeof NAMES)[number]
type Texts = Record<Name, string>
/** Streams that stay open while processes are replaced: one event every 250 ms. */
const STREAM_FAULT = 'pace-ms=250'
const REENCRYPTED_MS_MAX = 60_000
/** Below the number of wrong keys that an address may send in a minute. */
const FORMER_TRIED = 5
/** Output tokens, apart from those of the load. */
const WITHDRAWN_NUMBER = 900_000

type Stage = Awaited<ReturnType<typeof createGatewayStage>>

export const drill: Drill = async ({ isFull, seed, say }) => {
  const owners = isFull ? 5 : 2
  const stage = await createGatewayStage(20)
  const vendor = await startVendor({ requestsMax: 1_000_000 })
  const secrets = await createSecretFiles()
  const common = { DATABASE_URL: stage.database.url, ...secrets.env }
  const starting = startCabinets(() => ({ ...common, ...secrets.accountsEnv }))
  try {
    const serving = await stage.serve({
      ...{ GATEWAY_PROCESSES: isFull ? '2' : '1', UPSTREAM_URL: vendor.url },
      ...{ KEYS_TAG_SECRET: '', KEYS_LOOKUP_SECRET: '' },
      ...(!isFull && { GATEWAY_DRAIN_IDLE_SECONDS: String(SHORT_IDLE.drainSeconds) }),
      ...secrets.env,
    })
    const cabinets = await starting
    const keys = [...stage.keys]
    const place = { stage, serving, cabinets, secrets, keys, newest: new Set<string>() }
    await makeKeys(place, ['imported'])
    const people = []
    for (let i = 0; i < owners; i++) {
      people.push(await enrol(cabinets, stage.database, `owner-${i}`))
    }
    const visits = startVisits(people)
    const load = startTraffic(serving, keys, {
      ...{ ...TRAFFIC[isFull ? 'full' : 'short'], draw: random(seed) },
      idle: isFull ? {} : { keepAliveMaxTimeout: SHORT_IDLE.clientMs },
    })
    // In the full form each secret has its own succession, otherwise all three at once.
    const rounds: Name[][] = isFull ? NAMES.map((name) => [name]) : [[...NAMES]]
    for (const names of rounds) {
      await succeed(place, names)
      for (const owner of people) visits.add(await signIn(cabinets, owner, 'recovery'))
      say(`${names.join(', ')}: both accepted, then the second made`)
    }
    await untilReencrypted(stage, '2')
    const [visited, answered] = await Promise.all([visits.stop(), load.stop()])
    const refused = await withdraw(place, isFull ? 2 : 1)
    for (const owner of people) await signIn(cabinets, owner, 'app')
    say(`withdrawn: ${refused} keys of the first secrets are refused, ${place.newest.size} work`)
    ensure((await serving.stop()) === 0, 'the gateway exits with 0')
    const { swept } = await stage.check()
    ensure(swept === 0, `the sweep finds no open hold (${swept})`)
    return { ...answered, ...visited, keys: keys.length, withdrawn: refused }
  } finally {
    await (await starting).end()
    await vendor.close()
    await stage.end()
    await secrets.end()
  }
}

type Place = {
  readonly stage: Stage
  readonly serving: Serving
  readonly cabinets: Cabinets
  readonly secrets: Awaited<ReturnType<typeof createSecretFiles>>
  /** The load uses keys as soon as they are added. */
  readonly keys: string[]
  /** Those that the second secret made. */
  readonly newest: Set<string>
}

/** Two steps: every process accepts the second secret, then every process makes with it. */
async function succeed(place: Place, names: readonly Name[]): Promise<void> {
  const { secrets } = place
  for (const step of ['accept', 'make'] as const) {
    for (const name of names) {
      const [first, second] = [`1:${secrets.first[name]}`, `2:${secrets.second[name]}`]
      secrets.texts[name] = step === 'accept' ? `${first},${second}` : `${second},${first}`
    }
    // A cabinet that is at the step already issues keys for gateways that are not.
    await restartAll(place, () => makeKeys(place, ['issued', 'imported']))
  }
}

async function restartAll(
  { serving, cabinets, secrets }: Place,
  meanwhile: () => Promise<void>,
  count = 2,
): Promise<void> {
  await secrets.write()
  const replaced = serving.said('every process was replaced') + 1
  serving.parent.kill('SIGHUP')
  await meanwhile()
  await Promise.all([
    serving.until('every process was replaced', replaced),
    cabinets.restart(count),
  ])
}

/** The third step. Keys of the former secrets end; returns how many were tried. */
async function withdraw(place: Place, cabinetCount: number): Promise<number> {
  const { secrets, serving, keys, newest } = place
  for (const name of NAMES) secrets.texts[name] = `2:${secrets.second[name]},`
  await restartAll(place, async () => undefined, cabinetCount)
  const agent = new Agent()
  const ask = (key: string) =>
    call(agent, serving.url, { number: WITHDRAWN_NUMBER, key, isStream: false, reply: 'text 1' })
  // First those that work: so many wrong keys would close the address to keys not yet verified.
  for (const key of newest) {
    const { isWhole, error } = await ask(key)
    ensure(isWhole, `a key of the second secret works after the first was withdrawn (${error})`)
  }
  const former = keys.filter((key) => !newest.has(key)).slice(-FORMER_TRIED)
  for (const key of former) {
    const { status, error, sentence } = await ask(key)
    const isRefused = status === 401 && error === '401 authentication_error'
    ensure(isRefused, `a key of a withdrawn secret is refused (${error} ${sentence})`)
    ensure(sentence === 'invalid x-api-key', `and the answer says why (${sentence})`)
  }
  await agent.close()
  return former.length
}

/** Keys of new accounts with credits, made as a process with these secrets makes them. */
async function makeKeys(
  { stage, secrets: { texts }, keys: made, newest }: Place,
  kinds: readonly ('issued' | 'imported')[],
): Promise<void> {
  const { db } = stage.database
  const ledger = await createTestLedger(stage.database.url)
  const keys = createTestKeys(ledger.db, ledger, {
    tagSecret: new Masked(texts.tag),
    lookupSecret: new Masked(texts.lookup),
  })
  for (const kind of kinds) {
    const book = await ledger.createBook(db)
    const amount = credits(10n ** 11n)
    const ref = `pack of ${kind} ${book}`
    const pack = { book, kind: 'purchase', ref, amount, contra: 'clearing', note: '' } as const
    await db.transaction((tx) => ledger.credit(tx, pack))
    const plain = `sk-vendor-03-${randomBytes(24).toString('base64url')}`
    const key = await db.transaction(async (tx) => {
      if (kind === 'imported') {
        await keys.importKey(tx, book, plain)
        return plain
      }
      const issued = await keys.issue(tx, book)
      await keys.confirm(tx, book, issued.keyId)
      return issued.plain
    })
    made.push(key)
    if (texts[kind === 'issued' ? 'tag' : 'lookup'].startsWith('2:')) newest.add(key)
  }
  await ledger.end()
}

/** `words`: of a stream, at four a second. */
type Traffic = { readonly perSecond: number; readonly streams: number; readonly words: number }

const TRAFFIC: Record<'full' | 'short', Traffic> = {
  full: { perSecond: 100, streams: 50, words: 40 },
  short: { perSecond: 30, streams: 5, words: 8 },
}

/** Steady messages, and streams that are open all the time. */
function startTraffic(
  { url }: Serving,
  keys: readonly string[],
  options: Traffic & { readonly draw: () => number; readonly idle: Pool.Options },
) {
  const numbers = { last: 0 }
  const pool = new Pool(url, { connections: 100, pipelining: 1, ...options.idle })
  const agent = new Agent(options.idle)
  const { perSecond, draw } = options
  const load = startLoad({ dispatcher: pool, url, keys, perSecond, numbers, draw })
  const state = { isEnding: false, count: 0 }
  const broken: Awaited<ReturnType<typeof call>>[] = []
  const streaming = Array.from({ length: options.streams }, async () => {
    while (!state.isEnding) {
      numbers.last += 1
      const key = keys[numbers.last % keys.length] as string
      const answer = await call(agent, url, {
        ...{ number: numbers.last, key, isStream: true, fault: STREAM_FAULT },
        reply: `text ${options.words}`,
      })
      state.count += 1
      if (!answer.isWhole) broken.push(answer)
    }
  })
  return {
    async stop() {
      state.isEnding = true
      const { failed, ...figures } = await load.stop()
      await Promise.all(streaming)
      await Promise.all([pool.close(), agent.close()])
      const refused = [...failed, ...broken].filter(({ status }) => status === 401).length
      ensure(refused === 0, `no key is refused (${refused})`)
      ensure(failed.length === 0, `no request fails (${describe(failed)})`)
      ensure(broken.length === 0, `no stream breaks (${describe(broken)})`)
      return { ...figures, failed: failed.length, refused, streams: state.count }
    },
  }
}

/** Waits until the cabinets have encrypted all second factors with this secret. */
async function untilReencrypted({ database }: Stage, id: string): Promise<void> {
  const deadline = performance.now() + REENCRYPTED_MS_MAX
  for (;;) {
    const { rows } = await database.db.query(
      `select count(*)::int4 as left from second_factors
       where split_part(secret, '$', 3) <> $1 or split_part(recovery_codes, '$', 3) <> $1`,
      [id],
    )
    const { left } = rows[0] as { left: number }
    if (left === 0) return
    ensure(performance.now() < deadline, `the cabinets encrypt anew (${left} are left)`)
    await sleep(50)
  }
}

/** The secrets as files, as a deployment has them. */
async function createSecretFiles() {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-secrets-'))
  const newSecret = () => randomBytes(32).toString('hex')
  const first: Texts = {
    tag: keySettings.tagSecret.reveal(),
    lookup: keySettings.lookupSecret.reveal(),
    accounts: newSecret(),
  }
  const second: Texts = { tag: newSecret(), lookup: newSecret(), accounts: newSecret() }
  const texts = { ...first }
  const write = async () => {
    for (const name of NAMES) await writeFile(join(folder, name), texts[name], { mode: 0o600 })
  }
  await write()
  return {
    ...{ first, second, texts, write },
    env: {
      KEYS_TAG_SECRET_FILE: join(folder, 'tag'),
      KEYS_LOOKUP_SECRET_FILE: join(folder, 'lookup'),
    },
    accountsEnv: { ACCOUNTS_SECRET_FILE: join(folder, 'accounts') },
    end: () => rm(folder, { recursive: true, force: true }),
  }
}
