// The two columns of a statement that explain an unusual charge: which prices applied, and the
// parts of the cost that the token columns do not include. Both are empty for an ordinary request.
import type { ChargeParts, Entry } from '../../../ledger/ledger.ts'
import { recordedOf } from '../../../units/charge-lines.ts'
import { creditsText } from '../../../units/credits.ts'
import { millionthsText } from '../../../units/price.ts'
import type { PriceListName } from '../../contract/prices.ts'
import { listNamed, priceDimensions } from '../prices.ts'
import type { StatementWords } from './words.ts'

type Columns = { readonly prices: string | null; readonly others: string | null }

export function chargeColumns(entry: Entry, words: StatementWords): Columns {
  if (entry.kind !== 'charge') return { prices: null, others: null }
  const { list, parts } = recordedOf(entry)
  const { served } = parts
  const prices = [
    ...(served === undefined ? [] : [`${words.answeredBy} ${served.model}`]),
    ...listWords(listNamed(served?.list ?? list), words),
  ]
  const others = [...passTexts(parts, words), ...toolTexts(parts)]
  return { prices: prices.join(', ') || null, others: others.join('; ') || null }
}

/** `prompt above 100000 tokens`, `speed fast`. */
function listWords({ above, values }: PriceListName, words: StatementWords): string[] {
  const given = priceDimensions.flatMap((dimension) => {
    const value = values[dimension]
    return value === undefined ? [] : [`${words.dimensions[dimension]} ${value}`]
  })
  return [...(above === '0' ? [] : [words.above(above)]), ...given]
}

/** `model-small: 1200 × 1 + 300 × 5`, with the kinds of tokens in the order of the columns. */
function passTexts({ passes = [] }: ChargeParts, words: StatementWords): string[] {
  return passes.map(({ model, list, price, counts }) => {
    const terms = [
      [counts.input, price.input],
      [counts.output, price.coefficient],
      [counts.cacheRead, price.cacheRead],
      [counts.cacheWrite5m, price.cacheWrite5m],
      [counts.cacheWrite1h, price.cacheWrite1h],
    ] as const
    const sum = terms
      .filter(([count]) => count > 0n)
      .map(([count, each]) => `${count} × ${millionthsText(each)}`)
      .join(' + ')
    return `${[model, ...listWords(listNamed(list), words)].join(', ')}: ${sum || '0'}`
  })
}

/** `web_search: 3 × 2500`. */
function toolTexts({ uses = [] }: ChargeParts): string[] {
  return uses.map(({ feature, count, each }) => `${feature}: ${count} × ${creditsText(each)}`)
}
