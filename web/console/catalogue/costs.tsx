// A typical request in credits and roubles, and a margin in percent.
import { useTranslation } from 'react-i18next'
import type { MarginLine, TypicalCost } from '../../../src/operator/console/contract/catalogue.ts'
import { useFormat } from '../../format/use-format.ts'
import { Credits } from '../../ui/amounts.tsx'
import { Badge } from '../../ui/parts.tsx'
import { percentOf } from '../today/figures.tsx'

/** 13 750 · 0,45–0,51 ₽: the roubles at the cheapest pack and at the dearest. */
export function Typical({ cost }: { readonly cost: TypicalCost | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (cost === null) return t('console.catalogue.nothing')
  const { credits, least, most } = cost
  const ends = [least, most].flatMap((kopecks) => (kopecks === null ? [] : format.rubles(kopecks)))
  return (
    <span className="figures">
      <Credits value={credits} />
      {ends.length > 0 && (
        <span className="block text-sm whitespace-nowrap text-soft">
          {[...new Set(ends)].join(' – ')}
        </span>
      )}
    </span>
  )
}

export function Margin({ line }: { readonly line: MarginLine | undefined }) {
  const { t } = useTranslation()
  if (line === undefined || line.tenths === null) return t('console.unknown')
  const text = t('console.today.percent', { percent: percentOf(BigInt(line.tenths)) })
  return <Badge tone={line.verdict === 'loss' ? 'bad' : 'good'}>{text}</Badge>
}
