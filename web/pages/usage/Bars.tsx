// The drawing of the chart: the lines of its scale, the bars in pieces, the names of some of them;
// and over each bar a button, which takes pointer, finger and keys and says the figures.
import type { KeyboardEvent } from 'react'
import type { UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { creditsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/format.ts'
import { namedOf, piecesOf } from './chart.ts'
import { lookOf } from './Swatch.tsx'
import { useWhen } from './use.ts'

const HEIGHT = 200
const ABOVE = 10
const BELOW = 26
/** As wide as `500 тыс.` in the type of the scale, which has its own size as the drawing has. */
const GUTTER = 66
/** A name below the bars takes so much, with air. */
const NAME_WIDTH = 76
/** So that pieces of one bar, and bars of one crowd, are seen apart. */
const GAP = 1
/** A week on a wide screen is no wall. */
const WIDTH_MAX = 72
/** Narrower bars stand side by side: gaps would be all that is seen. */
const APART_WIDTH = 4

/** Below it a pattern is noise; the legend and the figures still name every piece. */
const PATTERN_WIDTH = 9

export function isCrowded(width: number, bars: number): boolean {
  return (width - GUTTER) / Math.max(1, bars) < PATTERN_WIDTH
}

type Drawing = {
  readonly buckets: readonly UsageBucket[]
  readonly amounts: readonly (readonly bigint[])[]
  /** Ends with the highest line. */
  readonly scale: readonly bigint[]
  readonly width: number
  readonly looks: string
  readonly pointed: string | undefined
}

export function Bars(
  props: Drawing & {
    readonly onPoint: (at: string | undefined) => void
    readonly sayOf: (bucket: UsageBucket, index: number) => string
  },
) {
  const { buckets, pointed, onPoint, sayOf } = props
  // The newest is where a reader begins.
  const stop = pointed ?? buckets.at(-1)?.at
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
            aria-label={sayOf(bucket, index)}
            // One stop of the Tab key for all of them.
            tabIndex={bucket.at === stop ? 0 : -1}
            onKeyDown={step}
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

/** Left and right go from bar to bar. */
function step(event: KeyboardEvent<HTMLButtonElement>): void {
  const here = event.currentTarget
  const targets: Readonly<Record<string, Element | null | undefined>> = {
    ArrowLeft: here.previousElementSibling,
    ArrowRight: here.nextElementSibling,
    Home: here.parentElement?.firstElementChild,
    End: here.parentElement?.lastElementChild,
  }
  if (!Object.hasOwn(targets, event.key)) return
  event.preventDefault()
  const target = targets[event.key]
  if (target instanceof HTMLElement) target.focus()
}

function Picture({ buckets, amounts, scale, width, looks, pointed }: Drawing) {
  const when = useWhen()
  const top = scale.at(-1) ?? 1n
  const each = (width - GUTTER) / Math.max(1, buckets.length)
  const gap = each > APART_WIDTH ? Math.max(GAP, (each - WIDTH_MAX) / 2) : 0
  const named = namedOf(buckets.length, Math.floor((width - GUTTER) / NAME_WIDTH))
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
              {...lookOf(looks, series, isCrowded(width, buckets.length))}
            />
          ))}
        </g>
      ))}
      {named.map((index) => {
        const middle = GUTTER + (index + 0.5) * each
        const isLast = middle + NAME_WIDTH / 2 > width
        return (
          <text
            key={buckets[index]?.at}
            x={isLast ? width : middle}
            y={ABOVE + HEIGHT + 18}
            textAnchor={isLast ? 'end' : 'middle'}
            className="fill-soft text-[12px]"
          >
            {when(buckets[index] ?? { local: '' })}
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
