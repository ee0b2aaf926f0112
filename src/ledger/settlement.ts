// Settling: each hold is charged once, and a reply may end only when its charge is in the database
// or on disk. A settle that the database does not take in time goes to the spool, and is sent until
// it commits. Refusals are retried as well: nearly all are faults that somebody repairs. What is
// still refused after ten minutes while other settles commit, and what the ledger answers no to,
// goes to quarantine.
import type { Clock } from '../platform/clock.ts'
import { cellOfBook, cellOfHold, holdIdOf, requestIdOf } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Credits } from '../units/credits.ts'
import type { Batcher } from './batch/batch.ts'
import type { Operation } from './batch/queue.ts'
import type { SettleInput, SettleResult } from './calls.ts'
import { settleVerb } from './calls.ts'
import type { ChargeLog } from './charge-log/charge-log.ts'
import { reasonOf } from './printable.ts'
import type { Quarantine } from './quarantine/quarantine.ts'
import type { QuarantineRule } from './quarantine/rule.ts'
import { settleFromText, settleText } from './settle-text.ts'
import type { Spool, Ticket } from './spool/spool.ts'

/**
 * Refused settles sent at once. When one is refused again, the batcher sends its whole array one by
 * one, other customers' settles too: 32 calls of 0.6 ms.
 */
const RETRIES_AT_ONCE = 32

/** The result of a settle. While it is only on disk, the charged amount is not known. */
export type Settled =
  | {
      readonly isSpooled: false
      readonly amount: Credits
      readonly writtenOff: Credits
      readonly available: Credits
    }
  | { readonly isSpooled: true }

/** Since when the database refuses a settle, how often it did, and when to send it again. */
type Refused = { readonly sinceMs: number; attempts: number; nextMs: number }

type Pending = {
  readonly input: SettleInput
  readonly sinceMs: number
  readonly deferred: PromiseWithResolvers<Settled>
  /** Its record on disk, and the spool with that file. */
  saved: { readonly spool: Spool; readonly ticket: Ticket } | undefined
  isSpooling: boolean
  operation: Operation<SettleInput, SettleResult> | undefined
  refused: Refused | undefined
  /** Why it goes to quarantine. Once set, it is not sent again by this process. */
  verdict: string | undefined
  isQuarantining: boolean
}

export type Settlement = ReturnType<typeof createSettlement>

