// Forwards a stream to the client: bytes as they arrive, with backpressure; pings while the
// upstream is silent; message_stop only after the settle. The stream's ending is decided by what
// happens first: the reply ends, the upstream fails, the client leaves or reads too slowly. A
// stream without message_stop never ends cleanly.
import type { ReplyHeaders } from '../../http/http.ts'
import {
  type ErrorType,
  errorRecord,
  PING_RECORD,
  recordsWithRequestId,
} from '../../wire/errors.ts'
import { requestShed } from '../admission.ts'
import { type ClientWait, UNREAD_MS_MAX } from '../client-wait.ts'
import { cutOff, ourCause } from '../ending.ts'
import { LEFT_EARLY_WAIT_MS, type ReplyContext } from './context.ts'

/** Proxies close connections after 60 s of silence or more; agents warn their users after 20 s. */
const PING_AFTER_MS = 15_000
/** How long to wait, after the client left, for the counters at the reply's end. */
const FINAL_USAGE_WAIT_MS = 700
/**
 * How long after its first byte a stream may be ended for another account. Nobody pays for what the
 * model has written by then, and the client cannot use half a reply.
 */
const SHED_MS_MAX = 10_000
/** How long to wait after message_stop for the upstream's end, because bytes may follow it. */
const TAIL_MS = 250

const PING = Buffer.from(PING_RECORD)

type BrokenEnding = {
  readonly ending: 'upstream_failed' | 'shed'
  readonly type: ErrorType
  readonly message: string
}
const BROKEN_OFF: BrokenEnding = {
  ending: 'upstream_failed',
  type: 'api_error',
  message: 'The upstream broke off its reply; nothing was charged.',
}
const SHED: BrokenEnding = {
  ending: 'shed',
  type: 'overloaded_error',
  message: requestShed().message,
}

/**
 * Resolves when the client's stream has ended and the hold is settled or voided. Rejects with a
 * fault of the charge.
 */
export function forwardStream(context: ReplyContext, head: ReplyHeaders): Promise<void> {
  const done = Promise.withResolvers<void>()
  const stream = new Stream(context, done)
  stream.start(head)
  return done.promise
}

// A class instead of closures: a process has ten thousand of these at a time.
class Stream {
  private readonly context: ReplyContext
  private readonly done: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>
  private heldBack: Buffer[] = []
  private readonly wait: ClientWait
  private isUpstreamOver = false
  private isSettled = false
  private isOver = false
  private lastWriteMs: number
  private abandonTimer: NodeJS.Timeout | undefined
  private hasLeftBeforeStart = false

  constructor(context: ReplyContext, done: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>) {
    this.context = context
    this.done = done
    this.wait = context.exchange.clientWait
    this.lastWriteMs = context.clock.spanMs()
  }

  start(head: ReplyHeaders): void {
    const { exchange, reply, ticker } = this.context
    const { clientReply } = exchange
    clientReply.begin(reply.status, { 'cache-control': 'no-cache', ...head })
    clientReply.flush()
    exchange.onDisconnect = () => this.handleDisconnect()
    exchange.onShed = () => {
      // A client that has left pays, also if the request of another account ends its stream.
      if (exchange.isDisconnected) this.settleAbandoned()
      else this.endBroken('another account needed its connection', SHED)
    }
    ticker.add(this)
    // Before `attach`, which delivers the chunks that have already arrived: they count as chunks
    // that arrived after the client left.
    if (exchange.isDisconnected) this.handleDisconnect()
    reply.attach(this)
  }

  // ── from the upstream ──

  data(chunk: Buffer): void {
    const { meter, settlement, exchange } = this.context
    if (this.isOver) return
    const heldBackFrom = meter.stream.push(chunk)
    if (meter.stream.facts.error !== undefined) {
      if (!exchange.isDisconnected) this.forwardError(chunk)
      this.endBroken('the upstream reported an error')
      return
    }
    if (!exchange.isDisconnected) this.forward(chunk, heldBackFrom)
    if (meter.stream.isStopComplete) {
      if (!settlement.isDecided) void this.complete()
    } else if (exchange.isDisconnected) this.settleIfEnoughArrived()
  }

