// op grant, op adjust: an operator gives credits or corrects a balance, with a reason, once per
// reference. The amount is typed twice; the ledger refuses to take more than is available.
import type { Contra } from '../../ledger/ledger.ts'
import { Fault } from '../../platform/assert.ts'
import type { Tx } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import { type Credits, creditsText } from '../../units/credits.ts'
import { formatCredits, parseCredits } from '../desk/amounts.ts'
import { commandError, usageError } from '../desk/command-error.ts'
import { type Customer, customerName, customerTitle, findCustomer } from '../desk/customer.ts'
import type { Desk } from '../desk/desk.ts'

const CONTRAS: readonly Contra[] = ['loss', 'promo', 'revenue', 'clearing']
/** With the prefix `op` and the book's id it fits the ledger's limit of 200 characters. */
const REF_MAX = 100

export async function grant(desk: Desk, text: string, amount: string): Promise<number> {
  const to = await findCustomer(desk, text)
  const credits = requireCredits(amount)
  if (credits <= 0n) throw usageError('a grant is more than nothing; op adjust takes credits away')
  const { ref, reason } = refAndReason(desk, to)
  const what = `  gets ${formatCredits(credits)} promo credits, which are never refunded`
  return desk.act({
    plan: [customerTitle(to), what, ...debtLines(to, credits), `  reason: ${reason}`],
    compared: [customerName(to), what, reason],
    needs: { kind: 'grant', size: credits },
    typeAgain: formatCredits(credits),
    moves: movedBy(credits),
    async work(tx) {
      const gift = { book: to.book.id, ref, amount: credits, note: reason }
      const posted = await refuseOtherAmount(desk.modules.ledger.gift(tx, gift))
      await refuseLeaving(desk, tx, to)
      return posted
    },
    report: postedReport(to, credits, ref),
  })
}

export async function adjust(desk: Desk, text: string, amount: string): Promise<number> {
  const to = await findCustomer(desk, text)
  const credits = requireCredits(amount)
  if (credits === 0n) throw usageError('an adjustment is more or less than nothing')
  const contra = contraOf(desk)
  const { ref, reason } = refAndReason(desk, to)
  const what =
    credits > 0n
      ? `  gets ${formatCredits(credits)} credits, against ${contra}`
      : `  loses ${formatCredits(-credits)} credits, against ${contra}`
  return desk.act({
    plan: [customerTitle(to), what, ...debtLines(to, credits), `  reason: ${reason}`],
    compared: [customerName(to), what, reason],
    needs: { kind: 'adjustment', size: sizeOf(credits) },
    typeAgain: formatCredits(credits),
    moves: movedBy(credits),
    async work(tx) {
      const entry = { book: to.book.id, ref, amount: credits, contra, note: reason }
      const posted = await refuseOtherAmount(desk.modules.ledger.adjust(tx, entry))
      if (credits > 0n) await refuseLeaving(desk, tx, to)
      return posted
    },
    report: postedReport(to, credits, ref),
  })
}

/**
 * Credits would be forfeited when the account closes, or stay in a closed book for ever. Asked
 * after the ledger has locked the book, so that the answer stays true until the commit.
 */
async function refuseLeaving({ modules }: Desk, tx: Tx, { book }: Customer): Promise<void> {
  const ending = await modules.accounts.endingOf(book.id, tx)
  if (ending === undefined) return
  const how = ending.step === 'closed' ? 'closed' : 'closing'
  throw commandError(`the account is ${how}: its owner could not use the credits`)
}

type Posted = { readonly isRepeat: boolean; readonly seq: bigint; readonly available: Credits }

function sizeOf(credits: Credits): bigint {
  return credits < 0n ? -credits : credits
}

/** A repeated reference moves nothing. */
function movedBy(credits: Credits) {
  return ({ isRepeat }: Posted) => ({
    kind: 'credits' as const,
    amount: isRepeat ? 0n : sizeOf(credits),
  })
}

function postedReport(to: Customer, credits: Credits, ref: string) {
  return ({ isRepeat, seq, available }: Posted) => ({
    result: {
      book: to.book.id,
      isRepeat,
      entry: seq,
      ref,
      credits: creditsText(credits),
      available: creditsText(available),
    },
    line: isRepeat
      ? `nothing was changed: entry ${seq} of book ${to.book.id} has this reference`
      : `entry ${seq} of book ${to.book.id}: ${formatCredits(credits)}, ` +
        `available ${formatCredits(available)}`,
  })
}

function requireCredits(text: string): Credits {
  const credits = parseCredits(text)
  if (credits === undefined) throw usageError(`${text} is no number of credits, such as 1 000 000`)
  return credits
}

/** A reference counts per account, so that one can serve all customers hit by an outage. */
function refAndReason(
  desk: Desk,
  { book }: Customer,
): { readonly ref: string; readonly reason: string } {
  const given = desk.text('ref') ?? randomText(9)
  if (given.length > REF_MAX) throw usageError(`a reference has at most ${REF_MAX} characters`)
  return { ref: `op ${given} ${book.id}`, reason: desk.text('reason') ?? '' }
}

function contraOf(desk: Desk): Contra {
  const given = desk.text('contra') ?? 'loss'
  const contra = CONTRAS.find((one) => one === given)
  if (contra === undefined) throw usageError(`--contra is one of ${CONTRAS.join(', ')}`)
  return contra
}

function debtLines({ book }: Customer, credits: Credits): string[] {
  if (book.debt === 0n || credits < 0n) return []
  return [`  it owes ${formatCredits(book.debt)}: that is paid first`]
}

/** The ledger throws a Fault for a reused reference; typed by an operator it is just an error. */
async function refuseOtherAmount<T>(posting: Promise<T>): Promise<T> {
  try {
    return await posting
  } catch (error) {
    if (!(error instanceof Fault) || !error.message.endsWith('mismatch')) throw error
    throw commandError('this reference was used for another amount')
  }
}
