// The days of a part as bars. A bar shows which part of the day worked, failed, was planned or was
// not observed; a sentence below describes the day that the pointer or the arrow keys choose, and a
// list has every day on which something was wrong.
import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { StatusDay, StatusPart } from '../../../src/cabinet/contract/status.ts'
import { useDuration } from '../../format/use-duration.ts'
import { useFormat } from '../../format/use-format.ts'

/** What the API sends at most. */
const DAYS = 90
/** In units of the drawing: from bar to bar, a bar, its height. */
const STEP = 10
const WIDTH = 8
const HEIGHT = 40
/** A failure of a minute would be less than a hundredth of a pixel high. */
const FAILED_HEIGHT_MIN = 8
/** A restart of the worker is no day without observation. */
const UNKNOWN_SECONDS_SHOWN = 300
const UNKNOWN_HEIGHT_MIN = 4

export function DayBars({ part: { part, days } }: { readonly part: StatusPart }) {
  const { t } = useTranslation()
  const dayText = useDayText()
  const first = DAYS - days.length
  const [chosen, choose] = useState(DAYS - 1)
  const textOf = (slot: number) => {
    const day = days[slot - first]
    return day === undefined ? t('status.day.before') : dayText(day)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const slot = slotOfKey(event.key, chosen)
    if (slot === undefined) return
    event.preventDefault()
    choose(slot)
  }
  const onPointer = (event: PointerEvent<HTMLDivElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    choose(clamped(Math.floor(((event.clientX - left) / width) * DAYS)))
  }
  return (
    <div className="grid gap-1.5">
      <div
        role="slider"
        tabIndex={0}
        aria-label={t('status.day.slider', { part: t(`status.part.${part}`) })}
        aria-valuemin={1}
        aria-valuemax={DAYS}
        aria-valuenow={chosen + 1}
        aria-valuetext={textOf(chosen)}
        className="cursor-pointer rounded-xs"
        onKeyDown={onKeyDown}
        onPointerDown={onPointer}
        onPointerMove={onPointer}
      >
        <svg
          aria-hidden
          viewBox={`0 0 ${DAYS * STEP} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-10 w-full"
        >
          {Array.from({ length: DAYS }, (_, slot) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a place in the chart is its index.
            <Bar key={slot} x={slot * STEP} day={days[slot - first]} isChosen={slot === chosen} />
          ))}
        </svg>
      </div>
      <div className="flex justify-between gap-4 text-sm text-soft">
        <span>{t('status.day.oldest')}</span>
        <span>{t('status.day.today')}</span>
      </div>
      <p className="figures text-sm">{textOf(chosen)}</p>
      <TroubledDays days={days} textOf={dayText} />
    </div>
  )
}

function Bar(props: {
  readonly x: number
  readonly day: StatusDay | undefined
  readonly isChosen: boolean
}) {
  const { x, day, isChosen } = props
  const size = { x, width: WIDTH }
  const frame = isChosen && (
    <rect x={x - 1} width={STEP} y={0} height={HEIGHT} className="fill-ink/20" />
  )
  if (day === undefined) {
    return (
      <>
        <rect {...size} y={HEIGHT - 4} height={4} className="fill-line" />
        {frame}
      </>
    )
  }
  const heights = heightsOf(day)
  const working = HEIGHT - heights.failed - heights.unknown - heights.planned
  // From the top. What is not there has no element: a page has 360 bars.
  const stack = [
    ['fill-accent', working],
    ['fill-amber', heights.planned],
    ['fill-edge', heights.unknown],
    ['fill-bad', heights.failed],
  ] as const
  const tops = stack.map((_, i) => stack.slice(0, i).reduce((sum, [, height]) => sum + height, 0))
  return (
    <>
      {stack.map(([colour, height], i) =>
        height <= 0 ? null : (
          <rect
            key={colour}
            {...size}
            y={pixels(tops[i] ?? 0)}
            height={pixels(height)}
            className={colour}
          />
        ),
      )}
      {frame}
    </>
  )
}

/** Server and browser must write the same digits. */
function pixels(height: number): number {
  return Math.round(height * 100) / 100
}

/** Of a part of the day that has passed; what worked gets the rest. */
function heightsOf(day: StatusDay) {
  const { workingSeconds, failedSeconds, plannedSeconds, unknownSeconds } = day
  const all = Math.max(1, workingSeconds + failedSeconds + plannedSeconds + unknownSeconds)
  const part = (seconds: number, least: number) =>
    seconds === 0 ? 0 : Math.max(least, (HEIGHT * seconds) / all)
  const failed = part(failedSeconds, FAILED_HEIGHT_MIN)
  const seen = unknownSeconds >= UNKNOWN_SECONDS_SHOWN || workingSeconds + failedSeconds === 0
  const unknown = seen ? part(unknownSeconds, UNKNOWN_HEIGHT_MIN) : 0
  const planned = part(plannedSeconds, UNKNOWN_HEIGHT_MIN)
  const sum = failed + unknown + planned
  const scale = sum > HEIGHT ? HEIGHT / sum : 1
  return { failed: failed * scale, unknown: unknown * scale, planned: planned * scale }
}

function TroubledDays(props: {
  readonly days: readonly StatusDay[]
  readonly textOf: (day: StatusDay) => string
}) {
  const { t } = useTranslation()
  const troubled = props.days.filter(isTroubled).toReversed()
  if (troubled.length === 0) return null
  return (
    <details className="text-sm text-soft">
      <summary className="cursor-pointer rounded-xs py-1">
        {t('status.day.list', { count: troubled.length })}
      </summary>
      <ul className="figures grid gap-1 py-1 ps-4">
        {troubled.map((day) => (
          <li key={day.day}>{props.textOf(day)}</li>
        ))}
      </ul>
    </details>
  )
}

function isTroubled({ failedSeconds, plannedSeconds, unknownSeconds }: StatusDay): boolean {
  return failedSeconds > 0 || plannedSeconds > 0 || unknownSeconds >= UNKNOWN_SECONDS_SHOWN
}

/** `18 Nov: failed for 3 min, not observed for 2 hr` */
function useDayText(): (day: StatusDay) => string {
  const { t } = useTranslation()
  const format = useFormat()
  const duration = useDuration()
  return ({ day, workingSeconds, failedSeconds, plannedSeconds, unknownSeconds }) => {
    const told = (seconds: number) => ({ time: duration(seconds * 1_000) })
    const parts = [
      ...(failedSeconds > 0 ? [t('status.day.failed', told(failedSeconds))] : []),
      ...(plannedSeconds > 0 ? [t('status.day.planned', told(plannedSeconds))] : []),
      ...(unknownSeconds >= UNKNOWN_SECONDS_SHOWN
        ? [t('status.day.unknown', told(unknownSeconds))]
        : []),
    ]
    const nothing = workingSeconds > 0 ? t('status.day.well') : t('status.day.nothing')
    const text = parts.length === 0 ? nothing : parts.join(', ')
    return t('status.day.text', { day: format.calendarDay(day), text })
  }
}

function slotOfKey(key: string, slot: number): number | undefined {
  if (key === 'Home') return 0
  if (key === 'End') return DAYS - 1
  if (key === 'ArrowLeft' || key === 'ArrowDown') return clamped(slot - 1)
  if (key === 'ArrowRight' || key === 'ArrowUp') return clamped(slot + 1)
  if (key === 'PageDown') return clamped(slot - 7)
  if (key === 'PageUp') return clamped(slot + 7)
  return undefined
}

function clamped(slot: number): number {
  return Math.min(DAYS - 1, Math.max(0, slot))
}
