// The acts of /sim that only a dishonest or careless provider would do: altering an object, sending
// notices of events that never happened, changing the shop.
import type { Input } from './input.ts'
import { wrong } from './input.ts'
import { isObject } from './json.ts'
import { forgedSuccess, noticeOf } from './notices.ts'
import type { Payment, Refund } from './objects.ts'
import type { Parts } from './parts.ts'
import { defaultSettings, type Settings } from './settings.ts'

/** From now on the object is shown with these members, exactly as given. */
export function alter(input: Input, subject: Payment | Refund): void {
  if (input.flag('isUndone') === true) subject.sim.shown = {}
  const { shown } = subject.sim
  const value = input.text('value')
  const currency = input.text('currency')
  if (value !== undefined || currency !== undefined) {
    const amount = isObject(shown.amount) ? shown.amount : subject.amount
    shown.amount = {
      ...amount,
      ...(value === undefined ? {} : { value }),
      ...(currency === undefined ? {} : { currency }),
    }
  }
  const test = input.flag('test')
  if (test !== undefined) shown.test = test
  const metadata = input.object('metadata')
  if (metadata !== undefined) shown.metadata = metadata
  const shop = input.text('shopId')
  if (shop !== undefined && 'recipient' in subject) {
    shown.recipient = { ...subject.recipient, account_id: shop }
  }
  // Anything else, under the provider's own names.
  Object.assign(shown, input.object('members') ?? {})
}

/** Sends a notice of an event that did not happen; without an object, a success. */
export async function forge(input: Input, payment: Payment | null, parts: Parts): Promise<object> {
  const source = input.text('source')
  const given = input.object('object')
  const event = input.text('event') ?? 'payment.succeeded'
  if (given === undefined && payment === null) throw wrong('name a payment or give an object')
  const body = JSON.stringify({ type: 'notification', event, object: given })
  const objectId = String(given?.id ?? '')
  const bare = { event, objectId, paymentId: String(given?.payment_id ?? objectId) }
  const notice =
    given === undefined && payment !== null
      ? forgedOf(payment, event, parts)
      : { ...bare, mode: 'forged', body }
  await parts.webhooks.tell(notice, source)
  return { sent: notice }
}

function forgedOf(payment: Payment, event: string, { store }: Parts) {
  if (event === 'payment.succeeded') return forgedSuccess(payment, store)
  const status = event.split('.')[1] ?? ''
  const told = { event, subject: payment, payment }
  return noticeOf(told, { ...store.shown(payment), status }, 'forged')
}

export function changeSettings({ members }: Input, settings: Settings): Settings {
  for (const [name, value] of Object.entries(members)) {
    if (!Object.hasOwn(defaultSettings, name)) throw wrong(`unknown setting ${name}`)
    const usual = defaultSettings[name as keyof Settings]
    const isText = name === 'webhookUrl' && (value === null || typeof value === 'string')
    const isAlike = Array.isArray(usual) ? Array.isArray(value) : typeof value === typeof usual
    if (!isAlike && !isText) throw wrong(`setting ${name} is of another kind`)
  }
  // Safe: names and kinds were compared with the defaults.
  return Object.assign(settings, members)
}

/** Deletes all payments, rules and records; the shop's settings and the time stay. */
export function refresh({ store, webhooks, faults, idempotence, calls, clock }: Parts): object {
  clock.clear()
  store.clear()
  webhooks.clear()
  faults.clear()
  idempotence.clear()
  calls.clear()
  return { payments: 0 }
}
