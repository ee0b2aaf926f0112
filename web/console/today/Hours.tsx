// Today's requests hour by hour, those with errors apart, and a mark for the same hour a day
// earlier: whoever is on call sees at a glance whether this hour is like the others.
import { useTranslation } from 'react-i18next'
import type { Today } from '../../../src/operator/console/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { Credits } from '../../ui/amounts.tsx'
import { Panel } from '../../ui/parts.tsx'
import { Table } from '../../ui/Table.tsx'

type Hour = Today['hours'][number]

const HOURS_OF_DAY = 24
/** Every third hour has a label: more do not fit a phone. */
const LABELLED = 3

export function Hours({ hours, timeZone }: Pick<Today, 'hours' | 'timeZone'>) {
  const { t } = useTranslation()
  const format = useFormat()
  // Today begins at midnight in the shop's time zone, not in the reader's.
  const clock = useFormat(timeZone).clock
  const counts = hours.flatMap(({ requests, before }) => [Number(requests), Number(before)])
  const most = Math.max(1, ...counts)
  const part = (count: number) => `${(100 * count) / most}%`
  const total = hours.reduce((sum, { requests }) => sum + BigInt(requests), 0n)
  const figures = t('console.today.hoursFigures', {
    requests: format.whole(total),
    most: format.whole(Math.max(0, ...hours.map(({ requests }) => Number(requests)))),
  })
  return (
    <Panel
      title={t('console.today.hours')}
      hint={
        <>
          {figures} {t('console.today.hoursHint')}
        </>
      }
    >
      <div
        role="img"
        aria-label={figures}
        className="flex h-32 items-stretch gap-px border-b border-edge sm:gap-1"
      >
        {numbersTo(Math.max(HOURS_OF_DAY, hours.length)).map((number) => {
          const hour = hours[number]
          const errors = Number(hour?.errors ?? 0)
          const before = Number(hour?.before ?? 0)
          return (
            <div key={number} className="relative flex flex-1 flex-col justify-end">
              <div className="bg-bad" style={{ height: part(errors) }} />
              <div
                className="bg-accent"
                style={{ height: part(Number(hour?.requests ?? 0) - errors) }}
              />
              {before > 0 && (
                <div
                  className="absolute inset-x-0 border-t-2 border-dashed border-ink"
                  style={{ bottom: part(before) }}
                />
              )}
            </div>
          )
        })}
      </div>
      <div aria-hidden className="figures mt-1 flex text-xs text-soft">
        {numbersTo(HOURS_OF_DAY / LABELLED).map((number) => (
          <span key={number} className="flex-1">
            {String(number * LABELLED).padStart(2, '0')}
          </span>
        ))}
      </div>
      <details className="mt-4">
        <summary className="cursor-pointer text-accent">{t('console.today.hoursTable')}</summary>
        <div className="mt-3">
          <HoursTable hours={hours.toReversed()} clock={clock} />
        </div>
      </details>
    </Panel>
  )
}

/** 0, 1, 2 and so on. */
const numbersTo = (count: number) => Array.from({ length: count }, (_, number) => number)

function HoursTable(props: { readonly hours: readonly Hour[]; clock(at: string): string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const number = (id: 'requests' | 'errors' | 'before', label: string) => ({
    ...{ id, label, isNumber: true },
    cell: (hour: Hour) => format.whole(hour[id]),
  })
  return (
    <Table
      caption={t('console.today.hours')}
      columns={[
        {
          id: 'at',
          label: t('console.today.hour'),
          isTitle: true,
          cell: ({ at }: Hour) => props.clock(at),
        },
        number('requests', t('console.account.requests')),
        number('errors', t('console.today.figure.errors')),
        {
          id: 'spent',
          label: t('console.account.credits'),
          isNumber: true,
          cell: ({ spent }) => <Credits value={spent} />,
        },
        number('before', t('console.today.dayBefore')),
      ]}
      rows={props.hours}
      rowId={({ at }) => at}
    />
  )
}
