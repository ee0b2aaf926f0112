// Encodes a settle as a line of text, and decodes it, for the spool, the quarantine and the charge
// log. A version reads the lines of the one before and of the one after: elements are only added at
// the end, and a reader ignores those it does not know.
import type { BookId, HoldId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { PaidEnding } from '../units/endings.ts'
import { tokens } from '../units/tokens.ts'
import type { SettleInput } from './calls.ts'
import { cleanDetails, type RequestDetails } from './details.ts'
import { partsOf, storedParts } from './parts.ts'

/** Less than fits: the id of the hold and the header of the entry take some bytes. */
const KEY_LENGTH_MAX = 2_000

/** One line. */
export function settleText(input: SettleInput): string {
  const c = input.counts
  return JSON.stringify([
    input.id,
    String(input.book),
    [c.input, c.output, c.cacheRead, c.cacheWrite5m, c.cacheWrite1h].map(String),
    String(input.priced),
    input.ending,
    input.isEstimated,
    input.messageId,
    ...explanationOf(input),
  ])
}

/**
 * For the quarantine, whose key contains the text: an entry of an index has at most 2,704 bytes. If
 * the text is long, it is stored without what no charge is computed from.
 */
export function settleKeyText(input: SettleInput): string {
  const text = settleText(input)
  if (text.length <= KEY_LENGTH_MAX) return text
  const { details: _, parts, ...charge } = input
  if (parts === null || parts === undefined) return settleText(charge)
  const { unlisted: __, ...priced } = parts
  return settleText({ ...charge, parts: priced })
}

/** Nothing for a settle that has only what every version writes. */
function explanationOf({ tariff, parts, details }: SettleInput): unknown[] {
  const stored = parts === null || parts === undefined ? null : storedParts(parts)
  const kept = details === undefined ? null : cleanDetails(details)
  if (tariff === undefined && stored === null && kept === null) return []
  return [tariff ?? null, stored, kept]
}

export function settleFromText(line: string): SettleInput {
  // Versions before 0.2 wrote a refused settle into a file of its own, with the reason.
  const text = line.startsWith('{') ? (JSON.parse(line) as { settle: string }).settle : line
  const [id, book, counts, priced, ending, isEstimated, messageId, tariff, parts, details] =
    JSON.parse(text) as [
      HoldId,
      string,
      string[],
      string,
      PaidEnding,
      boolean,
      string | null,
      (number | null)?,
      unknown?,
      (RequestDetails | null)?,
    ]
  const stored = partsOf(parts)
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
    ...(tariff === null || tariff === undefined ? {} : { tariff }),
    ...(stored === null ? {} : { parts: stored }),
    ...(details === null || details === undefined ? {} : { details }),
  }
}
