// What the other modules do when an account is closed, and what they add to the copy of its data.
// The accounts module may import none of them, so wiring.ts passes it these hooks. The published
// rule: paid credits are refunded if the owner asks and the refund rules allow it (api/closing.ts
// has requested the refunds by then), and everything that is left is forfeited.
import type { ClosingHooks } from '../accounts/accounts.ts'
import type { Guards } from '../guards/guards.ts'
import type { Keys } from '../keys/keys.ts'
import type { Entry, Ledger } from '../ledger/ledger.ts'
import type { Payments } from '../payments/payments.ts'
import type { AccountId, BookId } from '../platform/ids.ts'
import { requestIdOf } from '../platform/ids.ts'
import type { Mail } from '../platform/mail/mail.ts'
import { creditsText, micro } from '../units/credits.ts'
import { requireNoRequests } from './api/closing.ts'
import { chargeColumns } from './api/statement/charge-text.ts'
import { statementWords } from './api/statement/words.ts'

export type ClosingHookOptions = {
  readonly keys: Pick<Keys, 'revoke' | 'find'>
  readonly ledger: Pick<Ledger, 'block' | 'balance' | 'adjust' | 'statement' | 'usage'>
  readonly guards: Pick<Guards, 'copy'>
  readonly payments: Pick<Payments, 'copy' | 'erase' | 'topUps'>
  readonly mail: Pick<Mail, 'listTo'>
  emailOf(account: AccountId): Promise<string | undefined>
}

/** An entry is 600 bytes of JSON, so 10,000 are 6 MB; owners with more ask support for the rest. */
const ENTRIES_MAX = 10_000
const ENTRIES_PAGE = 1_000

export function createClosingHooks(options: ClosingHookOptions): ClosingHooks {
  const { keys, ledger, guards, payments, mail } = options

  async function statementOf(book: BookId) {
    const entries: Entry[] = []
    while (entries.length < ENTRIES_MAX) {
      const beforeSeq = entries.at(-1)?.seq ?? null
      const page = await ledger.statement({ book, beforeSeq, limit: ENTRIES_PAGE })
      entries.push(...page)
      if (page.length < ENTRIES_PAGE) break
    }
    // Entries are numbered from 1 without gaps.
    const isComplete = (entries.at(-1)?.seq ?? 1n) === 1n
    const refused = await ledger.usage.refused.list({ book, from: null, to: null })
    const refusedRequests = refused.map((one) => ({ ...one, requests: String(one.requests) }))
    return { isComplete, entries: entries.map(entryCopy), refusedRequests }
  }

  return {
    async onClose(tx, { account, book }) {
      await keys.revoke(tx, book)
      await payments.topUps.close(tx, book)
      // Locks the book: from here on no other transaction changes what is available.
      await ledger.block(tx, book, 'owner_suspended')
      const balance = await ledger.balance(book, tx)
      requireNoRequests(balance)
      const left = balance?.available ?? 0n
      if (left === 0n) return
      await ledger.adjust(tx, {
        book,
        ref: `closing ${account}`,
        amount: micro(-left),
        contra: 'revenue',
        note: 'The account was closed.',
      })
    },
    onErase: (tx, { book }) => payments.erase(tx, book),
    exports: {
      key: ({ book }) => keys.find(book),
      guards: ({ book }) => guards.copy(book),
      payments: ({ book }) => payments.copy(book),
      ledger: ({ book }) => statementOf(book),
      async letters({ account }) {
        const email = await options.emailOf(account)
        return email === undefined ? [] : mail.listTo(email)
      },
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
