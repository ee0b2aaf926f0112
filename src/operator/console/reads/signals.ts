// What accounts of one person often share, as lines of a queue. A signal refuses nothing and has no
// action of its own: a person opens the accounts and decides there.
import type { BookId } from '../../../platform/ids.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import { namesOf } from '../../money/signals.ts'
import type { SignalLine } from '../contract/queues.ts'
import { timeOf } from './amounts.ts'

/** As `op signals` without --days. */
const DAYS = 30
const SHOWN_MAX = 50
/** Accounts of one line; `op signals --json` has all. */
const NAMED_MAX = 5

export async function signalLines(
  modules: Pick<OperatorModules, 'payments' | 'accounts'>,
): Promise<SignalLine[]> {
  const signals = await modules.payments.signals(DAYS)
  const name = await namesOf({ modules }, signals)
  const named = (books: readonly BookId[]) =>
    books.slice(0, NAMED_MAX).map((book) => ({ book: String(book), name: name(book) }))
  const lines: SignalLine[] = [
    ...signals.cards.map(({ card, books, last }) => ({
      ...{ kind: 'card' as const, of: card, count: books.length, amountKopecks: null },
      ...{ lastAt: timeOf(last), accounts: named(books) },
    })),
    ...signals.banks.map(({ bank, code, books, last }) => ({
      ...{ kind: 'bank' as const, of: `${bank} ${code}`, count: books.length },
      ...{ amountKopecks: null, lastAt: timeOf(last), accounts: named(books) },
    })),
    ...signals.refunds.map(({ book, refunds, amount, last }) => ({
      ...{ kind: 'refunds' as const, of: '', count: refunds, amountKopecks: String(amount) },
      ...{ lastAt: timeOf(last), accounts: named([book]) },
    })),
    ...signals.tries.map(({ book, tries }) => ({
      ...{ kind: 'tries' as const, of: '', count: tries, amountKopecks: null },
      ...{ lastAt: null, accounts: named([book]) },
    })),
  ]
  return lines.slice(0, SHOWN_MAX)
}
