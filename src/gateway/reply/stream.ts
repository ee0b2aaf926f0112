// A stream on its way to the client: bytes as they come, with backpressure; pings when it is
// silent; its end only after the settle. Whatever happens first decides how it ended: the reply's
// own end, a failure of the upstream, the client leaving or reading too slowly. Never ends cleanly
// without message_stop.
import type { ReplyHeaders } from '../../http/http.ts'
import { errorRecord, PING_RECORD } from '../../wire/errors.ts'
import { ClientWait } from './client-wait.ts'
import { type Passing, UNREAD_MS_MAX } from './passing.ts'

/** Intermediaries cut connections after 60 s of silence or more, agents complain after 20. */
const PING_AFTER_MS = 15_000
/** What a client that left is still waited for: the counters at the reply's end. */
const LEFT_MS = 700
/** The same before the reply has begun: its start tells the input, which is owed. */
const LEFT_EARLY_MS = 10_000
/**
 * Bytes after message_stop, if any, come with it; the upstream's own end is not waited for longer.
 */
const TAIL_MS = 250

const PING = Buffer.from(PING_RECORD)

/** Resolves when the stream is over for the client and settled for us. */
export function passStream(passing: Passing, head: ReplyHeaders): Promise<void> {
  return new Promise((resolve) => {
    const stream = new Stream(passing, resolve)
    stream.start(head)
  })
}

// A class, for once: ten thousand of these live at the same time.
class Stream {
  private readonly passing: Passing
  private readonly done: () => void
  private held: Buffer[] = []
  private readonly wait = new ClientWait()
  private isUpstreamOver = false
  private isSettled = false
  private isOver = false
  private lastWriteMs: number
  private leftTimer: NodeJS.Timeout | undefined
  private hasLeftEarly = false

  constructor(passing: Passing, done: () => void) {
    this.passing = passing
    this.done = done
    this.lastWriteMs = passing.clock.spanMs()
  }

  start(head: ReplyHeaders): void {
    const { exchange, reply, pulse } = this.passing
    const { outgoing } = exchange
    outgoing.begin(reply.status, { 'cache-control': 'no-cache', ...head })
    outgoing.flush()
    exchange.onGone = () => this.leave()
    pulse.add(this)
    // First: what has come in by now came after the client left.
    if (exchange.isGone) this.leave()
    reply.attach(this)
  }

  // ── from the upstream ──

  data(chunk: Buffer): void {
    const { meter, settlement, exchange } = this.passing
    if (this.isOver) return
    const holdFrom = meter.stream.push(chunk)
    if (meter.stream.facts.error !== undefined) {
      if (!exchange.isGone) this.passError(chunk)
      this.broken('the upstream reported an error')
      return
    }
    if (!exchange.isGone) this.pass(chunk, holdFrom)
    if (meter.stream.isStopComplete) {
      if (!settlement.isDecided) void this.complete()
    } else if (exchange.isGone) this.afterLeaving()
  }

  end(): void {
    this.isUpstreamOver = true
    if (this.passing.meter.stream.isStopComplete) this.finish()
    else this.brokenOff('the upstream ended without message_stop')
  }

  fail(error: Error): void {
    this.isUpstreamOver = true
    if (this.passing.meter.stream.isStopComplete) this.finish()
    else this.brokenOff(`the upstream broke off: ${error.message}`)
  }

  private brokenOff(reason: string): void {
    const { exchange, clock } = this.passing
    if (this.isOver) return
    if (this.wait.hasBrokenUpstream(clock.spanMs())) {
      exchange.outgoing.destroy()
      this.settleLeft()
    } else this.broken(reason)
  }

  // ── to the client ──

  private pass(chunk: Buffer, holdFrom: number): void {
    if (holdFrom < 0) {
      this.held.push(chunk)
      return
    }
    for (const one of this.held.splice(0)) this.write(one)
    if (holdFrom === chunk.length) this.write(chunk)
    else {
      if (holdFrom > 0) this.write(chunk.subarray(0, holdFrom))
      this.held.push(chunk.subarray(holdFrom))
    }
  }

  /** The chunk that ends an error record, of which nothing has been passed on yet. */
  private passError(chunk: Buffer): void {
    const { upstreams, reply } = this.passing
    const text = Buffer.concat([...this.held.splice(0), chunk]).toString('latin1')
    this.write(Buffer.from(upstreams.withoutSecrets(text, reply.headers), 'latin1'))
  }

