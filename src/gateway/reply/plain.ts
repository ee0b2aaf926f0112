// Forwards a plain reply. Up to 4 MiB it is collected, settled and sent in one write with headers
// that name its cost. A larger one is forwarded as it arrives, and only its last chunk waits for
// the settle. When the client leaves, the reply is still read to its end and charged: it was
// ordered.
import type { ReplyHeaders } from '../../http/http.ts'
import type { Settled } from '../../ledger/ledger.ts'
import { UNREAD_MS_MAX } from '../client-wait.ts'
import { cutOff, ourCause } from '../ending.ts'
import { gatewayRefusal } from '../refusals.ts'
import type { ReplyContext } from './context.ts'
import type { UpstreamReply } from './reply.ts'

/** Long replies stay below 1 MiB; a larger one is not held in memory as a whole. */
const WHOLE_BYTES_MAX = 4_194_304
/**
 * How long after the time limit the rest of a reply is awaited when the client was slow: the model
 * has written the reply, and only its bytes are missing.
 */
const LATE_REPLY_WAIT_MS = 10_000
/** An error body has a few hundred bytes; bytes beyond this limit are dropped. */
const ERROR_BYTES_MAX = 1_048_576

/** Collects the body of an error. */
export function collect(reply: UpstreamReply): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    reply.attach({
      data(chunk) {
        bytes += chunk.length
        if (bytes <= ERROR_BYTES_MAX) chunks.push(chunk)
      },
      end: () => resolve(Buffer.concat(chunks)),
      fail: reject,
    })
  })
}

/** The body of an error, which step 5 may have read already. */
export function errorBodyOf(reply: UpstreamReply): Promise<Buffer> {
  return reply.errorBody === undefined ? collect(reply) : Promise.resolve(reply.errorBody)
}

/** Refuses upstream_failed and request_overdue while nothing has been sent. */
export async function forwardPlain(
  context: ReplyContext,
  head: ReplyHeaders,
  creditHeaders: (settled: Settled | undefined) => ReplyHeaders,
): Promise<void> {
  const { exchange, reply, meter, settlement } = context
  const { clientReply } = exchange
  const { chunks, bytes, isGivenUp } = await receiveReply(context, head)
  if (settlement.isDecided) return
  if (isGivenUp) {
    await settlement.charge(meter.ofAbandonedPlain(bytes, exchange.journal.bytesIn ?? 0))
    return
  }
  const { isComplete, facts } = meter.plain
  // An object without an id and without counters is not a message, whatever its status.
  if (!isComplete || (facts.messageId === undefined && facts.usage === undefined)) {
    settlement.void('upstream_failed', isComplete ? 'no message' : 'the reply is not whole')
    reply.abort()
    throw gatewayRefusal('upstream_failed', 'The upstream broke off its reply.')
  }
  const settled = await settlement.charge(meter.ofCompletePlain(bytes))
  if (exchange.isDisconnected) return
  if (clientReply.isBegun) {
    clientReply.end(chunks[0])
    return
  }
  clientReply.begin(reply.status, {
    ...head,
    'content-length': bytes,
    ...creditHeaders(settled),
  })
  clientReply.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
}

type ReceivedReply = {
  /** The chunks that have not been sent: all of them, or the last one. */
  readonly chunks: Buffer[]
  readonly bytes: number
  /** The rest will not come, because the client kept the upstream waiting. */
  readonly isGivenUp: boolean
}

/** Resolves at the reply's end, or when a client that reads too slowly prevents it. */
function receiveReply(
  { exchange, reply, meter, settlement, ticker, clock, requestSecondsMax }: ReplyContext,
  head: ReplyHeaders,
): Promise<ReceivedReply> {
  const { clientReply, startedMs, clientWait: wait } = exchange
  const chunks: Buffer[] = []
  let bytes = 0
  let restMs = 0
  const resume = () => {
    wait.end(clock.spanMs())
    reply.resume()
  }
  return new Promise((resolve, reject) => {
    const deadline = {
      tick(nowMs: number) {
        if (wait.currentMs(nowMs) > UNREAD_MS_MAX) cutOff(exchange, 'client_slow')
        const ageMs = nowMs - startedMs
        if (ageMs < requestSecondsMax * 1_000 + restMs) return
        if (restMs === 0 && wait.explainsTimeLimit(ageMs, nowMs)) {
          restMs = LATE_REPLY_WAIT_MS
          cutOff(exchange, 'client_slow')
          return
        }
        reply.abort()
        if (restMs > 0) giveUp()
        else
          over(gatewayRefusal('request_overdue', 'The request took too long.'), 'it took too long')
      },
    }
    const giveUp = () => {
      ticker.remove(deadline)
      cutOff(exchange, 'client_slow')
      resolve({ chunks: [], bytes, isGivenUp: true })
    }
    const over = (error: Error, reason: string) => {
      ticker.remove(deadline)
      settlement.void('upstream_failed', reason)
      reject(error)
    }
    ticker.add(deadline)
    // The client has left, so nothing waits for it any more: read on to the reply's end, unless the
    // gateway closed the connection.
    exchange.onDisconnect = () => {
      const ours = ourCause(exchange)
      if (ours === undefined) resume()
      else {
        settlement.void(ours.ending, ours.reason)
        reply.abort()
        ticker.remove(deadline)
        resolve({ chunks: [], bytes, isGivenUp: false })
      }
    }
    reply.attach({
      data(chunk) {
        meter.plain.push(chunk)
        bytes += chunk.length
        if (exchange.isDisconnected) {
          chunks.length = 0
          return
        }
        chunks.push(chunk)
        if (bytes <= WHOLE_BYTES_MAX) return
        if (!clientReply.isBegun) clientReply.begin(reply.status, head)
        const last = chunks.pop() as Buffer
        const hasRoom = chunks
          .splice(0)
          .map((one) => clientReply.write(one))
          .every(Boolean)
        chunks.push(last)
        if (hasRoom || wait.isWaiting) return
        wait.begin(clock.spanMs())
        reply.pause()
        clientReply.afterDrain(resume)
      },
      end() {
        ticker.remove(deadline)
        resolve({ chunks, bytes, isGivenUp: false })
      },
      fail(error) {
        if (wait.hasStalledUpstream(clock.spanMs())) giveUp()
        else
          over(
            gatewayRefusal('upstream_failed', 'The upstream broke off its reply.', {}, error),
            'the upstream broke off',
          )
      },
    })
  })
}
