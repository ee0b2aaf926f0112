// A figure as text, and the link to the rows that it is made of, where the console shows them.
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { TodayFigure } from '../../../src/operator/console/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { TextAnchor, TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { useMay } from '../use-me.ts'
import { wholeOfFigure } from './figure-amounts.ts'

export function useFigureText(): (figure: Omit<TodayFigure, 'of'>) => string {
  const { t } = useTranslation()
  const format = useFormat()
  return ({ name, unit, value }) => {
    if (value === null) return t('console.unknown')
    switch (unit) {
      case 'kopecks':
        return format.rubles(value)
      case 'microcredits':
        return format.whole(wholeOfFigure(name, BigInt(value)))
      case 'milliseconds':
        return t('console.request.ms', { ms: format.whole(value) })
      case 'tenths':
        return t('console.today.percent', { percent: percentOf(BigInt(value)) })
      case 'count':
        return format.whole(value)
    }
  }
}

/** 123 → 12.3 */
export function percentOf(tenths: bigint): string {
  const digits = tenths < 0n ? -tenths : tenths
  return `${tenths < 0n ? '−' : ''}${digits / 10n}.${digits % 10n}`
}

/** What these are made of is a part of the page itself. */
const anchors: Readonly<Record<string, string>> = { refused: '#refused', cost: '#upstreams' }

/** These are computed from others; the page of the first of those shows its rows. */
const computed: Readonly<Record<string, string>> = { margin: 'revenue', marginShare: 'revenue' }

export function FigureLink(props: { readonly figure: TodayFigure; readonly children: ReactNode }) {
  const { figure, children } = props
  const may = useMay()
  // Nothing is known, so there is nothing to look at.
  if (figure.value === null) return children
  const anchor = anchors[figure.name]
  if (anchor !== undefined) return <TextAnchor href={anchor}>{children}</TextAnchor>
  if (!may('customers.read')) return children
  return (
    <TextLink to={paths.figure} params={{ name: computed[figure.name] ?? figure.name }} search={{}}>
      {children}
    </TextLink>
  )
}