  private write(bytes: Buffer): void {
    const { exchange, reply, clock } = this.passing
    this.lastWriteMs = clock.spanMs()
    if (exchange.outgoing.write(bytes) || this.wait.isNow) return
    this.wait.begin(this.lastWriteMs)
    reply.pause()
    exchange.outgoing.afterDrain(() => {
      this.wait.end(clock.spanMs())
      reply.resume()
    })
  }

  /** message_stop is here: it goes out when the charge is durable. */
  private async complete(): Promise<void> {
    const { meter, settlement } = this.passing
    try {
      await settlement.charge('complete', meter.completeStream())
    } catch {
      this.broken('the charge was refused')
      return
    }
    this.isSettled = true
    if (this.isUpstreamOver) this.finish()
    else setTimeout(() => this.finish(), TAIL_MS)
  }

  /** The last bytes, once the charge is durable. */
  private finish(): void {
    const { exchange } = this.passing
    if (!this.isSettled || this.isOver) return
    if (!exchange.isGone) {
      const last = this.held.splice(0)
      exchange.outgoing.end(last.length === 1 ? last[0] : Buffer.concat(last))
    }
    this.close()
  }

  /** Broken on our side or the upstream's: free, and the client is told. */
  private broken(reason: string): void {
    const { exchange, settlement, meter } = this.passing
    if (this.isOver) return
    settlement.free('upstream_failed', reason)
    if (!exchange.isGone) {
      const { requestId, outgoing } = exchange
      if (meter.stream.facts.error === undefined) {
        const message = 'The upstream broke off its reply; nothing was charged.'
        const record = errorRecord({ type: 'api_error', message, requestId })
        // A record that was cut in the middle is closed first, or ours would be part of it.
        outgoing.end(Buffer.from(meter.stream.isBetweenRecords ? record : `\n\n${record}`))
      } else outgoing.end()
    }
    this.close()
  }

  // ── the client leaves ──

  private leave(): void {
    const { exchange, settlement } = this.passing
    if (this.isOver || settlement.isDecided) return
    if (exchange.isStopped) {
      settlement.stop()
      this.close()
      return
    }
    this.hasLeftEarly = !this.hasStarted
    this.leftTimer = setTimeout(
      () => this.settleLeft(),
      this.hasLeftEarly ? LEFT_EARLY_MS : LEFT_MS,
    )
    if (this.wait.isNow) this.passing.reply.resume()
    this.afterLeaving()
  }

  /** Has enough arrived to charge by? */
  private afterLeaving(): void {
    const hasEnded = this.passing.meter.stream.facts.stopReason !== undefined
    if (hasEnded || (this.hasLeftEarly && this.hasStarted)) this.settleLeft()
  }

  private get hasStarted(): boolean {
    const { usage, messageId } = this.passing.meter.stream.facts
    return usage !== undefined || messageId !== undefined
  }

  private settleLeft(): void {
    const { meter, settlement, reply } = this.passing
    if (this.isOver || settlement.isDecided) return
    reply.abort()
    // Nobody waits any more; should the charge be refused, the ledger has logged it.
    if (this.hasStarted) settlement.charge('client_left', meter.leftStream()).catch(() => undefined)
    else settlement.free('given_up', 'the client left before the reply began')
    this.close()
  }

  // ── time ──

  beat(nowMs: number): void {
    const { exchange, meter, reply, requestSecondsMax } = this.passing
    const { startedMs, outgoing } = exchange
    if (exchange.isGone) return // what it left is settled in a moment
    if (nowMs - startedMs > requestSecondsMax * 1_000) {
      if (this.wait.isMostSince(startedMs, nowMs)) outgoing.destroy()
      else {
        reply.abort()
        this.broken('it took too long')
      }
    } else if (meter.stream.hasStop) return
    else if (this.wait.isNow) {
      if (this.wait.lastsMs(nowMs) > UNREAD_MS_MAX) outgoing.destroy()
    } else if (nowMs - this.lastWriteMs > PING_AFTER_MS && meter.stream.isBetweenRecords) {
      this.write(PING)
    }
  }

  private close(): void {
    this.isOver = true
    clearTimeout(this.leftTimer)
    this.passing.pulse.remove(this)
    if (!this.isUpstreamOver) this.passing.reply.abort()
    this.done()
  }
}
