// Usage by day as bars, and the same numbers as a table. The numbers of the day that is pointed at
// or touched stand above the bars; before that, those of today.
import { ChartColumn } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Credits, Home, UsageDay } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { wholeParts } from '../../format/whole-parts.ts'
import { Credits as CreditsFigure } from '../../ui/amounts.tsx'
import { classes } from '../../ui/classes.ts'
import { Empty, Panel } from '../../ui/parts.tsx'

export function UsagePanel({ home }: { readonly home: Home }) {
  const { t } = useTranslation()
  const { zone } = home
  const { parts, total } = wholeParts(home.days.map(({ credits }) => credits))
  const days = home.days.map((day, at) => ({ ...day, credits: parts[at] ?? day.credits }))
  const isUsed = days.some(({ requests }) => requests !== '0')
  return (
    <Panel title={t('home.usage.title')} hint={isUsed ? t('home.usage.zone', { zone }) : undefined}>
      {isUsed ? (
        <div className="grid gap-5">
          <Bars days={days} total={total} />
          <details>
            <summary
              className="inline-block rounded-xs py-1 text-accent underline decoration-1
              underline-offset-3 hover:decoration-2"
            >
              {t('home.usage.asTable')}
            </summary>
            <DayTable days={days} />
          </details>
        </div>
      ) : (
        <Empty icon={ChartColumn} title={t('home.usage.none')} text={t('home.usage.noneText')} />
      )}
    </Panel>
  )
}

function Bars(props: { readonly days: readonly UsageDay[]; readonly total: Credits }) {
  const { days, total } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const [pointed, setPointed] = useState<string>()
  const today = days.at(-1)
  const shownDay = days.find(({ day }) => day === pointed) ?? today
  const largest = days.reduce((most, { credits }) => larger(most, BigInt(credits.whole)), 1n)
  const summary = t('home.usage.summary', {
    days: t('home.usage.days', { count: days.length }),
    credits: phrases.credits(total),
    requests: phrases.requests(String(days.reduce((sum, day) => sum + BigInt(day.requests), 0n))),
  })
  const name = (day: UsageDay) =>
    day === today ? t('home.usage.today') : format.calendarDay(day.day)
  return (
    <figure className="grid gap-3">
      <figcaption className="sr-only">{summary}</figcaption>
      {shownDay !== undefined && (
        <p aria-hidden className="flex flex-wrap items-baseline gap-x-3">
          <span className="text-soft">{name(shownDay)}</span>
          <span className="figures font-medium">{phrases.credits(shownDay.credits)}</span>
          <span className="figures text-sm text-soft">{phrases.requests(shownDay.requests)}</span>
        </p>
      )}
      <div aria-hidden onPointerLeave={() => setPointed(undefined)}>
        <div className="flex h-40 items-stretch gap-px border-b border-edge sm:gap-0.5">
          {days.map((day) => (
            <Bar
              key={day.day}
              day={day}
              largest={largest}
              isShown={day === shownDay}
              onPoint={() => setPointed(day.day)}
            />
          ))}
        </div>
        <Scale days={days} name={name} />
      </div>
    </figure>
  )
}

/** The labels of the first day, of one in the middle below its bar, and of the last. */
function Scale(props: {
  readonly days: readonly UsageDay[]
  readonly name: (day: UsageDay) => string
}) {
  const { days, name } = props
  const middle = Math.floor((days.length - 1) / 2)
  const label = (at: number) => days.slice(at).slice(0, 1).map(name)
  return (
    <div className="mt-1.5 flex text-sm text-soft">
      <span className="w-0" style={{ flexGrow: middle }}>
        {label(0)}
      </span>
      <span className="flex w-0 grow justify-center whitespace-nowrap">{label(middle)}</span>
      <span className="w-0 text-end" style={{ flexGrow: days.length - 1 - middle }}>
        {label(-1)}
      </span>
    </div>
  )
}

function Bar(props: {
  readonly day: UsageDay
  readonly largest: bigint
  readonly isShown: boolean
  readonly onPoint: () => void
}) {
  const { day, largest, isShown, onPoint } = props
  const whole = BigInt(day.credits.whole)
  // In thousandths, so that no amount becomes a float; 12 of them are the lowest visible bar.
  const thousandths = Number((whole * 1_000n) / largest)
  const height = whole === 0n ? 0 : Math.max(12, thousandths)
  return (
    // The whole column receives the pointer: a low bar is hard to hit.
    <div
      onPointerEnter={onPoint}
      onPointerDown={onPoint}
      className="group flex min-w-0 flex-1 items-end"
    >
      <div
        style={{ height: `${height / 10}%` }}
        className={classes(
          'w-full rounded-t-xs',
          isShown ? 'bg-accent' : 'bg-accent/45 group-hover:bg-accent/70',
        )}
      />
    </div>
  )
}

/** A table on every screen: its three short columns fit the smallest phone. */
function DayTable({ days }: { readonly days: readonly UsageDay[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const heading = 'py-1.5 font-medium'
  return (
    <table className="figures mt-3 w-full max-w-lg border-collapse">
      <caption className="sr-only">{t('home.usage.title')}</caption>
      <thead>
        <tr className="border-b border-line text-sm text-soft">
          <th scope="col" className={classes(heading, 'text-start')}>
            {t('home.usage.day')}
          </th>
          <th scope="col" className={classes(heading, 'text-end')}>
            {t('home.usage.requests')}
          </th>
          <th scope="col" className={classes(heading, 'text-end')}>
            {t('home.usage.credits')}
          </th>
        </tr>
      </thead>
      <tbody>
        {[...days].reverse().map(({ day, requests, credits }) => (
          <tr key={day} className="border-b border-line last:border-0">
            <th scope="row" className="py-1.5 text-start font-normal">
              {format.calendarDay(day)}
            </th>
            <td className="py-1.5 text-end">{format.whole(requests)}</td>
            <td className="py-1.5 text-end">
              <CreditsFigure value={credits} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
