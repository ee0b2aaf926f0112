// A figure as text, and the link to the rows that it is made of, where the console shows them.
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { TodayFigure } from '../../../src/operator/console/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { TextAnchor, TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { useMay } from '../use-me.ts'

const MICRO = 1_000_000n

export function useFigureText(): (figure: TodayFigure) => string {
  const { t } = useTranslation()
  const format = useFormat()
  return ({ unit, value }) => {
    if (value === null) return t('console.unknown')
    switch (unit) {
      case 'kopecks':
        return format.rubles(value)
      case 'microcredits':
        return format.whole(BigInt(value) / MICRO)
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
function percentOf(tenths: bigint): string {
  const digits = tenths < 0n ? -tenths : tenths
  return `${tenths < 0n ? '−' : ''}${digits / 10n}.${digits % 10n}`
}

/** Parts of the page itself. */
const anchors: Readonly<Record<string, string>> = {
  requests: '#models',
  refused: '#refused',
  upstreams: '#upstreams',
}

export function FigureLink(props: { readonly figure: TodayFigure; readonly children: ReactNode }) {
  const { figure, children } = props
  const may = useMay()
  // Nothing is known, so there is nothing to look at.
  if (figure.value === null) return children
  const anchor = anchors[figure.of]
  if (anchor !== undefined) return <TextAnchor href={anchor}>{children}</TextAnchor>
  const isQueue = figure.of === 'reviews' && may('payments.read')
  return isQueue ? <TextLink to={paths.queues}>{children}</TextLink> : children
}
