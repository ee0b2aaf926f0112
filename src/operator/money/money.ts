// op grant, op adjust: credits given or corrected by hand, with a reason, once per reference. The
// amount is typed twice; down beyond what is available is refused by the ledger.
import type { Contra } from '../../ledger/ledger.ts'
import { Fault } from '../../platform/assert.ts'
import { randomText } from '../../platform/ids.ts'
import { type Credits, creditsText } from '../../units/credits.ts'
import type { Desk } from '../desk/desk.ts'
import { creditsFrom, creditsShown } from '../desk/figures.ts'
import { absent, mistake } from '../desk/halt.ts'
import { named, type Whom, whom } from '../desk/whom.ts'

const CONTRAS: readonly Contra[] = ['loss', 'promo', 'revenue', 'clearing']
/** Beside the book's number and our own word it fits the ledger's two hundred characters. */
const REF_MAX = 100

export async function grant(desk: Desk, text: string, amount: string): Promise<number> {
  const to = await whom(desk, text)
  const credits = creditsOf(amount)
  if (credits <= 0n) throw mistake('a grant is more than nothing; op adjust takes credits away')
  const { ref, reason } = why(desk, to)
  return desk.act({
    plan: [
      named(to),
      `  gets ${creditsShown(credits)} promo credits, which are never refunded`,
      ...owed(to, credits),
      `  reason: ${reason}`,
    ],
    again: creditsShown(credits),
    work: (tx) =>
      sameRef(
        desk.rooms.ledger.credit(tx, {
          ...{ book: to.book.id, kind: 'promo', ref, amount: credits, contra: 'promo' },
          note: reason,
        }),
      ),
    tell: told(to, credits, ref),
  })
}

export async function adjust(desk: Desk, text: string, amount: string): Promise<number> {
  const to = await whom(desk, text)
  const credits = creditsOf(amount)
  if (credits === 0n) throw mistake('an adjustment is more or less than nothing')
  const contra = contraOf(desk)
  const { ref, reason } = why(desk, to)
  return desk.act({
    plan: [
      named(to),
      credits > 0n
        ? `  gets ${creditsShown(credits)} credits, against ${contra}`
        : `  loses ${creditsShown(-credits)} credits, against ${contra}`,
      ...owed(to, credits),
      `  reason: ${reason}`,
    ],
    again: creditsShown(credits),
    work: (tx) =>
      sameRef(
        desk.rooms.ledger.adjust(tx, {
          ...{ book: to.book.id, ref, amount: credits, contra, note: reason },
        }),
      ),
    tell: told(to, credits, ref),
  })
}

type Posted = { readonly isRepeat: boolean; readonly seq: bigint; readonly available: Credits }

function told(to: Whom, credits: Credits, ref: string) {
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
      : `entry ${seq} of book ${to.book.id}: ${creditsShown(credits)}, ` +
        `available ${creditsShown(available)}`,
  })
}

function creditsOf(text: string): Credits {
  const credits = creditsFrom(text)
  if (credits === undefined) throw mistake(`${text} is no number of credits, such as 1 000 000`)
  return credits
}

/** Once per account and reference: one reference may serve everybody whom an outage has hit. */
function why(desk: Desk, { book }: Whom): { readonly ref: string; readonly reason: string } {
  const given = desk.text('ref') ?? randomText(9)
  if (given.length > REF_MAX) throw mistake(`a reference has at most ${REF_MAX} characters`)
  return { ref: `op ${given} ${book.id}`, reason: desk.text('reason') ?? '' }
}

function contraOf(desk: Desk): Contra {
  const given = desk.text('contra') ?? 'loss'
  const contra = CONTRAS.find((one) => one === given)
  if (contra === undefined) throw mistake(`--contra is one of ${CONTRAS.join(', ')}`)
  return contra
}

function owed({ book }: Whom, credits: Credits): string[] {
  if (book.debt === 0n || credits < 0n) return []
  return [`  it owes ${creditsShown(book.debt)}: that is paid first`]
}

/** The ledger takes a reference with another amount for a bug, which it is not when people type. */
async function sameRef<T>(posting: Promise<T>): Promise<T> {
  try {
    return await posting
  } catch (error) {
    if (!(error instanceof Fault) || !error.message.endsWith('mismatch')) throw error
    throw absent('this reference was used for another amount')
  }
}
