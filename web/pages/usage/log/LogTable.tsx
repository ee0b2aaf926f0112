// The lines of the log: time, model, tokens, how long it took, how it ended, its cost. One line
// each on a desktop, three short ones on a phone, so that 25 requests fit three of its screens. The
// first cell is a button that opens the details; it covers its whole row.
import { ChevronRight, Waves } from 'lucide-react'
import { Fragment, useId } from 'react'
import { useTranslation } from 'react-i18next'
import type { LogLine } from '../../../../src/cabinet/contract/usage.ts'
import { millionthsOf } from '../../../format/decimal.ts'
import { secondsText, tokensPerSecond } from '../../../format/durations.ts'
import { useFormat } from '../../../format/use-format.ts'
import { useRubles } from '../../../format/use-rubles.ts'
import { Credits } from '../../../ui/amounts.tsx'
import { classes } from '../../../ui/classes.ts'
import { Badge } from '../../../ui/parts.tsx'
import { endingTones, isCharged } from './endings.ts'
import { RequestDetails } from './RequestDetails.tsx'

type Opening = {
  readonly open: string | undefined
  readonly onOpen: (id: string | undefined) => void
}

/** Some browsers stop treating a table as one when CSS displays it as blocks. */
const roles = { table: 'table', group: 'rowgroup', row: 'row', cell: 'cell', head: 'columnheader' }
const columns = ['time', 'model', 'counts', 'timing', 'how', 'rubles', 'credits'] as const
/** Where a cell stands below 1280 px, and how it is aligned. */
const cells: Readonly<Record<(typeof columns)[number], string>> = {
  time: 'max-xl:row-start-1',
  // On a phone, the name has a line of its own, the whole one with letters of twice the size: cut
  // off, two models would look alike.
  model: `min-w-0 max-xl:row-start-1 max-xl:@max-[24rem]:row-start-5
    max-xl:@max-[24rem]:col-span-2 max-xl:@max-[16rem]:col-span-full xl:max-w-32`,
  counts: 'max-xl:col-span-2 max-xl:row-start-2 whitespace-nowrap',
  timing: 'max-xl:col-span-2 max-xl:row-start-3 whitespace-nowrap text-soft',
  how: 'min-w-0 xl:max-w-48',
  rubles: 'max-xl:col-start-3 max-xl:row-start-2 text-end whitespace-nowrap text-soft',
  credits: 'max-xl:col-start-3 max-xl:row-start-1 text-end whitespace-nowrap font-medium',
}
const cellClasses = (column: (typeof columns)[number]) =>
  classes('xl:px-1 xl:py-1.5 xl:first:ps-0 xl:last:pe-0', cells[column])

