// A settle as a line of text and back, for the files that keep it.
import type { BookId, HoldId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import { tokens } from '../../units/tokens.ts'
import type { PaidEnding, SettleAsk } from '../calls.ts'

/** One line, as the spool and the refused files keep it. */
export function textOf(ask: SettleAsk): string {
  const c = ask.counts
  return JSON.stringify([
    ask.id,
    String(ask.book),
    [c.input, c.output, c.cacheRead, c.cacheWrite5m, c.cacheWrite1h].map(String),
    String(ask.priced),
    ask.ending,
    ask.isEstimated,
    ask.messageId,
  ])
}

export function askOf(text: string): SettleAsk {
  const [id, book, counts, priced, ending, isEstimated, messageId] = JSON.parse(text) as [
    HoldId,
    string,
    string[],
    string,
    PaidEnding,
    boolean,
    string | null,
  ]
  const count = (i: number) => tokens(BigInt(counts[i] ?? '0'))
  return {
    id,
    book: BigInt(book) as BookId,
    counts: {
      input: count(0),
      output: count(1),
      cacheRead: count(2),
      cacheWrite5m: count(3),
      cacheWrite1h: count(4),
    },
    priced: BigInt(priced) as Credits,
    ending,
    isEstimated,
    messageId,
  }
}
