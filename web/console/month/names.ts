// How a month, its state, its figures and its amounts are written.
import { useTranslation } from 'react-i18next'
import type { FigureUnit } from '../../../src/operator/console/contract/contract.ts'
import type { LiabilityRow, MonthLine } from '../../../src/operator/console/contract/month.ts'
import { decimalOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/use-format.ts'
import type { BadgeTone } from '../../ui/parts.tsx'
import { useName } from '../use-name.ts'

/** `Ноябрь 2026 г.`, `November 2026`; the text itself if it is not a month. */
export function useMonthName(): (month: string) => string {
  const { language } = useFormat()
  return (month) => {
    const first = new Date(`${month}-01T00:00:00Z`)
    if (Number.isNaN(first.getTime())) return month
    const name = new Intl.DateTimeFormat(language, {
      ...{ month: 'long', year: 'numeric', timeZone: 'UTC' },
    }).format(first)
    return `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  }
}

export type MonthState = 'open' | 'unsealed' | 'sealed' | 'differs'

export const stateTones: Readonly<Record<MonthState, BadgeTone>> = {
  ...{ open: 'note', unsealed: 'warn', sealed: 'good', differs: 'warn' },
}

export function stateOf(month: {
  readonly isOver: boolean
  readonly seal: object | null
  readonly differences?: readonly object[]
}): MonthState {
  if (month.seal === null) return month.isOver ? 'unsealed' : 'open'
  return (month.differences ?? []).length === 0 ? 'sealed' : 'differs'
}

/** Exact, to the microcredit and the kopeck: `−1 287,5`. */
export function useAmount(): (value: string | bigint | null, unit: FigureUnit) => string {
  const { t } = useTranslation()
  const format = useFormat()
  return (value, unit) => {
    if (value === null) return t('console.unknown')
    const amount = BigInt(value)
    const size = amount < 0n ? -amount : amount
    const sign = amount < 0n ? '−' : ''
    switch (unit) {
      case 'kopecks':
        return `${sign}${format.rubles(String(size))}`
      case 'microcredits':
        return `${sign}${format.decimal(decimalOf(size))}`
      case 'tenths': {
        const percent = `${sign}${format.decimal(`${size / 10n}.${size % 10n}`)}`
        return t('console.today.percent', { percent })
      }
      default:
        return `${sign}${format.whole(size)}`
    }
  }
}

/** `Paid: 35 million credits`, `Promo`. */
export function useRowName(): (row: Pick<LiabilityRow, 'kind' | 'pack' | 'title'>) => string {
  const kindName = useName('month.kind')
  return ({ kind, pack, title }) => (pack === null ? kindName(kind) : (title ?? pack))
}

/** What a figure is of; empty for the whole. */
export function useItemName(): (line: Pick<MonthLine, 'section' | 'item'>) => string {
  const { t } = useTranslation()
  const kindName = useName('month.kind')
  const entryName = useName('entry')
  const reasonName = useName('month.reason')
  const contraName = useName('month.contra')
  return ({ section, item }) => {
    const [first = '', ...rest] = item.split(' ')
    switch (section) {
      case 'postings': {
        const [code = ''] = rest
        // `refund refund` is a refund.
        const reason = code === 'all' || code === first ? '' : reasonName(code)
        return reason === '' ? entryName(first) : `${entryName(first)}: ${reason}`
      }
      case 'adjustments':
        return contraName(item)
      case 'vat':
        return t('console.month.vatCode', { code: rest[0] ?? item })
      case 'liability':
        if (item === 'all packs') return t('console.month.packs')
        return [kindName(first), ...rest].join(' ')
      default:
        return item === 'days' ? t('console.month.vendorDays') : item
    }
  }
}

/** The name of a figure; some mean something else in their section. */
export function useFigureName(): (line: Pick<MonthLine, 'section' | 'figure'>) => string {
  const name = useName('month.figure')
  return ({ section, figure }) => {
    const own = `${section} ${figure}`
    const found = name(own)
    return found === own ? name(figure) : found
  }
}

/** A correction's whole name: section, item and figure. */
export function useLineName(): (line: Pick<MonthLine, 'section' | 'item' | 'figure'>) => string {
  const sectionName = useName('month.section')
  const figureName = useFigureName()
  const itemName = useItemName()
  return (line) => {
    const item = line.item === '' ? '' : itemName(line)
    const parts = [sectionName(line.section), item, figureName(line)]
    return parts.filter((part) => part !== '').join(' · ')
  }
}