  end(): void {
    this.isUpstreamOver = true
    if (this.context.meter.stream.isStopComplete) this.finish()
    else this.handleEarlyEnd('the upstream ended without message_stop')
  }

  fail(error: Error): void {
    this.isUpstreamOver = true
    if (this.context.meter.stream.isStopComplete) this.finish()
    else this.handleEarlyEnd(`the upstream broke off: ${error.message}`)
  }

  private handleEarlyEnd(reason: string): void {
    const { exchange, clock } = this.context
    if (this.isOver) return
    if (this.wait.hasStalledUpstream(clock.spanMs())) {
      cutOff(exchange, 'client_slow')
      this.settleAbandoned()
    } else this.endBroken(reason)
  }

  // ── to the client ──

  private forward(chunk: Buffer, heldBackFrom: number): void {
    if (heldBackFrom < 0) {
      this.heldBack.push(chunk)
      return
    }
    for (const one of this.heldBack.splice(0)) this.write(one)
    if (heldBackFrom === chunk.length) this.write(chunk)
    else {
      if (heldBackFrom > 0) this.write(chunk.subarray(0, heldBackFrom))
      this.heldBack.push(chunk.subarray(heldBackFrom))
    }
  }

  /**
   * Forwards an error record without our secrets and with our request id. `chunk` is its last part;
   * the earlier parts were held back.
   */
  private forwardError(chunk: Buffer): void {
    const { upstreams, reply, exchange } = this.context
    const text = Buffer.concat([...this.heldBack.splice(0), chunk]).toString('latin1')
    const clean = upstreams.withoutSecrets(text, reply.headers)
    this.write(Buffer.from(recordsWithRequestId(clean, exchange.requestId), 'latin1'))
  }

  private write(bytes: Buffer): void {
    const { exchange, reply, clock } = this.context
    this.lastWriteMs = clock.spanMs()
    if (exchange.clientReply.write(bytes) || this.wait.isWaiting) return
    this.wait.begin(this.lastWriteMs)
    reply.pause()
    exchange.clientReply.afterDrain(() => {
      this.wait.end(clock.spanMs())
      reply.resume()
    })
  }

  /** Charges when message_stop has arrived; `finish` forwards it when the charge is durable. */
  private async complete(): Promise<void> {
    const { exchange, meter, settlement } = this.context
    exchange.onShed = undefined // the model has finished: nothing is left to save
    try {
      await settlement.charge(meter.ofCompleteStream())
    } catch (error) {
      // messages.ts voids the hold if it was not decided, and answers.ts logs the fault, once.
      this.sendError({ type: 'api_error', message: 'The gateway failed.' })
      this.stop()
      this.done.reject(error)
      return
    }
    this.isSettled = true
    if (this.isUpstreamOver) this.finish()
    else setTimeout(() => this.finish(), TAIL_MS)
  }

  /** Sends the last bytes once the charge is durable. */
  private finish(): void {
    const { exchange } = this.context
    if (!this.isSettled || this.isOver) return
    if (!exchange.isDisconnected) {
      const last = this.heldBack.splice(0)
      exchange.clientReply.end(last.length === 1 ? last[0] : Buffer.concat(last))
    }
    this.close()
  }

  /** The upstream or the gateway failed: void the hold and send the client an error event. */
  private endBroken(reason: string, { ending, ...error } = BROKEN_OFF): void {
    if (this.isOver) return
    this.context.settlement.void(ending, reason)
    this.sendError(error)
    this.close()
  }

