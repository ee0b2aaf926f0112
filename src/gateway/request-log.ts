// The request log: one line for each finished request, for operators. It has ids, the account, the
// model, counts, times, sizes and how the request ended; never text of a conversation and never a
// key. A refused or failed request has its code in the same line.
import type { Clock } from '../platform/clock.ts'
import type { RequestId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Failure } from './answers.ts'
import { endOf } from './ending.ts'
import type { Exchange } from './exchange.ts'
import { vendorRequestId } from './journal.ts'

/**
 * Lines per second about requests without a valid key. Everybody can send those, and owners of
 * revoked keys too, at any rate; 50 a second are at most 1.5 GB a day. The next line says how many
 * were left out; metrics count all of them.
 */
const WITHOUT_KEY_MAX = 50
const SECOND_MS = 1_000

const MESSAGE = 'request'

export function createRequestLog({ log, clock }: { readonly log: Log; readonly clock: Clock }) {
  const state = { secondFromMs: 0, written: 0, omitted: 0 }

  function isOverLimit(): boolean {
    const nowMs = clock.spanMs()
    if (nowMs - state.secondFromMs >= SECOND_MS) {
      state.secondFromMs = nowMs
      state.written = 0
    }
    if (state.written >= WITHOUT_KEY_MAX) {
      state.omitted += 1
      return true
    }
    state.written += 1
    return false
  }

  /** How many lines were left out since the last one that says so; undefined: none. */
  function takeOmitted(): number | undefined {
    const { omitted } = state
    if (omitted === 0) return undefined
    state.omitted = 0
    return omitted
  }

  return {
    /** `route` is the label of the path, as in metrics. */
    write(exchange: Exchange, route: string, failure: Failure | undefined): void {
      const level = failure?.level ?? 'info'
      if (!log.isEnabled(level)) return
      if (exchange.journal.keyId === undefined && level === 'info' && isOverLimit()) return
      const line = lineOf(exchange, route, failure, takeOmitted())
      const { detail, err } = failure ?? {}
      if (detail === undefined && err === undefined) log.record(level, line, MESSAGE)
      else log[level]({ ...line, detail, err }, MESSAGE)
    },

    /** Bytes that did not become a request; they were answered all the same. */
    writeUnparsed(request: RequestId, status: number, problem: string): void {
      if (!log.isEnabled('info') || isOverLimit()) return
      const code = `http_${problem}`
      const line = { request, status, ending: 'refused', code, omitted: takeOmitted() }
      log.record('info', line, MESSAGE)
    },
  }
}

export type RequestLog = ReturnType<typeof createRequestLog>

/**
 * One flat object with the same members in the same order for every request: V8 then keeps one
 * hidden class for all of them. The log leaves out members that are undefined. A text here is an
 * id, a word of ours, or one that `wordOf` has checked.
 */
function lineOf(
  exchange: Exchange,
  route: string,
  failure: Failure | undefined,
  omitted: number | undefined,
) {
  const { journal, clientReply, clientRequest, startedMs } = exchange
  const { ending, ms, bytesReceived, bytesSent } = endOf(exchange, exchange.clock.spanMs())
  const { counts, keyCheckedMs, parsedMs, heldMs, sentMs, firstByteMs, endedMs } = journal
  return {
    request: exchange.requestId,
    vendorRequest: vendorRequestId(journal),
    messageId: journal.messageId,
    book: journal.book?.toString(),
    keyId: journal.keyId,
    route,
    method: clientRequest.method,
    status: clientReply.statusCode || undefined,
    ending: isFault(exchange, failure) ? 'fault' : ending,
    code: failure?.code,
    model: journal.model,
    target: journal.target,
    attempts: journal.attempts === 0 ? undefined : journal.attempts,
    isStream: journal.isStream,
    inputTokens: numberOf(counts?.input),
    outputTokens: numberOf(counts?.output),
    cacheReadTokens: numberOf(counts?.cacheRead),
    cacheWriteTokens: counts && Number(counts.cacheWrite5m + counts.cacheWrite1h),
    isEstimated: journal.isEstimated,
    keyMs: spanOf(startedMs, keyCheckedMs),
    bodyMs: spanOf(keyCheckedMs, parsedMs),
    holdMs: spanOf(parsedMs, heldMs),
    routeMs: spanOf(heldMs, sentMs),
    statusMs: spanOf(sentMs, firstByteMs),
    replyMs: spanOf(firstByteMs, endedMs),
    settleMs: spanOf(endedMs, journal.settledMs),
    totalMs: spanOf(0, ms),
    bytesIn: clientRequest.bodyBytes,
    bytesOut: bytesSent,
    upstreamBytes: bytesReceived,
    omitted,
  }
}

/** An error of ours that was the answer. */
function isFault({ ending, endedBy }: Exchange, failure: Failure | undefined): boolean {
  if (ending !== undefined || endedBy !== undefined) return false
  return failure !== undefined && failure.code === undefined
}

function numberOf(count: bigint | undefined): number | undefined {
  return count === undefined ? undefined : Number(count)
}

/** Milliseconds with one decimal: a key from the cache takes less than one. */
function spanOf(fromMs: number | undefined, toMs: number | undefined): number | undefined {
  if (fromMs === undefined || toMs === undefined) return undefined
  return Math.round((toMs - fromMs) * 10) / 10
}
