// A list of acts: who did what, when, and how it ended. An act that only began has no recorded end:
// somebody must find out whether it took effect.
import { ScrollText } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Act } from '../../../src/operator/console/contract/contract.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Badge, type BadgeTone, Empty } from '../../ui/parts.tsx'

const tones: Readonly<Record<Act['outcome'], BadgeTone>> = {
  done: 'good',
  begun: 'warn',
  asked: 'warn',
  refused: 'note',
  failed: 'bad',
}

export function ActList({ acts }: { readonly acts: readonly Act[] }) {
  const { t } = useTranslation()
  if (acts.length === 0) return <Empty icon={ScrollText} title={t('console.acts.none')} />
  return (
    <ol className="grid">
      {acts.map((act) => (
        <li key={act.id} className="grid gap-1 border-b border-line py-3 last:border-0">
          <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <Badge tone={tones[act.outcome]}>{t(`console.acts.outcome.${act.outcome}`)}</Badge>
            <span className="font-medium">{act.by}</span>
            <span className="text-sm text-soft">
              <Moment at={act.at} />
            </span>
            <span className="ms-auto figures text-sm text-soft">{act.id}</span>
          </div>
          <code className="font-mono text-sm wrap-anywhere">{act.command}</code>
          {act.detail !== '' && (
            <p className="text-sm whitespace-pre-line text-soft wrap-anywhere">{act.detail}</p>
          )}
        </li>
      ))}
    </ol>
  )
}
