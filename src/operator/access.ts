// op revoke, op suspend, op unsuspend: ending a key that was stolen, and stopping an account. Both
// take effect with the next request on every node, at the commit that also has the line.
import type { Desk } from './desk/desk.ts'
import { creditsShown } from './desk/figures.ts'
import { absent, EXIT_DONE } from './desk/halt.ts'
import { keyEnd, named, type Whom, whom, whomOf } from './desk/whom.ts'

export async function revoke(desk: Desk, text: string): Promise<number> {
  const { keys, accounts, clock } = desk.rooms
  const of = await ofKey(desk, text)
  const { active, pending } = await keys.find(of.book.id)
  if (active === undefined && pending === undefined) {
    desk.say({ isDone: false, book: of.book.id, key: null }, [`${named(of)} has no key`])
    return EXIT_DONE
  }
  const last4 = active?.last4 ?? ''
  return desk.act({
    plan: [
      named(of),
      active === undefined
        ? '  its key that waits for confirmation goes; none is in force'
        : `  its key ${active.keyId} (…${last4}) stops now, on every node`,
      '  the balance stays; the owner is told, and makes a new key in the cabinet',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    async work(tx) {
      const done = await keys.revoke(tx, of.book.id)
      if (done.revoked !== undefined) {
        const facts = { atMs: clock.nowMs(), address: '', device: '', last4 }
        await accounts.tell(tx, of.book.id, { kind: 'key-revoked', facts })
      }
      return done
    },
    tell: ({ revoked }) => ({
      result: { book: of.book.id, key: revoked ?? null },
      line: revoked === undefined ? 'the waiting key is gone' : `${revoked} (…${last4}) is revoked`,
    }),
  })
}

/** Somebody at the telephone has the last four characters; one key must have them. */
async function ofKey(desk: Desk, given: string): Promise<Whom> {
  const text = keyEnd(given)
  if (!/^[\w-]{4}$/.test(text)) return whom(desk, text)
  const found = (await desk.rooms.keys.search(text, 20)).filter(({ state }) => state === 'active')
  const [only, ...more] = found
  if (only === undefined) throw absent(`no key in force ends in ${text}`)
  if (more.length === 0) return whomOf(desk, only.book)
  const ids = found.map(({ keyId }) => keyId).join(', ')
  throw absent(`${found.length} keys in force end in ${text}: ${ids}; name one`)
}

export async function suspend(desk: Desk, text: string): Promise<number> {
  const of = await whom(desk, text)
  const { id, blockedReason, held } = of.book
  if (blockedReason === 'operator_blocked') return soAlready(desk, of, true)
  return desk.act({
    plan: [
      named(of),
      '  every request is refused with 403 from now on; nothing is charged',
      ...(held > 0n ? [`  ${creditsShown(held)} are held: requests under way end as usual`] : []),
      ...(blockedReason === null ? [] : [`  it is ${blockedReason}, and will be again after this`]),
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    work: (tx) => desk.rooms.ledger.block(tx, id, 'operator_blocked'),
    tell: () => ({ result: { book: id, isSuspended: true }, line: `book ${id} is suspended` }),
  })
}

export async function unsuspend(desk: Desk, text: string): Promise<number> {
  const of = await whom(desk, text)
  const { id, blockedReason } = of.book
  if (blockedReason !== 'operator_blocked') {
    if (blockedReason !== null) desk.note(`it is ${blockedReason}, which is not yours to lift`)
    return soAlready(desk, of, false)
  }
  const beneath = await desk.rooms.ledger.stopBeneath(id)
  const then = beneath === null ? 'requests are taken again' : `it is ${beneath} again: not open`
  return desk.act({
    plan: [named(of), `  ${then}`, `  reason: ${desk.text('reason') ?? ''}`],
    work: (tx) => desk.rooms.ledger.resume(tx, id, 'operator_blocked'),
    tell: () => ({
      result: { book: id, isSuspended: false, stop: beneath },
      line: `book ${id} is ${beneath ?? 'open'}`,
    }),
  })
}

function soAlready(desk: Desk, of: Whom, isSuspended: boolean): number {
  const words = isSuspended ? 'is suspended already' : 'is not suspended'
  desk.say({ isDone: false, book: of.book.id, isSuspended }, [`${named(of)} ${words}`])
  return EXIT_DONE
}