export function createSettlement(options: {
  readonly batcher: Batcher
  readonly cell: number
  readonly spool: Spool
  readonly quarantine: Quarantine
  readonly chargeLog: Pick<ChargeLog, 'charged'>
  readonly clock: Clock
  readonly log: Log
  readonly spoolAfterMs: number
  readonly rule: QuarantineRule
}) {
  const { batcher, quarantine, chargeLog, rule, clock, log } = options
  const pending = new Set<Pending>()
  const state = { refusals: 0 }

  function submit(input: SettleInput, saved: Pending['saved']): Promise<Settled> {
    const one = newPending(input, saved, clock.spanMs())
    pending.add(one)
    send(one)
    return one.deferred.promise
  }

  function send(one: Pending): void {
    const operation = batcher.submit(settleVerb, one.input)
    one.operation = operation
    operation.result.then(
      (result) => finish(one, result),
      (error: unknown) => refuse(one, error),
    )
  }

  function finish(one: Pending, result: SettleResult): void {
    if (result.outcome !== 'settled') {
      condemn(one, `answered ${result.outcome}`)
      return
    }
    rule.accepted()
    forget(one, result.amount as Credits)
    one.deferred.resolve({
      isSpooled: false,
      amount: result.amount as Credits,
      writtenOff: (one.input.priced - result.amount) as Credits,
      available: result.available as Credits,
    })
  }

  // The database refuses a settle only because of a fault of ours or its own, and the reply has
  // been generated: the reply ends once the settle is on disk, and the settle is sent again.
  function refuse(one: Pending, error: unknown): void {
    const nowMs = clock.spanMs()
    if (one.refused === undefined) {
      state.refusals += 1
      log.error({ err: error, settle: settleText(one.input) }, 'the database refused a settle')
      one.refused = { sinceMs: nowMs, attempts: 0, nextMs: 0 }
      void toSpool(one)
    }
    const { refused } = one
    refused.nextMs = nowMs + rule.pauseMs(refused.attempts)
    refused.attempts += 1
    one.operation = undefined
    if (rule.isMet({ sinceMs: refused.sinceMs, lastMs: nowMs })) condemn(one, reasonOf(error))
  }

  /** From here on only the quarantine sends it. */
  function condemn(one: Pending, reason: string): void {
    one.verdict = reason
    one.operation = undefined
    log.fatal({ reason, settle: settleText(one.input) }, 'a settle goes to quarantine')
    void toSpool(one)
    void toQuarantine(one)
  }

  /** While the table cannot be written, the settle stays in the spool; `tick` tries again. */
  async function toQuarantine(one: Pending): Promise<void> {
    if (one.isQuarantining) return
    one.isQuarantining = true
    try {
      await quarantine.add({ input: one.input, reason: one.verdict ?? '' })
      forget(one, isNoCharge(one) ? undefined : one.input.priced)
      one.deferred.resolve({ isSpooled: true })
    } catch (error) {
      log.error({ err: error }, 'the quarantine cannot be written: the settle stays in the spool')
    } finally {
      one.isQuarantining = false
    }
  }

  function forget(one: Pending, charged: Credits | undefined): void {
    pending.delete(one)
    if (charged !== undefined) chargeLog.charged(one.input, charged)
    if (one.saved === undefined) return
    one.saved.spool.done(one.saved.ticket).catch((error: unknown) => {
      log.error({ err: error }, 'a settle stays in the spool; it will be repeated')
    })
  }

  async function toSpool(one: Pending): Promise<void> {
    if (one.saved !== undefined || one.isSpooling) return
    one.isSpooling = true
    const { spool } = options
    try {
      const ticket = await spool.append(settleText(one.input))
      one.saved = { spool, ticket }
      one.deferred.resolve({ isSpooled: true })
      // The settle committed, or went to quarantine, while the spool was being written.
      if (!pending.has(one)) await spool.done(ticket)
    } catch (error) {
      log.error({ err: error }, 'the spool is not writable: admissions stop')
    } finally {
      one.isSpooling = false
    }
  }

  /** Sends refused settles whose pause is over, some at a time. */
  function retryRefused(nowMs: number): void {
    let sent = 0
    for (const one of pending) {
      if (one.refused === undefined || one.verdict !== undefined) continue
      if (one.operation !== undefined) sent += 1
      else if (one.refused.nextMs <= nowMs && sent < RETRIES_AT_ONCE) {
        sent += 1
        send(one)
      }
    }
  }

  /** A damaged page or a failing disk refuses one book's settles, while those of others commit. */
  function condemnFaulty(): void {
    for (const one of pending) {
      const fault = one.operation?.serverFault
      if (fault === undefined || !rule.isMet(fault)) continue
      if (one.operation !== undefined) one.operation.isDropped = true
      condemn(one, reasonOf(fault.error))
    }
  }

  async function replay(spool: Spool) {
    const { tickets, files, processes } = await spool.claimOrphans((text) =>
      canSend(text, options.cell),
    )
    if (files > 0) log.info({ settles: tickets.length, processes }, 'replaying a spool')
    const settles = tickets.map((ticket) => submit(settleFromText(ticket.text), { spool, ticket }))
    return { files, processes, settles }
  }

  return {
    /** Charges a hold. Resolves when the charge is durable; repeatable by id. */
    settle: (input: SettleInput): Promise<Settled> => submit(input, undefined),

    /** Moves waiting settles to disk, and sends refused ones again. Call it often. */
    async tick(): Promise<void> {
      const nowMs = clock.spanMs()
      retryRefused(nowMs)
      condemnFaulty()
      const work = [...pending].map((one) => {
        if (one.verdict !== undefined) return Promise.all([toSpool(one), toQuarantine(one)])
        const isLate = one.refused !== undefined || nowMs - one.sinceMs >= options.spoolAfterMs
        return isLate ? toSpool(one) : undefined
      })
      await Promise.all(work)
      // Last: a database that hangs must not keep settles from the disk.
      await rule.ask([...pending].filter(isRefused).map(({ sinceMs }) => sinceMs))
    },

    /** Before the process ends: writes to disk every settle that exists only in memory. */
    async spoolAll(): Promise<void> {
      await Promise.all([...pending].map(toSpool))
    },

    /**
     * Claims the spool files of dead processes and sends their settles. Returns the processes of
     * which no file is left, and a promise for each settle.
     */
    replay,

    /** For metrics: settles that the database refuses now, and refusals since the start. */
    refused: () => ({
      waiting: [...pending].filter(isRefused).length,
      total: state.refusals,
    }),
  }
}

function newPending(input: SettleInput, saved: Pending['saved'], sinceMs: number): Pending {
  return {
    ...{ input, sinceMs, saved, deferred: Promise.withResolvers<Settled>() },
    ...{ isSpooling: false, isQuarantining: false },
    ...{ operation: undefined, refused: undefined, verdict: undefined },
  }
}

/** The request was given back, or is charged by another settle: this one is not to be taken. */
function isNoCharge({ verdict }: Pending): boolean {
  return verdict === 'answered voided' || verdict === 'answered mismatch'
}

function isRefused({ refused, verdict, operation }: Pending): boolean {
  return refused !== undefined || verdict !== undefined || operation?.serverFault !== undefined
}

/** A newer version may have written the text, or a process of another cell. */
function canSend(text: string, cell: number): boolean {
  try {
    const { id, book } = settleFromText(text)
    const isHoldId = holdIdOf(requestIdOf(id)) === id
    return isHoldId && cellOfHold(id) === cell && cellOfBook(book) === cell
  } catch {
    return false
  }
}
