// op recover begin, show, stop and op unlock: for owners without authenticator or mailbox, and for
// those who are locked out. Nothing here lets anybody in: a recovery waits and warns, and an unlock
// only forgets counts.
import type { AccountId, BookId } from '../../platform/ids.ts'
import { formatTime } from '../desk/amounts.ts'
import { commandError, EXIT_DONE, usageError } from '../desk/command-error.ts'
import { customerName, findCustomer } from '../desk/customer.ts'
import type { Desk } from '../desk/desk.ts'

type OpenAccount = { readonly account: AccountId; readonly book: BookId; readonly name: string }

/** An account that is not closed. */
export async function openAccount(desk: Desk, text: string): Promise<OpenAccount> {
  const customer = await findCustomer(desk, text)
  const { account, book } = customer
  if (account === undefined || account.closedAt !== null) {
    throw commandError(`${customerName(customer)} has no open account`)
  }
  return { account: account.id, book: book.id, name: customerName(customer) }
}

export async function beginRecovery(desk: Desk, text: string): Promise<number> {
  const newEmail = desk.text('mailbox')?.trim().toLowerCase() ?? null
  if (newEmail !== null && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(newEmail)) {
    throw usageError(`--mailbox is an e-mail address, not ${newEmail}`)
  }
  const isFactorLost = desk.flag('authenticator')
  if (newEmail === null && !isFactorLost) throw usageError('say --mailbox, --authenticator or both')
  const kind = newEmail === null ? 'authenticator' : isFactorLost ? 'both' : 'mailbox'
  const { account, book, name } = await openAccount(desk, text)
  const { accounts, keys, clock } = desk.modules
  await accounts.recovery.requireBeginnable({ account, newEmail })
  const { matched } = await accounts.recovery.identity(account)
  const isCompromised = desk.flag('compromised')
  return desk.act({
    plan: [
      name,
      `  matched within a day: ${matched.join(', ')}`,
      newEmail === null
        ? '  its own mailbox confirms first; then the wait begins'
        : `  ${newEmail} confirms first; then the wait begins, and after it this is its address`,
      ...(isFactorLost ? ['  after the wait its second factor is removed'] : []),
      '  every known mailbox and signed-in browser is warned, and can stop it',
      isCompromised
        ? '  its key stops now'
        : '  its key stays; op revoke ends one that others know',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    needs: { kind: 'recovery', size: 1n },
    async work(tx) {
      if (isCompromised) {
        const { active } = await keys.find(book)
        const { revoked } = await keys.revoke(tx, book)
        const facts = { atMs: clock.nowMs(), address: '', device: '', last4: active?.last4 ?? '' }
        if (revoked !== undefined)
          await accounts.emailOwner(tx, book, { kind: 'key-revoked', facts })
      }
      return accounts.recovery.begin(tx, { account, kind, newEmail })
    },
    report: ({ id, endsAt }) => ({
      result: { recovery: id, account, kind, confirmBefore: endsAt },
      line: `${id} waits for the mailbox to confirm it until ${formatTime(endsAt)}`,
    }),
  })
}

export async function showRecovery(desk: Desk, text: string): Promise<number> {
  const { account, name } = await openAccount(desk, text)
  const { recovery } = desk.modules.accounts
  const [found, identity] = [await recovery.list(account), await recovery.identity(account)]
  const lines = found.flatMap(({ warnings, ...one }) => [
    `${one.id}  ${one.kind}, begun by the ${one.begunBy} at ${formatTime(one.begunAt)}: ` +
      one.steps.join(', '),
    `  ${stateOf(one)}`,
    ...warnings.map(
      ({ channel, stage, postedAt }) =>
        `  ${formatTime(postedAt)}  ${stage} to ${CHANNELS[channel]}`,
    ),
  ])
  desk.say({ account, identity, recoveries: found }, [
    name,
    `  matched within a day: ${identity.matched.join(', ') || 'nothing'}; wrong: ${identity.wrong}`,
    ...(lines.length === 0 ? ['  no recovery'] : lines),
  ])
  return EXIT_DONE
}

const CHANNELS = { mailbox: 'its mailbox', old_mailbox: 'the mailbox before' } as const

type Shown = Awaited<ReturnType<Desk['modules']['accounts']['recovery']['list']>>[number]

function stateOf(one: Omit<Shown, 'warnings'>): string {
  if (one.doneAt !== null && one.stoppedAt !== null) return `undone at ${formatTime(one.stoppedAt)}`
  if (one.doneAt !== null) return `done at ${formatTime(one.doneAt)}`
  if (one.stoppedAt !== null) return `ended at ${formatTime(one.stoppedAt)}: ${one.stoppedBy}`
  if (one.ripeAt === null) return `its mailbox can confirm it until ${formatTime(one.endsAt)}`
  return `possible from ${formatTime(one.ripeAt)} until ${formatTime(one.endsAt)}`
}

export async function stopRecovery(desk: Desk, text: string): Promise<number> {
  const { account, name } = await openAccount(desk, text)
  const { recovery } = desk.modules.accounts
  const living = await recovery.living(account)
  if (living === undefined) {
    desk.say({ isDone: false, account }, [`${name} has no recovery that waits`])
    return EXIT_DONE
  }
  return desk.act({
    plan: [
      name,
      living.openedAt === null
        ? `  ${living.id} (${living.kind}) ends; its mailbox did not confirm it, and nobody is told`
        : `  ${living.id} (${living.kind}) ends; its owner gets an e-mail`,
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    work: (tx) => recovery.stop(tx, account),
    report: (isStopped) => ({
      result: { recovery: living.id, isStopped },
      line: isStopped ? `${living.id} is stopped` : `${living.id} had ended`,
    }),
  })
}

export async function unlock(desk: Desk, text: string): Promise<number> {
  const { account, name } = await openAccount(desk, text)
  const { recovery } = desk.modules.accounts
  const locks = await recovery.locks(account)
  if (locks === undefined) throw commandError(`${name} has no open account`)
  const { guessedUntil, factorLockedUntil, wrongCodes, unreviewedResetAt } = locks
  return desk.act({
    plan: [
      name,
      guessedUntil === null
        ? '  no guesses of its password keep unknown browsers out'
        : `  wrong passwords keep unknown browsers out until ${formatTime(guessedUntil)}`,
      factorLockedUntil === null
        ? `  wrong codes since the last right one: ${wrongCodes}`
        : `  wrong codes lock its second factor until ${formatTime(factorLockedUntil)}`,
      ...(unreviewedResetAt === null
        ? []
        : [`  passkeys wait for the review of the reset at ${formatTime(unreviewedResetAt)}`]),
      '  all counts of wrong passwords and codes are forgotten; nobody gets in by this',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    // The counts change while somebody guesses.
    compared: [name],
    work: (tx) => recovery.unlock(tx, account),
    report: () => ({ result: { account, isUnlocked: true }, line: `${name} is unlocked` }),
  })
}
