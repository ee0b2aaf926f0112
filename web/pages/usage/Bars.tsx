// Draws the chart: the lines of the scale, the stacked bars and the labels of some bars. A button
// over each bar receives pointer, touch and keyboard, and its label gives the figures.
import type { KeyboardEvent } from 'react'
import type { UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { creditsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/use-format.ts'
import { useBucketLabel } from './buckets.ts'
import { labelledOf, piecesOf } from './chart.ts'
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
  readonly amounts: readonly (readonly bigint[])[]
  /** In ascending order; the last line is the top of the chart. */
  readonly scale: readonly bigint[]
  readonly width: number
  readonly patternsId: string
  readonly pointed: string | undefined
}

export function Bars(
  props: Drawing & {
    readonly onPoint: (at: string | undefined) => void
    readonly labelOf: (bucket: UsageBucket, index: number) => string
  },
) {
  const { buckets, pointed, onPoint, labelOf } = props
  // The Tab key reaches the newest bar first.
  const tabStop = pointed ?? buckets.at(-1)?.at
  return (
    <div className="relative" style={{ width: props.width }}>
      <Picture {...props} />
      <div
        className="absolute flex"
        style={{ insetInlineStart: GUTTER, insetInlineEnd: 0, top: ABOVE, height: HEIGHT }}
      >
        {buckets.map((bucket, index) => (
          <button
            key={bucket.at}
            type="button"
            aria-label={labelOf(bucket, index)}
            // The bars share one tab stop.
            tabIndex={bucket.at === tabStop ? 0 : -1}
            onKeyDown={moveFocus}
            onPointerEnter={() => onPoint(bucket.at)}
            onPointerLeave={(event) => event.pointerType === 'mouse' && onPoint(undefined)}
            onClick={() => onPoint(bucket.at)}
            onFocus={() => onPoint(bucket.at)}
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

function Picture({ buckets, amounts, scale, width, patternsId, pointed }: Drawing) {
  const bucketLabel = useBucketLabel()
  const top = scale.at(-1) ?? 1n
  const each = (width - GUTTER) / Math.max(1, buckets.length)
  const gap = each > APART_WIDTH ? Math.max(GAP, (each - WIDTH_MAX) / 2) : 0
  const labelled = labelledOf(buckets.length, Math.floor((width - GUTTER) / LABEL_WIDTH))
  return (
    <svg aria-hidden="true" width={width} height={ABOVE + HEIGHT + BELOW} className="block">
      <Scale scale={scale} width={width} />
      {buckets.map((bucket, index) => (
        <g key={bucket.at} transform={`translate(${GUTTER + index * each} ${ABOVE})`}>
          {pointed === bucket.at && <rect width={each} height={HEIGHT} className="fill-tint" />}
          {piecesOf(amounts[index] ?? [], top, HEIGHT).map(({ series, from, to }) => (
            <rect
              key={series}
              x={gap}
              y={HEIGHT - to}
              width={Math.max(1, each - 2 * gap)}
              height={Math.max(0.75, to - from - (from > 0 ? GAP : 0))}
              {...seriesFill(patternsId, series, isCrowded(width, buckets.length))}
            />
          ))}
        </g>
      ))}
      {labelled.map((index) => {
        const middle = GUTTER + (index + 0.5) * each
        const isLast = middle + LABEL_WIDTH / 2 > width
        return (
          <text
            key={buckets[index]?.at}
            x={isLast ? width : middle}
            y={ABOVE + HEIGHT + 18}
            textAnchor={isLast ? 'end' : 'middle'}
            className="fill-soft text-[12px]"
          >
            {bucketLabel(buckets[index] ?? { local: '' })}
          </text>
        )
      })}
    </svg>
  )
}

function Scale({ scale, width }: Pick<Drawing, 'scale' | 'width'>) {
  const format = useFormat()
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
          {format.creditsShort(creditsOf(line))}
        </text>
      </g>
    )
  })
}
