// A customer for ledger tests: a book with credits, and requests in whole credits.
import type { HoldInput, SettleInput } from '../../src/ledger/calls.ts'
import type { BookId, HoldId } from '../../src/platform/ids.ts'
import { newHoldId } from '../../src/platform/ids.ts'
import { credits, wholeCredits } from '../../src/units/credits.ts'
import type { FreeEnding } from '../../src/units/endings.ts'
import { ONE } from '../../src/units/price.ts'
import { noTokens, tokens } from '../../src/units/tokens.ts'
import type { TestLedger } from './harness.ts'

export type LedgerCustomer = Awaited<ReturnType<typeof createLedgerCustomer>>

export async function createLedgerCustomer(ledger: TestLedger, whole = 1_000) {
  const price = {
    input: ONE,
    coefficient: ONE,
    cacheRead: ONE,
    cacheWrite5m: ONE,
    cacheWrite1h: ONE,
  }
  const tariff = await ledger.tariff({ catalogueVersion: 1, model: 'model', price })
  const book: BookId = await ledger.createBook(ledger.db)

  /** Adds credits under a reference of this book; returns the lot. */
  async function credit(kind: 'purchase' | 'promo', name: string, amount: number): Promise<bigint> {
    const contra = kind === 'promo' ? 'promo' : 'clearing'
    const p = {
      book,
      kind,
      ref: `${name} ${book}`,
      amount: credits(amount),
      contra,
      note: '',
    } as const
    return (await ledger.db.transaction((tx) => ledger.credit(tx, p))).seq
  }

  /** What a new request asks to hold; the time goes into its id. */
  function holdInput(worst = 100, atMs = Date.now()): HoldInput {
    const id = newHoldId(0, atMs)
    return { id, book, tariff, fence: 0n, worst: credits(worst), floor: credits(1) }
  }

  function settleInput(id: HoldId, priced = 30): SettleInput {
    return {
      id,
      book,
      counts: { ...noTokens, input: tokens(priced - 1), output: tokens(1) },
      priced: credits(priced),
      ending: 'complete',
      isEstimated: false,
      messageId: `msg_${id}`,
    }
  }

  if (whole > 0) await credit('purchase', 'first', whole)
  return {
    book,
    tariff,
    credit,
    holdInput,
    settleInput,
    async hold(worst?: number, atMs?: number): Promise<HoldId> {
      const input = holdInput(worst, atMs)
      await ledger.hold(input)
      return input.id
    },
    settle: (id: HoldId, priced?: number) => ledger.settle(settleInput(id, priced)),
    void: (id: HoldId, ending: FreeEnding) =>
      ledger.void({ id, book, tariff, ending, reason: 'a test' }),
    /** `available held debt`, in whole credits. */
    async balance(): Promise<string> {
      const found = await ledger.balance(book)
      if (found === undefined) return 'no book'
      return [found.available, found.held, found.debt].map(wholeCredits).join(' ')
    },
  }
}
