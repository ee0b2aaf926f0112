// The outages that our probes saw in the last 90 days, with begin, end and duration.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Outage } from '../../../src/cabinet/contract/status.ts'
import { useDuration } from '../../format/use-duration.ts'
import { useFormat } from '../../format/use-format.ts'
import { Button } from '../../ui/Button.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'

/** What somebody looks for happened lately. */
const SHOWN = 10

export function Outages(props: {
  readonly outages: readonly Outage[]
  readonly hasHistory: boolean
}) {
  const { t } = useTranslation()
  const [isWhole, showAll] = useState(false)
  const { outages } = props
  // Before the first probe "no outages" would be a claim.
  if (!props.hasHistory) return null
  const shown = isWhole ? outages : outages.slice(0, SHOWN)
  return (
    <Panel title={t('status.outages')}>
      {outages.length === 0 ? (
        <p className="text-soft">{t('status.noOutages')}</p>
      ) : (
        <ul className="grid gap-3">
          {shown.map((outage) => (
            <OutageLine key={outage.id} outage={outage} />
          ))}
        </ul>
      )}
      {outages.length > shown.length && (
        <div className="mt-4">
          <Button isSmall onClick={() => showAll(true)}>
            {t('status.allOutages', { count: outages.length })}
          </Button>
        </div>
      )}
    </Panel>
  )
}

function OutageLine({ outage: { id, part, from, to } }: { readonly outage: Outage }) {
  const { t } = useTranslation()
  const format = useFormat()
  const duration = useDuration()
  return (
    <li
      id={`outage-${id}`}
      className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1"
    >
      <div className="min-w-0 flex-1 basis-52">
        <p className="font-medium">{t(`status.part.${part}`)}</p>
        <p className="figures text-sm text-soft">
          {to === null
            ? t('status.since', { from: format.second(from) })
            : t('status.span', { from: format.second(from), to: format.second(to) })}
        </p>
      </div>
      {to === null ? (
        <Badge tone="bad">{t('status.goesOn')}</Badge>
      ) : (
        <span className="figures text-sm">{duration(Date.parse(to) - Date.parse(from))}</span>
      )}
    </li>
  )
}
