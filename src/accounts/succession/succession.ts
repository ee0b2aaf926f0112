// The successor of the accounts secret: encrypts with the current one what another encrypted, the
// seeds of authenticator apps and the recovery codes. In bounded batches; may be repeated, also by
// several processes at once. Only the cabinet has the secret, so it runs there, not in the worker.
// cookie-signatures.ts is about sessions.
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import { oldestOf, type SecretVersions } from '../../platform/secret-versions.ts'
import type { Throttle } from '../throttle.ts'
import * as queries from './queries.ts'

/** A row takes four short statements, about 4 ms: a batch ends within half a second. */
const BATCH = 100
/** 1,000 rows in a run, one a minute: 100,000 authenticator apps take less than two hours. */
const BATCHES_MAX = 10

export type Reencrypted = {
  /** Second factors that this run encrypted anew. */
  readonly done: number
  /** Those that are not under the current secret; those that are unreadable are among them. */
  readonly left: number
  /** Those that none of the given secrets can decrypt. */
  readonly unreadable: number
}

/** `changed`: by the owner meanwhile; the next run sees it. */
type Outcome = 'done' | 'gone' | 'changed' | 'unreadable'

export function createReencryption(options: {
  readonly db: Db
  readonly log: Log
  readonly throttle: Pick<Throttle, 'withLease'>
  readonly versions: SecretVersions
}) {
  const { db, log, throttle, versions } = options
  const [{ id: current }] = versions
  const ids = { current, known: versions.map(({ id }) => id) }
  // `after`: where the next run goes on, so that rows that fail do not hold up those behind them.
  const state = { after: '', done: 0, left: 0, unreadable: 0 }

  /**
   * better-auth removes a used recovery code only if the codes are still what it read. The lease
   * keeps the two apart: otherwise the owner's recovery code would be refused once.
   */
  function reencrypt({ id, account }: queries.SecondFactor): Promise<Outcome | undefined> {
    return throttle.withLease(`password ${account}`, async (): Promise<Outcome> => {
      const old = await queries.secondFactorFind(db, id)
      if (old === undefined) return 'gone'
      const texts = await encryptAnew(old, versions)
      if (texts === undefined) return 'unreadable'
      return (await queries.secondFactorReplace(db, old, texts)) ? 'done' : 'changed'
    })
  }

  async function runBatch(limit: number) {
    const rows = await queries.secondFactorListFormer(db, { ...ids, after: state.after, limit })
    const outcomes: (Outcome | undefined)[] = []
    for (const row of rows) outcomes.push(await reencrypt(row))
    const isEnd = rows.length < limit
    state.after = isEnd ? '' : (rows.at(-1)?.id ?? '')
    return { outcomes, isEnd }
  }

  async function run({ batch = BATCH, batchesMax = BATCHES_MAX } = {}): Promise<Reencrypted> {
    const outcomes: (Outcome | undefined)[] = []
    for (let i = 0; i < batchesMax; i++) {
      const batchRun = await runBatch(batch)
      outcomes.push(...batchRun.outcomes)
      if (batchRun.isEnd) break
    }
    const count = (outcome: Outcome) => outcomes.filter((one) => one === outcome).length
    const { left, unknown } = await queries.secondFactorCount(db, ids)
    const [done, unreadable] = [count('done'), unknown + count('unreadable')]
    if (unreadable > state.unreadable) {
      log.error({ unreadable }, 'no given accounts secret can decrypt some authenticator apps')
    }
    if (done > 0) log.info({ done, left, secret: current }, 'authenticator apps encrypted anew')
    Object.assign(state, { done: state.done + done, left, unreadable })
    return { done, left, unreadable }
  }

  return {
    /** One run; the next one goes on where it ended. */
    run,
    /** For metrics: what all runs did, and what the last one found. */
    stats: () => ({ done: state.done, left: state.left, unreadable: state.unreadable }),
  }
}

/** Undefined when a text cannot be decrypted. */
async function encryptAnew({ seed, codes }: queries.SecondFactor, versions: SecretVersions) {
  // Loaded here: a gateway builds this module too, and never needs it.
  const { symmetricDecrypt, symmetricEncrypt } = await import('better-auth/crypto')
  const key = encryptionOf(versions)
  const plain = await Promise.all(
    [seed, codes].map((data) => symmetricDecrypt({ key, data }).catch(() => undefined)),
  )
  const [plainSeed, plainCodes] = plain
  if (plainSeed === undefined || plainCodes === undefined) return undefined
  return {
    seed: await symmetricEncrypt({ key, data: plainSeed }),
    codes: await symmetricEncrypt({ key, data: plainCodes }),
  }
}

/** As better-auth builds it from the options of auth/auth.ts; its version is our id. */
function encryptionOf(versions: SecretVersions) {
  return {
    keys: new Map(versions.map(({ id, secret }) => [id, secret.reveal()])),
    currentVersion: versions[0].id,
    legacySecret: oldestOf(versions).secret.reveal(),
  }
}
