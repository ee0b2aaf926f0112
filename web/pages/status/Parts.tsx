// Each part of the service: its state now, how much of the time it worked, and its days.
import { useTranslation } from 'react-i18next'
import type { ServiceState, StatusPart } from '../../../src/cabinet/contract/status.ts'
import { useFormat } from '../../format/use-format.ts'
import { classes } from '../../ui/classes.ts'
import { Badge, type BadgeTone, Panel } from '../../ui/parts.tsx'
import { DayBars } from './DayBars.tsx'

const tones: Readonly<Record<ServiceState, BadgeTone>> = {
  working: 'good',
  slow: 'warn',
  down: 'bad',
  maintenance: 'warn',
  paused: 'note',
  unknown: 'warn',
  unmeasured: 'note',
}

/** Below this much of the time the percentage alone would promise too much. */
const OBSERVED_ENOUGH = 99.9

export function Parts({ parts }: { readonly parts: readonly StatusPart[] }) {
  const { t } = useTranslation()
  return (
    <Panel title={t('status.parts')}>
      <ul className="grid gap-x-12 gap-y-8 lg:grid-cols-2">
        {parts.map((part) => (
          <li key={part.part} className="grid min-w-0 content-start gap-3">
            <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-1">
              <div className="min-w-0 flex-1 basis-52">
                <h3 className="font-sans text-base font-medium">{t(`status.part.${part.part}`)}</h3>
                <p className="text-sm text-soft">{t(`status.text.${part.part}`)}</p>
              </div>
              <Badge tone={tones[part.state]}>{t(`status.state.${part.state}`)}</Badge>
            </div>
            {part.days.length > 0 && <DayBars part={part} />}
            <Uptime part={part} />
          </li>
        ))}
      </ul>
      <Legend />
    </Panel>
  )
}

function Uptime({ part: { uptime, observed } }: { readonly part: StatusPart }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (uptime === null) return <p className="text-sm text-soft">{t('status.noUptime')}</p>
  const isEnough = Number(observed) >= OBSERVED_ENOUGH
  return (
    <p className="text-sm text-soft">
      {t('status.uptime', { percent: format.decimal(uptime) })}
      {!isEnough && ` ${t('status.observed', { percent: format.decimal(observed ?? '0') })}`}
    </p>
  )
}

const legend = [
  ['working', 'bg-accent'],
  ['failed', 'bg-bad'],
  ['planned', 'bg-amber'],
  ['unknown', 'bg-edge'],
] as const

function Legend() {
  const { t } = useTranslation()
  return (
    <ul className="mt-6 flex flex-wrap gap-x-5 gap-y-1 border-t border-line pt-3 text-sm text-soft">
      {legend.map(([name, colour]) => (
        <li key={name} className="flex items-center gap-2">
          <span aria-hidden className={classes('size-3 rounded-xs', colour)} />
          {t(`status.legend.${name}`)}
        </li>
      ))}
      <li>{t('status.utc')}</li>
    </ul>
  )
}
