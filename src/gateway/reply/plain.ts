// A plain reply on its way: taken in whole up to 4 MiB, settled, and answered in one write with
// what it cost. A larger one is passed on as it comes, with only its last chunk held back until the
// settle. A client that left changes nothing: the reply was ordered, and is read to its end.
import type { ReplyHeaders } from '../../http/http.ts'
import type { Settled } from '../../ledger/ledger.ts'
import { Refusal } from '../../platform/refusal.ts'
import { ClientWait } from './client-wait.ts'
import { type Passing, UNREAD_MS_MAX } from './passing.ts'
import type { Reply } from './reply.ts'

/** Long replies stay below 1 MiB; what is larger need not be held in memory whole. */
const WHOLE_BYTES_MAX = 4_194_304
/**
 * How long the rest of a reply is awaited beyond the limit, when the time went by because its
 * client did not read: the model has written it, and only its bytes have yet to come.
 */
const REST_MS = 10_000
/** An error body is a few hundred bytes; more than this is not worth passing on. */
const ERROR_BYTES_MAX = 1_048_576

/** Takes in an error's body. */
export function collect(reply: Reply): Promise<Buffer> {
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

/** Refuses upstream_failed and request_overdue while nothing has been sent. */
export async function passPlain(
  passing: Passing,
  head: ReplyHeaders,
  creditHeaders: (settled: Settled | undefined) => ReplyHeaders,
): Promise<void> {
  const { exchange, reply, meter, settlement } = passing
  const { outgoing } = exchange
  const { chunks, bytes } = await takeIn(passing, head)
  if (settlement.isDecided) return
  const { isComplete, facts } = meter.plain
  // An object without an id and without counters is no message, whatever status it came with.
  if (!isComplete || (facts.messageId === undefined && facts.usage === undefined)) {
    settlement.free('upstream_failed', isComplete ? 'no message' : 'the reply is not whole')
    reply.abort()
    throw new Refusal('upstream_failed', 'The upstream broke off its reply.')
  }
  const settled = await settlement.charge('complete', meter.completePlain(bytes))
  if (exchange.isGone) return
  if (outgoing.isBegun) {
    outgoing.end(chunks[0])
    return
  }
  outgoing.begin(reply.status, {
    ...head,
    'content-length': bytes,
    ...creditHeaders(settled),
  })
  outgoing.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
}

/** Resolves at the reply's end with what has not been sent: all of it, or the last chunk. */
function takeIn(
  { exchange, reply, meter, settlement, pulse, clock, requestSecondsMax }: Passing,
  head: ReplyHeaders,
): Promise<{ chunks: Buffer[]; bytes: number }> {
  const { outgoing, startedMs } = exchange
  const chunks: Buffer[] = []
  const wait = new ClientWait()
  let bytes = 0
  let restMs = 0
  const resume = () => {
    wait.end(clock.spanMs())
    reply.resume()
  }
  return new Promise((resolve, reject) => {
    const deadline = {
      beat(nowMs: number) {
        if (wait.lastsMs(nowMs) > UNREAD_MS_MAX) outgoing.destroy()
        if (nowMs - startedMs < requestSecondsMax * 1_000 + restMs) return
        if (restMs === 0 && wait.isMostSince(startedMs, nowMs)) {
          restMs = REST_MS
          outgoing.destroy()
          return
        }
        reply.abort()
        over(new Refusal('request_overdue', 'The request took too long.'), 'it took too long')
      },
    }
    const over = (error: Error, reason: string) => {
      pulse.remove(deadline)
      settlement.free('upstream_failed', reason)
      reject(error)
    }
    pulse.add(deadline)
    // Nobody will take what the reply waits with; its end is what we still want, unless we stop.
    exchange.onGone = () => {
      if (!exchange.isStopped) resume()
      else {
        settlement.stop()
        reply.abort()
        pulse.remove(deadline)
        resolve({ chunks: [], bytes })
      }
    }
    reply.attach({
      data(chunk) {
        meter.plain.push(chunk)
        bytes += chunk.length
        if (exchange.isGone) {
          chunks.length = 0
          return
        }
        chunks.push(chunk)
        if (bytes <= WHOLE_BYTES_MAX) return
        if (!outgoing.isBegun) outgoing.begin(reply.status, head)
        const last = chunks.pop() as Buffer
        const isRoom = chunks
          .splice(0)
          .map((one) => outgoing.write(one))
          .every(Boolean)
        chunks.push(last)
        if (isRoom || wait.isNow) return
        wait.begin(clock.spanMs())
        reply.pause()
        outgoing.afterDrain(resume)
      },
      end() {
        pulse.remove(deadline)
        resolve({ chunks, bytes })
      },
      fail(error) {
        over(
          new Refusal('upstream_failed', 'The upstream broke off its reply.', {}, error),
          'the upstream broke off',
        )
      },
    })
  })
}
