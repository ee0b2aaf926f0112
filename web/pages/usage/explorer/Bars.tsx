// Draws the chart: the lines of the scale, the stacked bars, the line of the previous period and
// the labels of some bars. A button over each bar receives pointer, touch and keyboard, and its
// label gives the figures.
import { type KeyboardEvent, type MouseEvent, useRef } from 'react'
import type { UsageBucket } from '../../../../src/cabinet/contract/usage.ts'
import { useFormat } from '../../../format/use-format.ts'
import { isFirstOfDay, labelledHours, labelledOf, piecesOf } from './chart.ts'
import type { Plot } from './plot.ts'
import { seriesFill } from './Swatch.tsx'

const HEIGHT = 200
const ABOVE = 10
const BELOW = 26
/** The width of `500 тыс.` in the font of the scale, whose size is fixed in pixels. */
const GUTTER = 66
/** The width of a label below the bars, with space around it. */
const LABEL_WIDTH = 76
/** Between the pieces of a bar, and between bars. */
const GAP = 1
/** The widest bar: seven bars on a wide screen must not fill it. */
const WIDTH_MAX = 72
/** Narrower bars have no gaps: those would take most of the width. */
const APART_WIDTH = 4

/** Narrower bars have no pattern: it would be noise. Legend and labels still name every piece. */
const PATTERN_WIDTH = 9

export function isCrowded(width: number, bars: number): boolean {
  return (width - GUTTER) / Math.max(1, bars) < PATTERN_WIDTH
}

type Drawing = {
  readonly buckets: readonly UsageBucket[]
  readonly plot: Plot
  readonly width: number
  readonly patternsId: string
  readonly pointed: string | undefined
  readonly tick: (amount: bigint) => string
}

export function Bars(
  props: Drawing & {
    readonly onPoint: (at: string | undefined) => void
    readonly onOpen: (index: number) => void
    readonly labelOf: (index: number) => string
  },
) {
  const { buckets, pointed, onPoint, onOpen, labelOf } = props
  const touched = useRef<string>(undefined)
  // The Tab key reaches the newest bar first.
  const tabStop = pointed ?? buckets.at(-1)?.at
  const open = (event: MouseEvent, at: string, index: number) => {
    onPoint(at)
    // Fingers cannot point: the first touch shows the figures, the second one goes down.
    const native: Partial<PointerEvent> = event.nativeEvent
    const isOpening = native.pointerType !== 'touch' || touched.current === at
    touched.current = at
    if (isOpening) onOpen(index)
  }
  return (
    <div className="relative" style={{ width: props.width }}>
      <Picture {...props} />
      <div
        className="absolute flex"
        style={{ insetInlineStart: GUTTER, insetInlineEnd: 0, top: ABOVE, height: HEIGHT }}
      >
        {buckets.map(({ at }, index) => (
          <button
            key={at}
            type="button"
            aria-label={labelOf(index)}
            // The bars share one tab stop.
            tabIndex={at === tabStop ? 0 : -1}
            onKeyDown={moveFocus}
            onPointerEnter={() => onPoint(at)}
            onPointerLeave={(event) => event.pointerType === 'mouse' && onPoint(undefined)}
            onClick={(event) => open(event, at, index)}
            onFocus={() => onPoint(at)}
            onBlur={() => onPoint(undefined)}
            className="h-full min-w-0 flex-1"
          />
        ))}
      </div>
    </div>
  )
}

/** The arrow keys move the focus from bar to bar, Home and End to the first and the last. */
function moveFocus(event: KeyboardEvent<HTMLButtonElement>): void {
  const button = event.currentTarget
  const targets: Readonly<Record<string, Element | null | undefined>> = {
    ArrowLeft: button.previousElementSibling,
    ArrowRight: button.nextElementSibling,
    Home: button.parentElement?.firstElementChild,
    End: button.parentElement?.lastElementChild,
  }
  if (!Object.hasOwn(targets, event.key)) return
  event.preventDefault()
  const target = targets[event.key]
  if (target instanceof HTMLElement) target.focus()
}

