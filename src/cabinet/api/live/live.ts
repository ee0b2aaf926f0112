// GET /api/live: what changes is pushed to the browser, so that a payment, a key or a request shows
// without a reload. Once a second the tables are looked at, one account after the other and each
// account once, however many of its pages are open; only when something moved is anything added up.
// A stream ends with the session it was opened by.
import { setTimeout as pause } from 'node:timers/promises'
import type { Accounts, Session } from '../../../accounts/accounts.ts'
import type { Keys } from '../../../keys/keys.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import type { Payments } from '../../../payments/payments.ts'
import { assert } from '../../../platform/assert.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { AccountId, BookId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log.ts'
import { zoneOf } from '../../../platform/zone.ts'
import { OwnNo } from '../../answers.ts'
import type * as contract from '../../contract/contract.ts'
import type { Part } from '../../part.ts'
import type { Home } from '../home.ts'
import { orderOf } from '../orders/orders.ts'
import { headersOf } from '../routes.ts'
import { requestsOf } from '../usage/requests.ts'
import { createEventStream, type EventStream } from './event-stream.ts'

export type LiveOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly accounts: Pick<Accounts, 'session' | 'requireSession' | 'sessions'>
  readonly ledger: Pick<Ledger, 'balance' | 'usage'>
  readonly payments: Pick<Payments, 'orders'>
  readonly keys: Pick<Keys, 'find'>
  readonly home: Pick<Home, 'read'>
  keyState(book: BookId): Promise<contract.KeyState>
  readonly streamsMax?: number
  readonly lookMs?: number
}

/** A look is four small reads by index, some 2 ms; a thousand, four at once, are half a second. */
const STREAMS_MAX = 1_000
/** Tabs and devices of one owner; hidden pages close theirs. */
const STREAMS_PER_ACCOUNT_MAX = 8
const LOOK_MS = 1_000
/** Each holds one connection of the pool of eight; the others are for requests. */
const LOOKS_AT_ONCE = 4
/** Orders that change are among the newest, but for a refund of an old one. */
const ORDERS = 20
/**
 * The days of an ordinary owner add up in 20 ms. Of one who makes a request a second it takes
 * longer, and that page is added up again only after a rest: a twentieth of a connection.
 */
const QUICK_MS = 300
const REST_FACTOR = 20
const REST_MS_MAX = 10_000
const MINUTE_MS = 60_000

type Stream = {
  readonly session: Session
  readonly zone: string
  readonly events: EventStream
  /** What was sent last, by event and order. */
  readonly sent: Map<string, string>
}

/** All streams of one account. */
type Watch = {
  readonly session: Session
  readonly streams: Set<Stream>
  /** What the tables said when all was last sent, and when the first page was. */
  mark: string
  homeMark: string
  restUntilMs: number
  isLooking: boolean
}

