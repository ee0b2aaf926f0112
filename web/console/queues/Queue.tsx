// A list of things that wait: what it is, how much, since when, what it belongs to, what to do.
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

export type QueueRow = {
  readonly id: string
  readonly title: string
  readonly badge: ReactNode
  readonly amount: ReactNode
  readonly text: ReactNode
  readonly at: ReactNode
  readonly link: ReactNode
  readonly actions: ReactNode
}

export function Queue({ rows }: { readonly rows: readonly QueueRow[] }) {
  const { t } = useTranslation()
  if (rows.length === 0) {
    return (
      <p className="flex items-center gap-2 text-soft">
        <CircleCheck aria-hidden className="size-4 shrink-0 text-accent" />
        {t('console.queues.empty')}
      </p>
    )
  }
  return (
    <ul className="grid">
      {rows.map(({ id, title, badge, amount, text, at, link, actions }) => (
        <li
          key={id}
          className="grid gap-2 border-b border-line py-3 first:pt-0 last:border-0 last:pb-0"
        >
          <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
            <span className="font-medium wrap-anywhere">{title}</span>
            {badge}
            <span className="figures">{amount}</span>
            <span className="ms-auto text-sm text-soft">{at}</span>
          </div>
          {text !== null && <p className="text-sm text-soft wrap-anywhere">{text}</p>}
          <div className="flex flex-wrap items-center justify-between gap-2">
            <span className="font-mono text-sm wrap-anywhere">{link}</span>
            <div className="flex flex-wrap gap-2">{actions}</div>
          </div>
        </li>
      ))}
    </ul>
  )
}
