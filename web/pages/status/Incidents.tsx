// Incidents and maintenance as the operator describes them, each with its updates.
import { useTranslation } from 'react-i18next'
import type { Incident } from '../../../src/cabinet/contract/status.ts'
import { useFormat } from '../../format/use-format.ts'
import { Badge, type BadgeTone, Panel } from '../../ui/parts.tsx'

const tones: Readonly<Record<Incident['updates'][number]['state'], BadgeTone>> = {
  investigating: 'bad',
  identified: 'bad',
  watching: 'warn',
  planned: 'note',
  closed: 'good',
}

/** It goes on, or lies ahead. */
export function isActive({ to }: Incident): boolean {
  return to === null
}

export function Incidents(props: {
  readonly title: string
  readonly incidents: readonly Incident[]
}) {
  return (
    <Panel title={props.title}>
      <ul className="grid gap-6">
        {props.incidents.map((incident) => (
          <IncidentEntry key={incident.id} incident={incident} />
        ))}
      </ul>
    </Panel>
  )
}

function IncidentEntry({ incident }: { readonly incident: Incident }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { id, kind, parts, title, from, plannedTo, to, updates } = incident
  const state = to === null ? (updates[0]?.state ?? 'investigating') : 'closed'
  return (
    <li id={`incident-${id}`} className="grid gap-2">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-1">
        <h3 className="min-w-0 flex-1 basis-52 font-sans text-base font-medium wrap-anywhere">
          {format.text(title)}
        </h3>
        <Badge tone={tones[state]}>{t(`status.incident.${state}`)}</Badge>
      </div>
      <p className="text-sm text-soft">
        {t(`status.kind.${kind}`)}: {parts.map((part) => t(`status.part.${part}`)).join(', ')}.{' '}
        {plannedTo === null
          ? t('status.since', { from: format.moment(from) })
          : t('status.span', { from: format.moment(from), to: format.moment(plannedTo) })}
      </p>
      <ol className="grid gap-3 border-s-2 border-line ps-4">
        {updates.map((update, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: counted from the oldest, which stays.
          <li key={updates.length - i}>
            <p className="figures text-sm text-soft">
              <time dateTime={update.at}>{format.moment(update.at)}</time>
              {', '}
              {t(`status.incident.${update.state}`).toLowerCase()}
            </p>
            <p className="text-pretty wrap-anywhere">{format.text(update.text)}</p>
          </li>
        ))}
      </ol>
    </li>
  )
}
