// What accounts share in this process besides the connections to upstreams (upstreams/transport):
// the memory of request bodies, the places of requests that wait, and the free endpoints. The rule
// is that of platform/shares.ts. A request that gets no share, or loses it, is answered with 529
// and `retry-after` at once.
import type { Clock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import { createLoopLoad } from '../platform/loop-load.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import type { Refusal } from '../platform/refusal.ts'
import { createShares, type Shares } from '../platform/shares.ts'
import { createSlots, type Slot, type Slots } from '../platform/slots.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'
import type { Exchange } from './exchange.ts'
import { gatewayRefusal } from './refusals.ts'

/** Free calls that run at a time in a process; further ones wait. */
const FREE_MAX = 32
/**
 * Free calls of them that read the request log or the usage, which may take the database 100 ms.
 * They use the pool (8 connections by default), as the first check of each key does: half of it is
 * always left for those. Holds and charges have connections of their own.
 */
const READS_MAX = 4
/**
 * While the event loop is short of time and other accounts send messages, a call of an account that
 * has more than FREE_UNPACED under way keeps its slot for FREE_MS_MIN, so that such an account gets
 * at most 200 answers a second from a process: each costs half a millisecond of the loop, and a
 * flood over 24 connections made messages wait 35 ms longer.
 */
const FREE_UNPACED = 4
const FREE_MS_MIN = 160
const FREE_LEAST = 2

export function createAdmission(options: {
  readonly clock: Clock
  /** Limit on the bytes of all request bodies that this process holds at a time. */
  readonly waitBytesMax: number
  readonly settings: { readonly bodyBytesMax: number }
  readonly upstreams: Pick<Upstreams, 'waiting' | 'connections'>
  readonly freeMax?: number | undefined
  /** By default as loop-load.ts measures it. */
  readonly isLoopBusy?: () => boolean
}) {
  const { clock, waitBytesMax, settings, upstreams, freeMax = FREE_MAX } = options
  const { spanMs } = clock
  const { isLoopBusy = createLoopLoad(spanMs) } = options
  const { waiting } = upstreams
  const bodies = createShares({ capacity: waitBytesMax, least: settings.bodyBytesMax, spanMs })
  const free = createShares({ capacity: freeMax, least: FREE_LEAST, spanMs })
  const freeSlots = createSlots(free, waiting)
  const reads = createShares({ capacity: READS_MAX, least: 1, spanMs })
  const readSlots = createSlots(reads, waiting)

  /** Resolves when the request has a slot. Refuses: waiting_exhausted, request_shed. */
  async function enter(slots: Slots, exchange: Exchange, book: BookId): Promise<Slot> {
    const turn = Promise.withResolvers<void>()
    exchange.onShed = () => turn.reject(requestShed())
    const slot = slots.take(book, exchange, () => {
      exchange.onShed = undefined
      turn.resolve()
    })
    if (slot === undefined) {
      exchange.onShed = undefined
      throw waitingExhausted()
    }
    try {
      await turn.promise
      return slot
    } catch (error) {
      slot.close()
      throw error
    }
  }

  /** Does the work of a free endpoint when its turn has come. Refuses like `waitFor`. */
  async function inFreeSlot<T>(
    exchange: Exchange,
    book: BookId,
    work: () => Promise<T>,
  ): Promise<T> {
    const slot = await enter(freeSlots, exchange, book)
    const isPaced = free.usedBy(book) > FREE_UNPACED && bodies.hasOther(book) && isLoopBusy()
    const untilMs = spanMs() + FREE_MS_MIN
    try {
      return await work()
    } finally {
      exchange.onShed = undefined
      // `unref`: a process that has answered its last request may end.
      if (isPaced) setTimeout(() => slot.close(), Math.max(0, untilMs - spanMs())).unref()
      else slot.close()
    }
  }

  return {
    bodies,
    isLoopBusy,

    /** Everything that accounts share in this process, by its name in metrics. */
    all: (): Readonly<Record<string, Shares>> => ({
      body_bytes: bodies,
      waiting,
      free,
      reads,
      ...Object.fromEntries(
        [...upstreams.connections()].map(([name, shares]) => [`connections ${name}`, shares]),
      ),
    }),

    /**
     * Does work that waits for the database or for a target, in one of the places for requests
     * that wait. If the place is shed meanwhile, `undo` gets the result of the work. Refuses:
     * waiting_exhausted, request_shed.
     */
    async waitFor<T>(
      exchange: Exchange,
      book: BookId,
      work: () => Promise<T>,
      undo: (result: T) => void,
    ): Promise<T> {
      const place = waiting.open(book, exchange)
      try {
        if (!place.take(1)) throw waitingExhausted()
        const shed = Promise.withResolvers<never>()
        exchange.onShed = () => {
          shed.reject(requestShed())
          running.then(undo, () => undefined)
        }
        // Cleared before `running` settles: if the place were shed between the end of the work and
        // ours, the request would go on with a result that was undone.
        const running = work().finally(() => {
          exchange.onShed = undefined
        })
        return await Promise.race([running, shed.promise])
      } finally {
        place.close()
      }
    },

    inFreeSlot,

    /** The same for a free endpoint that reads the request log or the usage. */
    async inReadSlot<T>(exchange: Exchange, book: BookId, work: () => Promise<T>): Promise<T> {
      const slot = await enter(readSlots, exchange, book)
      try {
        return await inFreeSlot(exchange, book, work)
      } finally {
        slot.close()
      }
    },
  }
}

export type Admission = ReturnType<typeof createAdmission>

/** Metrics of everything that accounts share. */
export function watchShares({ bodies, all }: Admission, metrics: Metrics): void {
  const of = (read: (shares: Shares) => number) => () =>
    Object.fromEntries(Object.entries(all()).map(([name, shares]) => [name, read(shares)]))
  const { gauge, counter } = metrics
  gauge('gateway_body_bytes', 'Request bodies in memory', () => bodies.totals.used)
  gauge(
    'gateway_share_used',
    'What all accounts use',
    of(({ totals }) => totals.used),
  )
  gauge(
    'gateway_share_capacity',
    'What there is of it',
    of(({ capacity }) => capacity),
  )
  gauge(
    'gateway_share_accounts',
    'Accounts that use it or did so within a minute',
    of(({ size }) => size),
  )
  counter(
    'gateway_share_refused_total',
    'Requests of accounts beyond their share',
    of(({ totals }) => totals.refused),
  )
  counter(
    'gateway_share_shed_total',
    'Requests that were ended for those of another account',
    of(({ totals }) => totals.shed),
  )
}

const OVERLOADED = 'The service is overloaded; try again shortly.'

function waitingExhausted(): Refusal {
  return gatewayRefusal('waiting_exhausted', OVERLOADED)
}

/** The refusal of a request whose share another account needed. */
export function requestShed(): Refusal {
  return gatewayRefusal(
    'request_shed',
    'This account used more than its share of an overloaded service; nothing was charged.',
  )
}