function Picture({ buckets, plot, width, patternsId, pointed, tick }: Drawing) {
  const { series, amounts, scale, previous } = plot
  const top = scale.at(-1) ?? 1n
  const each = (width - GUTTER) / Math.max(1, buckets.length)
  const isPlain = isCrowded(width, buckets.length)
  const gap = each > APART_WIDTH ? Math.max(GAP, (each - WIDTH_MAX) / 2) : 0
  const heightOf = (amount: bigint) => Number((amount * BigInt(HEIGHT) * 10n) / top) / 10
  return (
    <svg aria-hidden="true" width={width} height={ABOVE + HEIGHT + BELOW} className="block">
      <Scale {...{ scale, width, tick }} />
      {buckets.map((bucket, index) => (
        <g key={bucket.at} transform={`translate(${GUTTER + index * each} ${ABOVE})`}>
          {pointed === bucket.at && <rect width={each} height={HEIGHT} className="fill-tint" />}
          {piecesOf(amounts[index] ?? [], top, HEIGHT).map(({ series: line, from, to }) => (
            <rect
              key={line}
              x={gap}
              y={HEIGHT - to}
              width={Math.max(1, each - 2 * gap)}
              height={Math.max(0.75, to - from - (from > 0 ? GAP : 0))}
              {...seriesFill(patternsId, series[line]?.slot ?? 0, isPlain)}
            />
          ))}
        </g>
      ))}
      {previous !== undefined && (
        <polyline
          data-previous
          points={previous
            .map(
              (amount, index) =>
                `${GUTTER + (index + 0.5) * each},${ABOVE + HEIGHT - heightOf(amount)}`,
            )
            .join(' ')}
          strokeDasharray="5 3"
          strokeWidth="2"
          className="fill-none stroke-ink"
        />
      )}
      <Axis locals={buckets.map(({ local }) => local)} width={width} each={each} />
    </svg>
  )
}

/** Labels below some bars: the day, or the hour; the first hour of a day has the day. */
function Axis(props: {
  readonly locals: readonly string[]
  readonly width: number
  readonly each: number
}) {
  const { locals, width, each } = props
  const format = useFormat()
  const most = Math.floor((width - GUTTER) / LABEL_WIDTH)
  const isHours = locals[0]?.includes('T') ?? false
  const labelled = isHours ? labelledHours(locals, most) : labelledOf(locals.length, most)
  return labelled.map((index) => {
    const [day = '', hour = ''] = locals[index]?.split('T') ?? []
    const middle = GUTTER + (index + 0.5) * each
    const isLast = middle + LABEL_WIDTH / 2 > width
    return (
      <text
        key={locals[index]}
        x={isLast ? width : middle}
        y={ABOVE + HEIGHT + 18}
        textAnchor={isLast ? 'end' : 'middle'}
        className="fill-soft text-[12px]"
      >
        {isHours && !isFirstOfDay(locals, index) ? hour : format.calendarDay(day)}
      </text>
    )
  })
}

function Scale(props: Pick<Drawing, 'width' | 'tick'> & { readonly scale: readonly bigint[] }) {
  const { scale, width, tick } = props
  const top = scale.at(-1) ?? 1n
  return scale.map((line) => {
    const y = ABOVE + HEIGHT - Number((line * BigInt(HEIGHT)) / top)
    return (
      <g key={String(line)}>
        <line
          x1={GUTTER}
          x2={width}
          y1={y}
          y2={y}
          className={line === 0n ? 'stroke-edge' : 'stroke-line'}
        />
        <text x={GUTTER - 8} y={y + 4} textAnchor="end" className="figures fill-soft text-[12px]">
          {tick(line)}
        </text>
      </g>
    )
  })
}
