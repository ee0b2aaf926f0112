// What the explorer can show of a bucket. Credits, roubles, requests and tokens are sums: the parts
// of a bar add up. Times and the share of cached input are not; their bars have the figures of all
// keys.
import { useTranslation } from 'react-i18next'
import type { Latency, UsageFigures } from '../../../../src/cabinet/contract/usage.ts'
import { creditsOf, MILLION, millionthsOf } from '../../../format/decimal.ts'
import { secondsText } from '../../../format/durations.ts'
import { usePhrases } from '../../../format/phrases.ts'
import type { PackRate } from '../../../format/roubles.ts'
import { useFormat } from '../../../format/use-format.ts'
import type { Metric } from '../period.ts'

/** Steps of the share: tenths of a percent. */
const PER_MILLE = 1_000n
const KOPECKS_PER_RUBLE = 100n

export type Measure = {
  readonly metric: Metric
  readonly kind: 'sum' | 'times' | 'share'
  /** How much of an amount is one unit on the screen. */
  readonly unit: bigint
  /** Prices in roubles are rounded up, all else down. */
  readonly isUp: boolean
  amountOf(figures: UsageFigures): bigint
  /** An amount in whole units: 35 000 001 кредит. */
  text(units: bigint): string
  /** The same in a column whose heading has the noun. */
  short(units: bigint): string
  /** On the axis. */
  tick(units: bigint): string
}

/** Without a rate there are no roubles, and credits are shown. */
export function useMeasure(chosen: Metric, rate: PackRate | undefined): Measure {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const metric = chosen === 'rubles' && rate === undefined ? 'credits' : chosen
  const compact = (units: bigint) => format.creditsShort(creditsOf(units * MILLION))
  const own = { metric, amountOf: (figures: UsageFigures) => amountOf(metric, figures, rate) }
  if (metric === 'credits') {
    return {
      ...{ ...own, kind: 'sum', unit: MILLION, isUp: false, tick: compact, short: format.whole },
      text: (units) => phrases.credits(creditsOf(units * MILLION)),
    }
  }
  if (metric === 'rubles') {
    const text = (kopecks: bigint) => format.rubles(String(kopecks))
    return {
      ...{ ...own, kind: 'sum', unit: millionthsOf(rate?.credits.exact ?? '1'), isUp: true },
      ...{ text, short: text },
      tick: (kopecks) =>
        kopecks % KOPECKS_PER_RUBLE === 0n
          ? t('usage.explorer.rubles', { shown: compact(kopecks / KOPECKS_PER_RUBLE) })
          : text(kopecks),
    }
  }
  if (metric === 'firstByte' || metric === 'total') {
    const text = (ms: bigint) => secondsText(format.language, Number(ms))
    return { ...own, kind: 'times', unit: 1n, isUp: false, text, short: text, tick: text }
  }
  if (metric === 'cacheShare') {
    const text = (share: bigint) =>
      t('usage.explorer.percent', { shown: format.decimal(tenths(share)) })
    return { ...own, kind: 'share', unit: 1n, isUp: false, text, short: text, tick: text }
  }
  const text =
    metric === 'requests' || metric === 'errors'
      ? (units: bigint) => phrases.requests(String(units))
      : (units: bigint) =>
          t('usage.explorer.tokens', { count: phrases.form(units), shown: format.whole(units) })
  return { ...own, kind: 'sum', unit: 1n, isUp: false, text, short: format.whole, tick: compact }
}

function amountOf(metric: Metric, figures: UsageFigures, rate: PackRate | undefined): bigint {
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = figures
  const cacheWrite = BigInt(cacheWrite5m) + BigInt(cacheWrite1h)
  const read = BigInt(input) + BigInt(cacheRead) + cacheWrite
  const micro = millionthsOf(figures.credits.exact)
  switch (metric) {
    case 'credits':
      return micro
    case 'rubles':
      return micro * BigInt(rate?.priceKopecks ?? 0)
    case 'cacheWrite':
      return cacheWrite
    case 'tokens':
      return read + BigInt(output)
    case 'cacheShare':
      return read === 0n ? 0n : (BigInt(cacheRead) * PER_MILLE) / read
    case 'firstByte':
    case 'total':
      return BigInt(figures[metric]?.p50 ?? 0)
    default:
      return BigInt(figures[metric])
  }
}

/** The slowest of twenty requests took at least this long. */
export function slowOf(metric: Metric, figures: UsageFigures): bigint {
  const latency: Latency | null =
    metric === 'firstByte' || metric === 'total' ? figures[metric] : null
  return BigInt(latency?.p95 ?? 0)
}

/** 345 per mille → 34.5 */
function tenths(share: bigint): string {
  const [whole, tenth] = [share / 10n, share % 10n]
  return tenth === 0n ? String(whole) : `${whole}.${tenth}`
}
