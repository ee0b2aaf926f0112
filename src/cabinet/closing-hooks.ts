// What the other modules do while an account closes, and what they add to the copy of its data. The
// accounts module may import none of them, so wiring.ts passes it these hooks. The published rule:
// paid credits are refunded if the owner asks and the refund rules allow it, and everything that is
// left is forfeited.
import type { ClosingHooks } from '../accounts/accounts.ts'
import type { Guards } from '../guards/guards.ts'
import type { Keys } from '../keys/keys.ts'
import type { Entry, Ledger } from '../ledger/ledger.ts'
import type { Payments } from '../payments/payments.ts'
import type { Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import { requestIdOf } from '../platform/ids.ts'
import type { Mail } from '../platform/mail/mail.ts'
import { creditsText, micro } from '../units/credits.ts'
import { chargeColumns } from './api/statement/charge-text.ts'
import { statementWords } from './api/statement/words.ts'

export type ClosingHookOptions = {
  readonly keys: Pick<Keys, 'revoke' | 'list'>
  readonly ledger: Pick<Ledger, 'block' | 'resume' | 'balance' | 'adjust' | 'statement' | 'usage'>
  readonly guards: Pick<Guards, 'copy'>
  readonly payments: Pick<Payments, 'copy' | 'erase' | 'needs' | 'topUps' | 'closings' | 'receipts'>
  readonly mail: Pick<Mail, 'listOf' | 'waiting' | 'erase'>
}

/** An entry is 600 bytes of JSON. */
const ENTRIES_PAGE = 1_000

export function createClosingHooks(options: ClosingHookOptions): ClosingHooks {
  const { keys, ledger, guards, payments, mail } = options

  /** Locks the book: until the commit no other transaction changes what it has. */
  async function locked(tx: Tx, book: BookId) {
    await ledger.block(tx, book, 'owner_suspended')
    const found = await ledger.balance(book, tx)
    if (found === undefined) throw new Error(`there is no book ${book}`)
    return found
  }

  /** The newest first, page by page; days that have left the ledger for files are not in it. */
  async function* entriesOf(book: BookId, onPage: (last: Entry) => void) {
    let beforeSeq: bigint | null = null
    for (;;) {
      const page: Entry[] = await ledger.statement({ book, beforeSeq, limit: ENTRIES_PAGE })
      yield* page.map(entryCopy)
      const last = page.at(-1)
      if (last !== undefined) onPage(last)
      if (last === undefined || page.length < ENTRIES_PAGE) return
      beforeSeq = last.seq
    }
  }

  function statementOf(book: BookId) {
    const state = { oldest: 1n }
    return {
      entries: entriesOf(book, ({ seq }) => {
        state.oldest = seq
      }),
      async refusedRequests() {
        const refused = await ledger.usage.refused.list({ book, from: null, to: null })
        return refused.map((one) => ({ ...one, requests: String(one.requests) }))
      },
      // Entries are numbered from 1 without gaps.
      isComplete: () => state.oldest === 1n,
    }
  }

  return {
    async isStopped(tx, book) {
      return (await ledger.balance(book, tx))?.blockedReason != null
    },

    async onBegin(tx, { book }) {
      await keys.revoke(tx, book)
      await payments.topUps.close(tx, book)
      await ledger.block(tx, book, 'owner_suspended')
    },

    async onStop(tx, { book, wasStopped }) {
      if (!wasStopped) await ledger.resume(tx, book, 'owner_suspended')
    },

    async isDrained(tx, { book }) {
      const balance = await locked(tx, book)
      return balance.held === 0n && (await payments.closings.payableOrders(book, tx)) === 0
    },

    requestRefunds: (closing) => payments.closings.requestMissing(closing),

    async isRefunded(tx, closing) {
      await locked(tx, closing.book)
      return payments.closings.isSettled(tx, closing)
    },

    async onClose(tx, closing) {
      const { account, book } = closing
      // A payment that came during the closing may have saved its card.
      await payments.topUps.close(tx, book)
      await payments.receipts.completeNow(tx, book)
      const { held, available } = await locked(tx, book)
      if (held > 0n || !(await payments.closings.isSettled(tx, closing))) return false
      if (available === 0n) return true
      await ledger.adjust(tx, {
        book,
        ref: `closing ${account}`,
        amount: micro(-available),
        contra: 'revenue',
        note: 'The account was closed.',
      })
      return true
    },
    /** Each module says what it still needs; docs/personal-data.md lists them. */
    async needs(executor, { account, book, addresses }) {
      const balance = await ledger.balance(book, executor)
      const waiting = await mail.waiting(executor, { account, addresses })
      return [
        ...((balance?.held ?? 0n) > 0n ? ['a request still runs'] : []),
        ...(await payments.needs(executor, book)),
        ...(waiting === 0 ? [] : [`${waiting} e-mails to its address wait to be sent`]),
      ]
    },
    beforeErase: ({ book }) => ledger.usage.eraseNames(book),
    async onErase(tx, { account, book, addresses }) {
      await payments.erase(tx, book)
      await mail.erase(tx, { account, addresses })
    },
    exports: {
      keys: ({ book }) => keys.list(book),
      guards: ({ book }) => guards.copy(book),
      payments: ({ book }) => payments.copy(book),
      ledger: async ({ book }) => statementOf(book),
      letters: async ({ account, addresses }) => mail.listOf({ account, addresses }),
    },
  }
}

/** An entry for JSON: amounts as text, the request by the id that its client saw. */
function entryCopy(entry: Entry) {
  const { seq, at, kind, model, ending, ref, note } = entry
  const counts = [entry.input, entry.output, entry.cacheRead, entry.cacheWrite5m]
  const [input, output, cacheRead, cacheWrite5m, cacheWrite1h] = [
    ...counts,
    entry.cacheWrite1h,
  ].map((count) => (count === null ? null : String(count)))
  return {
    ...{ seq: String(seq), at, kind, model, ending, ref, note },
    amount: creditsText(entry.amount),
    balance: creditsText(entry.balance),
    request: entry.holdId === null ? null : requestIdOf(entry.holdId),
    tokens: { input, output, cacheRead, cacheWrite5m, cacheWrite1h },
    ...chargeColumns(entry, statementWords.en),
    details: entry.details,
  }
}
