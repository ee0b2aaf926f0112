// GET /api/live pushes changes to the browser, so that a payment, a key or a request appears
// without a reload. Every second it polls the tables, once for each account with open pages, and
// computes sums only when something changed. A stream ends with the session that opened it.
import { setTimeout as pause } from 'node:timers/promises'
import type { Accounts, Session } from '../../../accounts/accounts.ts'
import type { Keys } from '../../../keys/keys.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import type { Payments } from '../../../payments/payments.ts'
import { assert } from '../../../platform/assert.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { AccountId, BookId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Plugin } from '../../../platform/server/plugin.ts'
import { zoneOf } from '../../../platform/zone.ts'
import type * as contract from '../../contract/contract.ts'
import { CabinetRefusal } from '../../refusals.ts'
import type { HomeRoutes } from '../home.ts'
import { orderOf } from '../orders/orders.ts'
import { headersOf } from '../routes.ts'
import { requestsOf } from '../usage/requests.ts'
import { createEventStream, type EventStream } from './event-stream.ts'

export type LiveUpdatesOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly accounts: Pick<Accounts, 'session' | 'requireSession' | 'sessions'>
  readonly ledger: Pick<Ledger, 'balance' | 'usage'>
  readonly payments: Pick<Payments, 'orders'>
  readonly keys: Pick<Keys, 'find'>
  readonly home: Pick<HomeRoutes, 'read'>
  keyState(book: BookId): Promise<contract.KeyState>
  readonly streamsMax?: number
  readonly pollMs?: number
}

/** A poll is four small indexed reads, about 2 ms: 1,000 polls, four at once, take 0.5 s. */
const STREAMS_MAX = 1_000
/** Tabs and devices of one owner; hidden pages close their streams. */
const STREAMS_PER_ACCOUNT_MAX = 8
const POLL_MS = 1_000
/** Each poll uses one of the pool's eight connections; the other four are for requests. */
const POLLS_AT_ONCE = 4
/** Orders that change are among the newest, except for refunds of old ones. */
const ORDERS = 20
/**
 * The overview of an ordinary owner takes 20 ms. If it takes more than 300 ms, as with a
 * request a second, the next waits 20 times as long: 1/20 of a connection. The wait is capped.
 */
const QUICK_MS = 300
const REST_FACTOR = 20
const REST_MS_MAX = 10_000
const MINUTE_MS = 60_000

type Stream = {
  readonly session: Session
  readonly zone: string
  readonly events: EventStream
  /** The JSON sent last, by event name or order. */
  readonly sent: Map<string, string>
}

/** All streams of one account. */
type AccountStreams = {
  readonly session: Session
  readonly streams: Set<Stream>
  /** The state of the tables when events were last sent; `home…`: when the overview last was. */
  fingerprint: string
  homeFingerprint: string
  restUntilMs: number
  isPolling: boolean
}