  /** Ends the client's stream with an error event, unless the upstream has sent one. */
  private sendError(error: { readonly type: ErrorType; readonly message: string }): void {
    const { exchange, meter } = this.context
    const { requestId, clientReply } = exchange
    if (exchange.isDisconnected) return
    if (meter.stream.facts.error === undefined) {
      const record = errorRecord({ ...error, requestId })
      // If the upstream was cut off within a record, end that record first: our error event would
      // become part of it.
      clientReply.end(Buffer.from(meter.stream.isBetweenRecords ? record : `\n\n${record}`))
    } else clientReply.end()
  }

  // ── the client leaves ──

  private handleDisconnect(): void {
    const { exchange, settlement, reply, clock } = this.context
    if (this.isOver || settlement.isDecided) return
    const ours = ourCause(exchange)
    if (ours !== undefined) {
      settlement.void(ours.ending, ours.reason)
      this.close()
      return
    }
    this.hasLeftBeforeStart = !this.hasStarted
    const waitMs = this.hasLeftBeforeStart ? LEFT_EARLY_WAIT_MS : FINAL_USAGE_WAIT_MS
    const nowMs = clock.spanMs()
    const goneMs = nowMs - (exchange.disconnectedMs ?? nowMs)
    // setImmediate, because Node runs timers before it reads sockets: after a slow turn, counters
    // that have arrived in time would not be read before the charge is estimated.
    const settle = () => setImmediate(() => this.settleAbandoned())
    this.abandonTimer = setTimeout(settle, Math.max(0, waitMs - goneMs))
    if (this.wait.isWaiting) {
      this.wait.end(nowMs)
      reply.resume()
    }
    this.settleIfEnoughArrived()
  }

  /** Settles as soon as the counters needed for the charge have arrived. */
  private settleIfEnoughArrived(): void {
    const hasEnded = this.context.meter.stream.facts.stopReason !== undefined
    if (hasEnded || (this.hasLeftBeforeStart && this.hasStarted)) this.settleAbandoned()
  }

  private get hasStarted(): boolean {
    const { usage, messageId } = this.context.meter.stream.facts
    return usage !== undefined || messageId !== undefined
  }

  private settleAbandoned(): void {
    const { settlement } = this.context
    if (this.isOver || settlement.isDecided) return
    this.stop()
    if (this.hasStarted) this.chargeAbandoned().then(this.done.resolve, this.done.reject)
    else {
      settlement.void('given_up', 'the client left before the reply began')
      this.done.resolve()
    }
  }

  private async chargeAbandoned(): Promise<void> {
    const { meter, settlement } = this.context
    await settlement.charge(meter.ofAbandonedStream())
  }

  // ── time ──

  tick(nowMs: number): void {
    const { exchange, meter, reply, requestSecondsMax } = this.context
    const { startedMs, journal } = exchange
    if (nowMs - (journal.firstByteMs ?? nowMs) > SHED_MS_MAX) exchange.onShed = undefined
    if (exchange.isDisconnected) return // abandonTimer settles it
    if (meter.stream.isStopComplete) return // the charge is being written
    const ageMs = nowMs - startedMs
    if (ageMs > requestSecondsMax * 1_000) {
      if (this.wait.explainsTimeLimit(ageMs, nowMs)) cutOff(exchange, 'client_slow')
      else {
        reply.abort()
        this.endBroken('it took too long')
      }
    } else if (this.wait.isWaiting) {
      if (this.wait.currentMs(nowMs) > UNREAD_MS_MAX) cutOff(exchange, 'client_slow')
    } else if (meter.stream.hasStop) return
    else if (nowMs - this.lastWriteMs > PING_AFTER_MS && meter.stream.isBetweenRecords) {
      this.write(PING)
    }
  }

  private close(): void {
    this.stop()
    this.done.resolve()
  }

  private stop(): void {
    this.isOver = true
    clearTimeout(this.abandonTimer)
    this.context.ticker.remove(this)
    if (!this.isUpstreamOver) this.context.reply.abort()
  }
}
