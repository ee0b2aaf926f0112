// op revoke, op suspend, op unsuspend: revoke a stolen key, suspend an account. The change and its
// record in operator_acts commit in one transaction; every node applies it from the next request
// on.
import { formatCredits } from './desk/amounts.ts'
import { commandError, EXIT_DONE } from './desk/command-error.ts'
import {
  type Customer,
  customerOfBook,
  customerTitle,
  findCustomer,
  keyEnd,
} from './desk/customer.ts'
import type { Desk } from './desk/desk.ts'

export async function revoke(desk: Desk, text: string): Promise<number> {
  const { keys, accounts, clock } = desk.modules
  const customer = await customerOfKey(desk, text)
  const { active, pending } = await keys.find(customer.book.id)
  if (active === undefined && pending === undefined) {
    desk.say({ isDone: false, book: customer.book.id, key: null }, [
      `${customerTitle(customer)} has no key`,
    ])
    return EXIT_DONE
  }
  const last4 = active?.last4 ?? ''
  return desk.act({
    plan: [
      customerTitle(customer),
      active === undefined
        ? '  its key that waits for confirmation goes; none is in force'
        : `  its key ${active.keyId} (…${last4}) stops now, on every node`,
      '  the balance stays; the owner gets an e-mail and makes a new key in the cabinet',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    async work(tx) {
      const done = await keys.revoke(tx, customer.book.id)
      if (done.revoked !== undefined) {
        const facts = { atMs: clock.nowMs(), address: '', device: '', last4 }
        await accounts.emailOwner(tx, customer.book.id, { kind: 'key-revoked', facts })
      }
      return done
    },
    report: ({ revoked }) => ({
      result: { book: customer.book.id, key: revoked ?? null },
      line: revoked === undefined ? 'the waiting key is gone' : `${revoked} (…${last4}) is revoked`,
    }),
  })
}

/** A customer on the phone may know only the last four characters; they must match one key. */
async function customerOfKey(desk: Desk, given: string): Promise<Customer> {
  const text = keyEnd(given)
  if (!/^[\w-]{4}$/.test(text)) return findCustomer(desk, text)
  const found = (await desk.modules.keys.search(text, 20)).filter(({ state }) => state === 'active')
  const [only, ...more] = found
  if (only === undefined) throw commandError(`no key in force ends in ${text}`)
  if (more.length === 0) return customerOfBook(desk, only.book)
  const ids = found.map(({ keyId }) => keyId).join(', ')
  throw commandError(`${found.length} keys in force end in ${text}: ${ids}; name one`)
}

export async function suspend(desk: Desk, text: string): Promise<number> {
  const customer = await findCustomer(desk, text)
  const { id, blockedReason, held } = customer.book
  if (blockedReason === 'operator_blocked') return reportUnchanged(desk, customer, true)
  return desk.act({
    plan: [
      customerTitle(customer),
      '  every request is refused with 403 from now on; nothing is charged',
      ...(held > 0n ? [`  ${formatCredits(held)} are held: requests under way end as usual`] : []),
      ...(blockedReason === null ? [] : [`  it is ${blockedReason}, and will be again after this`]),
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    work: (tx) => desk.modules.ledger.block(tx, id, 'operator_blocked'),
    report: () => ({ result: { book: id, isSuspended: true }, line: `book ${id} is suspended` }),
  })
}

export async function unsuspend(desk: Desk, text: string): Promise<number> {
  const customer = await findCustomer(desk, text)
  const { id, blockedReason } = customer.book
  if (blockedReason !== 'operator_blocked') {
    if (blockedReason !== null) desk.note(`it is ${blockedReason}, which is not yours to lift`)
    return reportUnchanged(desk, customer, false)
  }
  const beneath = await desk.modules.ledger.stopAfterUnblock(id)
  const then = beneath === null ? 'requests are taken again' : `it is ${beneath} again: not open`
  return desk.act({
    plan: [customerTitle(customer), `  ${then}`, `  reason: ${desk.text('reason') ?? ''}`],
    work: (tx) => desk.modules.ledger.resume(tx, id, 'operator_blocked'),
    report: () => ({
      result: { book: id, isSuspended: false, stop: beneath },
      line: `book ${id} is ${beneath ?? 'open'}`,
    }),
  })
}

function reportUnchanged(desk: Desk, customer: Customer, isSuspended: boolean): number {
  const words = isSuspended ? 'is suspended already' : 'is not suspended'
  desk.say({ isDone: false, book: customer.book.id, isSuspended }, [
    `${customerTitle(customer)} ${words}`,
  ])
  return EXIT_DONE
}