export function LogTable(props: Opening & { readonly lines: readonly LogLine[] }) {
  const { lines, ...opening } = props
  const { t } = useTranslation()
  const box = useId()
  return (
    <table
      role={roles.table}
      className="figures w-full border-collapse text-sm max-xl:block"
      data-log
    >
      <caption className="sr-only">{t('usage.log.table')}</caption>
      <thead role={roles.group} className="max-xl:sr-only">
        <tr role={roles.row} className="border-b border-line text-soft">
          {columns.map((column) => (
            <th
              key={column}
              role={roles.head}
              scope="col"
              className={classes(
                'px-1 py-2 font-medium first:ps-0 last:pe-0',
                column === 'rubles' || column === 'credits' ? 'text-end' : 'text-start',
              )}
            >
              {t(`usage.log.${column}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role={roles.group} className="max-xl:block">
        {lines.map((line) => (
          <Fragment key={line.id}>
            <Line line={line} opening={opening} box={box} />
            {line.id === opening.open && (
              <tr role={roles.row} className="border-b border-line max-xl:block">
                <td role={roles.cell} colSpan={columns.length} className="py-3 max-xl:block">
                  <RequestDetails id={line.id} box={box} />
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
    </table>
  )
}

function Line(props: { readonly line: LogLine; readonly opening: Opening; readonly box: string }) {
  const { line, opening, box } = props
  const rubles = useRubles()
  const cost = classes(!isCharged(line.ending) && 'text-soft')
  return (
    <tr
      role={roles.row}
      className="relative border-b border-line hover:bg-tint max-xl:grid
        max-xl:grid-cols-[auto_minmax(0,1fr)_auto] max-xl:gap-x-2 max-xl:py-2"
    >
      <td role={roles.cell} className={cellClasses('time')}>
        <OpenButton line={line} opening={opening} box={box} />
      </td>
      <td role={roles.cell} className={cellClasses('model')}>
        <span title={line.model} className="block truncate">
          {line.model}
        </span>
      </td>
      <td role={roles.cell} className={cellClasses('counts')}>
        <Counts line={line} />
      </td>
      <td role={roles.cell} className={cellClasses('timing')}>
        <Timing line={line} />
      </td>
      <td
        role={roles.cell}
        className={classes(
          cellClasses('how'),
          // A failure and its error type do not fit beside the times of a phone.
          line.ending === 'complete'
            ? 'max-xl:col-start-3 max-xl:row-start-3 max-xl:ms-auto'
            : 'max-xl:col-span-full max-xl:row-start-4',
        )}
      >
        <Result line={line} />
      </td>
      <td role={roles.cell} className={cellClasses('rubles')}>
        {isCharged(line.ending) ? (rubles(millionthsOf(line.credits.exact)) ?? '—') : '—'}
      </td>
      <td role={roles.cell} className={cellClasses('credits')}>
        <span className={cost}>
          <Credits value={line.credits} />
        </span>
      </td>
    </tr>
  )
}

/** The time of a request; a click opens its details in the row below. */
function OpenButton(props: {
  readonly line: LogLine
  readonly opening: Opening
  readonly box: string
}) {
  const { line, opening, box } = props
  const { t } = useTranslation()
  const format = useFormat()
  const isOpen = line.id === opening.open
  const time = format.second(line.at)
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-controls={isOpen ? box : undefined}
      aria-label={t('usage.log.open', { model: line.model, time })}
      onClick={() => opening.onOpen(isOpen ? undefined : line.id)}
      className="-ms-1 flex items-center gap-1 rounded-part text-start whitespace-nowrap text-accent
        after:absolute after:inset-0"
    >
      <ChevronRight
        aria-hidden
        className={classes('size-4 shrink-0 transition-transform', isOpen && 'rotate-90')}
      />
      <time dateTime={line.at} title={format.moment(line.at)}>
        {time}
      </time>
    </button>
  )
}

/** 1 200 → 340 · кэш 5 000; screen readers get a sentence. */
function Counts({ line }: { readonly line: LogLine }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (!isCharged(line.ending)) return <span className="text-soft">—</span>
  const cached = BigInt(line.cacheRead) + BigInt(line.cacheWrite5m) + BigInt(line.cacheWrite1h)
  const [input, output] = [format.whole(line.input), format.whole(line.output)]
  return (
    <>
      <span aria-hidden>{t('home.latest.countsValue', { input, output })}</span>
      <span className="sr-only">{t('home.latest.countsRead', { input, output })}</span>
      {cached > 0n && (
        <span className="ms-2 text-soft">
          {t('usage.log.cached', { cached: format.whole(cached) })}
        </span>
      )}
    </>
  )
}

/** 0,4 → 3,2 с · 85 ток/с; nothing of what was not recorded. */
function Timing({ line }: { readonly line: LogLine }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { firstByteMs, totalMs, isStream } = line
  const speed = tokensPerSecond(line)
  const seconds = (ms: number) => secondsText(format.language, ms)
  if (totalMs === null) return null
  const [total, first] = [seconds(totalMs), seconds(firstByteMs ?? totalMs)]
  const isWaited = firstByteMs !== null
  return (
    <span className="inline-flex items-center gap-1.5">
      <span aria-hidden>{isWaited ? t('usage.log.times', { first, total }) : total}</span>
      <span className="sr-only">
        {isWaited ? t('usage.log.timesRead', { first, total }) : total}
      </span>
      {speed !== undefined && <span>· {t('usage.log.speed', { shown: format.whole(speed) })}</span>}
      {isStream === true && (
        <span title={t('usage.log.stream')}>
          <Waves aria-hidden className="size-3.5" />
          <span className="sr-only">{t('usage.log.stream')}</span>
        </span>
      )}
    </span>
  )
}

/** How it ended: why the model stopped, or what failed. */
function Result({ line }: { readonly line: LogLine }) {
  const { t } = useTranslation()
  const { ending, stopReason, errorType, isEstimated } = line
  const code = errorType ?? stopReason
  return (
    <span className="flex min-w-0 items-center gap-1.5 max-xl:flex-wrap xl:overflow-hidden">
      {ending === 'complete' ? (
        <span className="sr-only">{t(`usage.ending.${ending}`)}</span>
      ) : (
        <Badge tone={endingTones[ending]}>{t(`usage.ending.${ending}`)}</Badge>
      )}
      {isEstimated && <Badge>{t('usage.log.estimated')}</Badge>}
      {code === null ? (
        ending === 'complete' && <span aria-hidden>{t(`usage.ending.${ending}`)}</span>
      ) : (
        <code translate="no" title={code} className="truncate text-xs text-soft">
          {code}
        </code>
      )}
    </span>
  )
}
