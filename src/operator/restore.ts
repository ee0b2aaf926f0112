// op restore: after the database was restored to an earlier moment. `check` says what processes and
// the payment provider know and the database lost: charges, payments, and keys that were replaced.
// `repair` brings it back: payments first, so that charges find the credits that were bought.
import { stat } from 'node:fs/promises'
import type { Missing, MissingOfBook, RestoreScope } from '../ledger/ledger.ts'
import type { LostPayments } from '../payments/payments.ts'
import { dateAt } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import { type Credits, creditsText } from '../units/credits.ts'
import { formatCount, formatCredits, formatTime, parsePeriodStart } from './desk/amounts.ts'
import { commandError, EXIT_DONE, EXIT_FAILED, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'

const DAY_MS = 86_400_000
/**
 * How long before the moment a payment may have been captured that was credited after it: the sweep
 * that is last to find a payment looks back as far.
 */
const CREDITED_LATE_MS = DAY_MS
/**
 * The job `partitions` drops holds that are more than a week old. Without its hold a charge that
 * was taken looks like a missing one: a repair would take it twice.
 */
const DAYS_MAX = 6
/** Accounts that are named to a person; `--json` has all. */
const LIST_MAX = 200

/** What `check` found: in the logs of processes, and in the payment provider's list. */
type Findings = { readonly missing: Missing; readonly lost: LostPayments }

/** Exits with 1 when something is missing, or may be missing in a log that was not given. */
export async function checkRestore(desk: Desk, ...directories: string[]): Promise<number> {
  const scope = await scopeOf(desk, directories)
  const found = await findMissing(desk, scope)
  desk.say(jsonOf(found), [headOf(scope, found), ...(await linesOf(desk, found))])
  return isRepaired(found) && found.missing.unreadLogs.length === 0 ? EXIT_DONE : EXIT_FAILED
}

/** Exits with 1 when something is still missing afterwards. */
export async function repairRestore(desk: Desk, ...directories: string[]): Promise<number> {
  const { ledger, payments } = desk.modules
  const scope = await scopeOf(desk, directories)
  const before = await findMissing(desk, scope)
  requirePayments(before.lost)
  await requireCatalogues(desk, before.missing)
  const code = await desk.actWithOwnTransactions({
    plan: [
      headOf(scope, before),
      ...(await linesOf(desk, before)),
      '  payments are credited, then charges are taken once, then replaced keys are revoked',
    ],
    async work() {
      const failed: string[] = []
      for (const payment of before.lost.payments) {
        const why = await payments.lost.restore(payment)
        if (why !== null) failed.push(`${payment.paymentId}: ${why}`)
      }
      if (before.lost.payments.length > 0) await payments.jobs.sweepRefunds()
      // Without the credits that were bought, a charge would be written off for good.
      const { charged, unsent } =
        failed.length > 0 ? { charged: 0, unsent: 0 } : await ledger.restore.repair(scope)
      for (const one of before.missing.fences) await revokeKeys(desk, one)
      return { charged, unsent, failed }
    },
    report: ({ charged, unsent, failed }) => ({
      result: { charged, unsent, failed },
      line: [
        `payments asked for: ${formatCount(before.lost.payments.length)}`,
        `charges taken: ${formatCount(charged)}`,
        `accounts whose keys were revoked: ${formatCount(before.missing.fences.length)}`,
        ...(unsent > 0 ? [`charges not taken: ${formatCount(unsent)}`] : []),
        ...(failed.length > 0 ? ['charges wait until these payments are back', ...failed] : []),
      ].join(', '),
    }),
  })
  if (code !== EXIT_DONE) return code
  const after = await findMissing(desk, scope)
  if (isRepaired(after)) return EXIT_DONE
  for (const line of await linesOf(desk, after)) desk.note(line)
  return EXIT_FAILED
}

async function scopeOf(desk: Desk, directories: readonly string[]): Promise<RestoreScope> {
  const since = desk.read('since', parsePeriodStart, 'a moment, such as 2026-11-01T10:00:00Z')
  if (since === undefined) throw usageError('--since says to which moment the database went back')
  const nowMs = desk.modules.clock.nowMs()
  // A local time typed as UTC: `check` would find nothing missing since then, and say so.
  if (since > dateAt(nowMs)) throw usageError('--since is in the future; is it in UTC?')
  if (since < dateAt(nowMs - DAYS_MAX * DAY_MS)) {
    throw usageError(`--since is at most ${DAYS_MAX} days ago: older charges cannot be compared`)
  }
  for (const directory of directories) {
    const isDirectory = await stat(directory).then(
      (found) => found.isDirectory(),
      () => false,
    )
    if (!isDirectory) throw commandError(`${directory} is not a directory on this machine`)
  }
  return { directories, since }
}

async function findMissing(desk: Desk, scope: RestoreScope): Promise<Findings> {
  const { ledger, payments, clock } = desk.modules
  const from = dateAt(scope.since.getTime() - CREDITED_LATE_MS)
  const lost = await payments.lost.list({ from, to: dateAt(clock.nowMs()) })
  return { lost, missing: await ledger.restore.check(scope) }
}

/** A charge takes what is there, once: before the purchases are back it would be written off. */
function requirePayments({ unread }: LostPayments): void {
  if (unread.length === 0) return
  throw commandError(`payments could not be read: ${unread.join('; ')}; nothing was changed`)
}

/** Charges name the price list by its version: another catalogue must not get the number. */
async function requireCatalogues({ modules }: Desk, { catalogues }: Missing): Promise<void> {
  for (const version of catalogues) {
    if ((await modules.pricing.version(version)) !== undefined) continue
    throw commandError(
      `the database lost catalogue ${version}, by which charges were priced; ` +
        'apply the same files again first, in their order (op catalogue apply)',
    )
  }
}

/** The new key is lost too: the owner issues another one. */
async function revokeKeys(
  { modules }: Desk,
  { book, fence }: { readonly book: BookId; readonly fence: bigint },
): Promise<void> {
  await modules.db.transaction(async (tx) => {
    await modules.keys.revoke(tx, book)
    await modules.ledger.restore.raiseFence(tx, book, fence)
  })
}

function isRepaired({ missing, lost }: Findings): boolean {
  const { charges, fences } = missing
  return [charges, fences, lost.payments, lost.unread].every(({ length }) => length === 0)
}

function headOf({ since, directories }: RestoreScope, { missing }: Findings): string {
  const places = `${directories.length} ${directories.length === 1 ? 'directory' : 'directories'}`
  return `since ${formatTime(since)}: ${formatCount(missing.read)} charges read in ${places}`
}

async function linesOf(desk: Desk, { missing, lost }: Findings): Promise<string[]> {
  const { charges, fences, withoutBook, unreadLogs, damaged, old } = missing
  const lines: string[] = []
  for (const { host, directory } of unreadLogs) {
    lines.push(`no charge log of ${directory} on ${host} was given: what is missing may be there`)
  }
  for (const one of charges.slice(0, LIST_MAX)) {
    const who = await accountTitle(desk, one.book)
    lines.push(`missing: ${formatCount(one.charges)} charges, ${sumOf([one])} credits  ${who}`)
  }
  if (charges.length > LIST_MAX) lines.push(`and of ${charges.length - LIST_MAX} other accounts`)
  if (charges.length > 0) lines.push(`missing in all: ${sumOf(charges)} credits`)
  for (const { what, paymentId, orderRef, detail } of lost.payments) {
    lines.push(`${what}  payment ${paymentId}  ${orderRef ?? ''}`, `  ${detail}`)
  }
  for (const why of lost.unread) lines.push(`payments could not be read: ${why}`)
  for (const { book } of fences) {
    lines.push(`key replaced or revoked since then: ${await accountTitle(desk, book)}`)
  }
  if (withoutBook.length > 0) {
    lines.push(`charges of ${withoutBook.length} lost accounts: ${sumOf(withoutBook)} credits`)
  }
  if (damaged > 0) lines.push(`damaged lines: ${formatCount(damaged)}`)
  if (old > 0) lines.push(`charges too old to be compared: ${formatCount(old)}`)
  return lines.length === 0 ? ['nothing is missing'] : lines
}

function sumOf(books: readonly MissingOfBook[]): string {
  return formatCredits(books.reduce((sum, { credits }) => sum + credits, 0n) as Credits)
}

/** `search` finds closed accounts too, `ownerOf` does not. */
async function accountTitle({ modules }: Desk, book: BookId): Promise<string> {
  const [account] = await modules.accounts.search(String(book), 1)
  return account?.book === book ? `${account.email} (book ${book})` : `book ${book}`
}

function jsonOf({ missing, lost }: Findings) {
  const texts = (books: readonly MissingOfBook[]) =>
    books.map(({ credits, ...one }) => ({ ...one, credits: creditsText(credits) }))
  const { charges, withoutBook, ...others } = missing
  return { ...others, charges: texts(charges), withoutBook: texts(withoutBook), ...lost }
}