export function liveUpdatesPlugin(options: LiveUpdatesOptions): Plugin {
  const { clock, log, accounts, ledger, payments, keys, home } = options
  const streamsMax = options.streamsMax ?? STREAMS_MAX
  const pollMs = options.pollMs ?? POLL_MS
  const accountStreams = new Map<AccountId, AccountStreams>()
  const state = { streams: 0, isRunning: false, isClosed: false }

  function open(session: Session, zone: string): EventStream {
    const found = accountStreams.get(session.account)
    const account: AccountStreams = found ?? {
      ...{
        session,
        streams: new Set(),
        fingerprint: '',
        homeFingerprint: '',
        restUntilMs: 0,
        isPolling: false,
      },
    }
    if (account.streams.size >= STREAMS_PER_ACCOUNT_MAX) {
      throw new CabinetRefusal('streams_exceeded', 'Too many pages of this account are open.')
    }
    if (state.streams >= streamsMax)
      throw new CabinetRefusal('overloaded', 'Too many pages are open.')
    const events = createEventStream(clock)
    const stream = { session, zone, events, sent: new Map<string, string>() }
    accountStreams.set(session.account, account)
    account.streams.add(stream)
    state.streams += 1
    events.out.once('close', () => {
      account.streams.delete(stream)
      state.streams -= 1
      if (account.streams.size === 0) accountStreams.delete(session.account)
    })
    return events
  }

  /** Ends streams whose session has ended: signed out, revoked, expired, account closed. */
  async function endSignedOut({ session, streams }: AccountStreams): Promise<void> {
    const alive = new Set((await accounts.sessions(session)).map(({ id }) => id))
    for (const stream of streams) {
      if (!alive.has(stream.session.id)) stream.events.end('session')
    }
  }

  async function poll(account: AccountStreams): Promise<void> {
    await endSignedOut(account)
    const streams = [...account.streams].filter(({ events }) => !events.isOver())
    const { book: id } = account.session
    const book = await ledger.balance(id)
    assert(book, `the account's book ${id} is not there`)
    const current = await keys.find(id)
    const orders = await payments.orders({ book: id, before: null, limit: ORDERS })
    const shown = orders.map(orderOf)
    const fingerprint = JSON.stringify([
      [book.seq, book.available, book.held, book.debt, book.blockedReason].map(String),
      current,
      shown,
      // Once a minute, because the overview changes at midnight even if nothing is spent.
      Math.floor(clock.nowMs() / MINUTE_MS),
    ])
    const isNew = streams.some(({ sent }) => !sent.has('home'))
    if (isNew || fingerprint !== account.fingerprint) {
      const key = JSON.stringify(await options.keyState(id))
      const requests = JSON.stringify(await requestsOf(ledger.usage, book))
      for (const stream of streams) {
        send(stream, 'key', key)
        send(stream, 'requests', requests)
        sendOrders(stream, shown)
      }
      account.fingerprint = fingerprint
    }
    if (
      isNew ||
      (fingerprint !== account.homeFingerprint && clock.spanMs() >= account.restUntilMs)
    ) {
      await sendHome(account, streams)
      account.homeFingerprint = fingerprint
    }
  }

  async function sendHome(account: AccountStreams, streams: readonly Stream[]): Promise<void> {
    const startedMs = clock.spanMs()
    for (const zone of new Set(streams.map((stream) => stream.zone))) {
      const page = await home.read(account.session.book, zone)
      for (const stream of streams.filter((one) => one.zone === zone)) {
        // An overview that differs only in `at` is not sent.
        send(stream, 'home', JSON.stringify(page), JSON.stringify({ ...page, at: '' }))
      }
    }
    const tookMs = clock.spanMs() - startedMs
    const restMs = tookMs <= QUICK_MS ? 0 : Math.min(REST_FACTOR * tookMs, REST_MS_MAX)
    account.restUntilMs = clock.spanMs() + restMs
  }

  async function pollSafely(account: AccountStreams): Promise<void> {
    if (account.isPolling) return
    account.isPolling = true
    try {
      await poll(account)
    } catch (error) {
      // The streams stay open: changes are sent when the database is back.
      log.warn({ err: error, account: account.session.account }, 'a poll for live updates failed')
    } finally {
      account.isPolling = false
    }
    for (const { events } of account.streams) events.keepAlive()
  }

  /** Polls all accounts while streams are open. */
  async function run(isDraining: () => boolean): Promise<void> {
    if (state.isRunning) return
    state.isRunning = true
    while (accountStreams.size > 0 && !state.isClosed) {
      if (isDraining()) endAll()
      const waiting = [...accountStreams.values()]
      const workers = Array.from({ length: POLLS_AT_ONCE }, async () => {
        for (let one = waiting.shift(); one; one = waiting.shift()) await pollSafely(one)
      })
      await Promise.all(workers)
      await pause(pollMs)
    }
    state.isRunning = false
  }

  function endAll(): void {
    for (const { streams } of accountStreams.values()) {
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
        const account = accountStreams.get(session.account)
        if (account !== undefined) void pollSafely(account)
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

/** Sends the event unless `compared` is the same as the last time. */
function send(
  { events, sent }: Stream,
  name: 'home' | 'key' | 'requests',
  json: string,
  compared = json,
): void {
  if (sent.get(name) === compared) return
  sent.set(name, compared)
  events.send(name, json)
}

/** Sends changed orders. The first time only open ones: the page has loaded the others itself. */
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