export function livePart(options: LiveOptions): Part {
  const { clock, log, accounts, ledger, payments, keys, home } = options
  const streamsMax = options.streamsMax ?? STREAMS_MAX
  const lookMs = options.lookMs ?? LOOK_MS
  const watches = new Map<AccountId, Watch>()
  const state = { streams: 0, isRunning: false, isClosed: false }

  function open(session: Session, zone: string): EventStream {
    const found = watches.get(session.account)
    const watch: Watch = found ?? {
      ...{ session, streams: new Set(), mark: '', homeMark: '', restUntilMs: 0, isLooking: false },
    }
    if (watch.streams.size >= STREAMS_PER_ACCOUNT_MAX) {
      throw new OwnNo('streams_exceeded', 'Too many pages of this account are open.')
    }
    if (state.streams >= streamsMax) throw new OwnNo('overloaded', 'Too many pages are open.')
    const events = createEventStream(clock)
    const stream = { session, zone, events, sent: new Map<string, string>() }
    watches.set(session.account, watch)
    watch.streams.add(stream)
    state.streams += 1
    events.out.once('close', () => {
      watch.streams.delete(stream)
      state.streams -= 1
      if (watch.streams.size === 0) watches.delete(session.account)
    })
    return events
  }

  /** Ends streams whose session is no longer there: signed out, revoked, run out or closed. */
  async function endSignedOut({ session, streams }: Watch): Promise<void> {
    const alive = new Set((await accounts.sessions(session)).map(({ id }) => id))
    for (const stream of streams) {
      if (!alive.has(stream.session.id)) stream.events.end('session')
    }
  }

  async function look(watch: Watch): Promise<void> {
    await endSignedOut(watch)
    const streams = [...watch.streams].filter(({ events }) => !events.isOver())
    const { book: id } = watch.session
    const book = await ledger.balance(id)
    assert(book, `the account's book ${id} is not there`)
    const current = await keys.find(id)
    const orders = await payments.orders({ book: id, before: null, limit: ORDERS })
    const shown = orders.map(orderOf)
    const mark = JSON.stringify([
      [book.seq, book.available, book.held, book.debt, book.blockedReason].map(String),
      current,
      shown,
      // Days pass also while nothing is spent.
      Math.floor(clock.nowMs() / MINUTE_MS),
    ])
    const isNew = streams.some(({ sent }) => !sent.has('home'))
    if (isNew || mark !== watch.mark) {
      const key = JSON.stringify(await options.keyState(id))
      const requests = JSON.stringify(await requestsOf(ledger.usage, book))
      for (const stream of streams) {
        send(stream, 'key', key)
        send(stream, 'requests', requests)
        sendOrders(stream, shown)
      }
      watch.mark = mark
    }
    if (isNew || (mark !== watch.homeMark && clock.spanMs() >= watch.restUntilMs)) {
      await sendHome(watch, streams)
      watch.homeMark = mark
    }
  }

  async function sendHome(watch: Watch, streams: readonly Stream[]): Promise<void> {
    const startedMs = clock.spanMs()
    for (const zone of new Set(streams.map((stream) => stream.zone))) {
      const page = await home.read(watch.session.book, zone)
      for (const stream of streams.filter((one) => one.zone === zone)) {
        // Its own moment alone is no news.
        send(stream, 'home', JSON.stringify(page), JSON.stringify({ ...page, at: '' }))
      }
    }
    const tookMs = clock.spanMs() - startedMs
    const restMs = tookMs <= QUICK_MS ? 0 : Math.min(REST_FACTOR * tookMs, REST_MS_MAX)
    watch.restUntilMs = clock.spanMs() + restMs
  }

  async function lookSafely(watch: Watch): Promise<void> {
    if (watch.isLooking) return
    watch.isLooking = true
    try {
      await look(watch)
    } catch (error) {
      // The streams stay: what was missed is sent when the database is back.
      log.warn({ err: error, account: watch.session.account }, 'a live look failed')
    } finally {
      watch.isLooking = false
    }
    for (const { events } of watch.streams) events.keepAlive()
  }

  /** Looks around while anybody is there to be told. */
  async function run(isDraining: () => boolean): Promise<void> {
    if (state.isRunning) return
    state.isRunning = true
    while (watches.size > 0 && !state.isClosed) {
      if (isDraining()) endAll()
      const waiting = [...watches.values()]
      const workers = Array.from({ length: LOOKS_AT_ONCE }, async () => {
        for (let one = waiting.shift(); one; one = waiting.shift()) await lookSafely(one)
      })
      await Promise.all(workers)
      await pause(lookMs)
    }
    state.isRunning = false
  }

  function endAll(): void {
    for (const { streams } of watches.values()) {
      for (const { events } of streams) events.end('server')
    }
  }

  return (app) => {
    app.addHook('onClose', async () => {
      state.isClosed = true
      endAll()
    })
    app.get<{ Querystring: { zone?: unknown } }>(
      '/api/live',
      { exposeHeadRoute: false },
      async (request, reply) => {
        const session = accounts.requireSession(await accounts.session(headersOf(request)))
        const { zone } = request.query
        const events = open(session, zoneOf(typeof zone === 'string' ? zone : undefined))
        const watch = watches.get(session.account)
        if (watch !== undefined) void lookSafely(watch)
        void run(() => app.isDraining())
        for (const cookie of session.cookies) reply.header('set-cookie', cookie)
        return reply
          .headers({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' })
          .type('text/event-stream; charset=utf-8')
          .send(events.out)
      },
    )
  }
}

/** Sends what differs from what was sent last; `about` is what is compared. */
function send(
  { events, sent }: Stream,
  name: 'home' | 'key' | 'requests',
  json: string,
  about = json,
): void {
  if (sent.get(name) === about) return
  sent.set(name, about)
  events.send(name, json)
}

/** At first only orders that wait for something; the others are in the page's own list. */
function sendOrders({ events, sent }: Stream, orders: readonly contract.Order[]): void {
  const isFirst = !sent.has('orders')
  sent.set('orders', '')
  for (const order of orders) {
    const json = JSON.stringify(order)
    const name = `order ${order.id}`
    if (sent.get(name) === json) continue
    sent.set(name, json)
    const isWaiting = ['created', 'pending', 'review', 'refund_pending'].includes(order.state)
    if (!isFirst || isWaiting) events.send('order', json)
  }
}
