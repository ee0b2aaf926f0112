// Turns an event into notices: one correct notice, or those of a mode. This file decides what is
// sent and when; webhooks.ts sends, repeats and records.
import { BankError } from './errors.ts'
import { objectId } from './ids.ts'
import { isObject, type JsonObject } from './json.ts'
import type { Payment, Refund } from './objects.ts'
import type { Announcement, Store } from './store.ts'

export const modeNames = [
  'normal',
  'delay',
  'drop',
  'duplicate',
  'reorder',
  'early',
  'stale',
  'corrupt',
  'unknown-event',
  'forged',
  'other-shop',
] as const

export type ModeName = (typeof modeNames)[number]

/** The modes of an event; `forged` applies when a payment is created, without an event. */
export const eventModes = modeNames.filter((name) => name !== 'forged')

export type Mode = {
  readonly mode: ModeName
  /** Only notices about this payment; without either, about all. */
  readonly paymentId?: string
  readonly orderId?: string
  readonly event?: string
  /** How often; unlimited by default. */
  readonly times?: number
  /** For `delay`. */
  readonly delayMs?: number
  /** For `duplicate`: the total, sent together. */
  readonly copies?: number
  /** For `reorder`: which false notice is added, and before or after the true one. */
  readonly extra?: 'canceled' | 'stale'
  readonly place?: 'before' | 'after'
}

/** Ready to be sent. */
export type Notice = {
  event: string
  objectId: string
  paymentId: string
  mode: string
  body: string
}

/** Groups are sent one after the other; the notices of a group together. */
export type Plan = { delayMs: number; groups: Notice[][]; dropped: Notice[] }

export function createModes() {
  let kept: (Mode & { left: number })[] = []

  const isOwn = (mode: Mode, { id, metadata }: Payment) =>
    mode.paymentId === id || (mode.orderId !== undefined && mode.orderId === metadata?.order_id)
  const isForAll = (mode: Mode) => mode.paymentId === undefined && mode.orderId === undefined

  // A mode for this payment comes before a mode for all.
  function find(payment: Payment, event: string, names: readonly ModeName[]) {
    const meant = kept.filter(
      (mode) => (mode.event ?? event) === event && names.includes(mode.mode),
    )
    return meant.find((mode) => isOwn(mode, payment)) ?? meant.find(isForAll)
  }

  return {
    add(mode: Mode): void {
      kept.push({ ...mode, left: mode.times ?? Number.POSITIVE_INFINITY })
    },

    /** The mode that matches, with one use taken. */
    take(payment: Payment, event: string, names: readonly ModeName[]): Mode {
      const found = find(payment, event, names)
      if (found === undefined) return { mode: 'normal' }
      found.left -= 1
      if (found.left <= 0) kept = kept.filter((mode) => mode !== found)
      return found
    },

    /** The mode that would be used next. */
    next: (payment: Payment, event: string, names: readonly ModeName[]): ModeName =>
      find(payment, event, names)?.mode ?? 'normal',

    list: () =>
      kept.map(({ left, ...mode }) => (Number.isFinite(left) ? { ...mode, times: left } : mode)),
    clear(): void {
      kept = []
    },
  }
}

export type Modes = ReturnType<typeof createModes>

export function planOf(news: Announcement, mode: Mode, store: Store): Plan {
  const honest = noticeOf(news, store.shown(news.subject), mode.mode)
  const plain: Plan = { delayMs: mode.delayMs ?? 0, groups: [[honest]], dropped: [] }
  switch (mode.mode) {
    case 'drop':
      return { ...plain, groups: [], dropped: [honest] }
    case 'duplicate':
      return { ...plain, groups: [Array.from({ length: mode.copies ?? 2 }, () => honest)] }
    case 'reorder': {
      const extra = extraOf(news, mode, store)
      return {
        ...plain,
        groups: mode.place === 'after' ? [[honest], [extra]] : [[extra], [honest]],
      }
    }
    case 'stale':
      return { ...plain, groups: [[noticeOf(news, beforeOf(news.subject), mode.mode)]] }
    case 'corrupt': {
      const half = honest.body.slice(0, honest.body.length / 2)
      return { ...plain, groups: [[{ ...honest, body: half }]] }
    }
    case 'unknown-event': {
      const event = `${honest.event.split('.')[0]}.reconsidered`
      return {
        ...plain,
        groups: [[noticeOf({ ...news, event }, store.shown(news.subject), event)]],
      }
    }
    case 'other-shop':
      return { ...plain, groups: [[foreign(news, store)]] }
    default:
      return plain
  }
}

type News = Omit<Announcement, 'event'> & { event: string }

export function noticeOf({ event, subject, payment }: News, object: object, mode: string): Notice {
  const body = JSON.stringify({ type: 'notification', event, object })
  return { event, objectId: subject.id, paymentId: payment.id, mode, body }
}

/** The object as if the payment had succeeded; it has not. */
export function forgedSuccess(payment: Payment, store: Store): Notice {
  const { confirmation, ...object } = store.shown(payment)
  const captured_at = new Date(store.now()).toISOString()
  const paid = { ...object, status: 'succeeded', paid: true, refundable: true, captured_at }
  return noticeOf({ event: 'payment.succeeded', subject: payment, payment }, paid, 'forged')
}

function extraOf(news: Announcement, { extra }: Mode, store: Store): Notice {
  if (extra === 'stale') {
    const event = 'payment.waiting_for_capture'
    return noticeOf({ ...news, event }, beforeOf(news.subject), 'reorder')
  }
  const cancellation_details = { party: 'payment_network', reason: 'general_decline' }
  const object = { ...store.shown(news.payment), status: 'canceled', paid: false }
  const told = { event: 'payment.canceled', subject: news.payment, payment: news.payment }
  return noticeOf(told, { ...object, cancellation_details }, 'reorder')
}

function foreign(news: Announcement, store: Store): Notice {
  const id = objectId('payment', store.now())
  const object = { ...store.shown(news.subject), id }
  const recipient = { account_id: '999999', gateway_id: '2999999' }
  const told = 'payment_id' in object ? { ...object, payment_id: id } : { ...object, recipient }
  return { ...noticeOf(news, told, 'other-shop'), objectId: id }
}

function beforeOf(subject: Payment | Refund): JsonObject {
  const before: unknown = JSON.parse(subject.sim.before ?? '{}')
  return isObject(before) ? before : {}
}

export function readMode(given: unknown): Mode {
  const wrong = (why: string) => new BankError(400, `stand-in: ${why}`)
  if (!isObject(given)) throw wrong('a mode is an object')
  const known = ['mode', 'paymentId', 'orderId', 'event', 'times', 'delayMs', 'copies', 'extra']
  const unknown = Object.keys(given).find((name) => ![...known, 'place'].includes(name))
  if (unknown !== undefined) throw wrong(`unknown member ${unknown}`)
  if (!modeNames.includes(given.mode as ModeName)) throw wrong(`unknown mode ${given.mode}`)
  for (const name of ['times', 'delayMs', 'copies']) {
    const value = given[name]
    if (value !== undefined && !(Number.isInteger(value) && Number(value) >= 0)) {
      throw wrong(`${name} is a whole number`)
    }
  }
  if (!['canceled', 'stale', undefined].includes(given.extra as string | undefined)) {
    throw wrong('extra is canceled or stale')
  }
  if (!['before', 'after', undefined].includes(given.place as string | undefined)) {
    throw wrong('place is before or after')
  }
  // Safe: names, numbers and words were checked above.
  return given as Mode
}
