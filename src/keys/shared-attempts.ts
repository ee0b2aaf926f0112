// Shares the counts of wrong keys with the other processes through the database, so that the limit
// holds for the fleet. It runs after the answer to a wrong key, never before one, and not at all
// for good keys. A sender may pass the limit by what it sends to each process during one round
// trip. While the database is away, each process goes on with its own counts.
import { createHmac, createSecretKey } from 'node:crypto'
import type { Executor } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import { oldestOf, secretVersionsOf } from '../platform/secret-versions.ts'
import type { Attempts, SenderCount } from './attempts.ts'
import * as queries from './queries.ts'

/** Rows of one statement. A flood from more addresses than this is shared in several. */
const SENDERS_MAX = 256
/** Between full statements, so that such a flood writes at most 2,560 rows a second. */
const FULL_GAP_MS = 100
/** After a failure: the database may be away for the 18-25 s of a failover. */
const RETRY_MS = 2_000
const DIGEST_BYTES = 16

export function createSharedAttempts(options: {
  readonly db: Executor
  readonly log: Log
  readonly attempts: Attempts
  readonly lookupSecret: Masked<string>
}) {
  const { db, log, attempts } = options
  // Processes of two steps of a succession share the oldest. When that is withdrawn, a sender gets
  // its allowance once more, of one minute.
  const { secret: shared } = oldestOf(secretVersionsOf(options.lookupSecret))
  const secret = createSecretKey(Buffer.from(shared.reveal(), 'utf8'))
  /** One statement at a time; `isWaiting`: the next one has been scheduled. */
  const state = { isSharing: false, isWaiting: false, isFailing: false }

  /** All processes have the same secret, so they make the same digest. */
  function digestOf(network: string): Buffer {
    const digest = createHmac('sha256', secret).update(`sender of wrong keys ${network}`).digest()
    return digest.subarray(0, DIGEST_BYTES)
  }

  function share(): void {
    if (state.isSharing || state.isWaiting || attempts.unsharedSize() === 0) return
    state.isSharing = true
    void exchange().then((waitMs) => {
      state.isSharing = false
      if (waitMs === 0) share()
      else later(waitMs)
    })
  }

  function later(waitMs: number): void {
    state.isWaiting = true
    setTimeout(() => {
      state.isWaiting = false
      share()
    }, waitMs).unref()
  }

  /** Never rejects. Resolves with the time to wait before the next statement. */
  async function exchange(): Promise<number> {
    const taken = attempts.takeUnshared(SENDERS_MAX)
    try {
      await send(taken)
      state.isFailing = false
      return taken.length === SENDERS_MAX ? FULL_GAP_MS : 0
    } catch (error) {
      attempts.giveBack(taken)
      if (!state.isFailing) log.warn({ err: error }, 'wrong keys are counted per process for now')
      state.isFailing = true
      return RETRY_MS
    }
  }

  async function send(taken: readonly SenderCount[]): Promise<void> {
    const byDigest = new Map(taken.map((one) => [digestOf(one.network), one]))
    const networks = new Map([...byDigest].map(([digest, one]) => [digest.toString('hex'), one]))
    const rows = await queries.wrongKeysAdd(
      db,
      [...byDigest].map(([sender, { wrong }]) => ({ sender, wrong })),
    )
    for (const { sender, wrong, leftMs } of rows) {
      const network = networks.get(sender.toString('hex'))?.network
      if (network !== undefined && attempts.learn(network, wrong, leftMs)) {
        log.warn({ address: network }, 'an address sends wrong keys')
      }
    }
  }

  return { share }
}
