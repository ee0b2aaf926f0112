// The colour and the pattern of each series in the bars and the legend of the chart.
import { type COLOURS, colourOf, PATTERNS, patternOf, REST_SLOT } from './slots.ts'

/** Written out, because Tailwind looks for whole class names. */
const fills = [
  'fill-series-1',
  'fill-series-2',
  'fill-series-3',
  'fill-series-4',
  'fill-series-5',
  'fill-series-6',
  'fill-series-7',
  'fill-series-8',
  'fill-series-9',
  'fill-series-10',
] as const satisfies { length: typeof COLOURS }
const REST_FILL = 'fill-series-rest'

/** Drawn over the colour in the colour of the sheet, for readers who cannot tell colours apart. */
const patterns = [
  '',
  'M-2 10 10 -2M4 16 16 4',
  'M0 3h12M0 9h12',
  'M-2 2 10 14M4 -4 16 8',
  'M3 0v12M9 0v12',
  'M3 3h1M9 3h1M3 9h1M9 9h1',
] as const satisfies { length: typeof PATTERNS }
const DOTS = PATTERNS - 1

/** The SVG patterns of one chart; `id` distinguishes those of two charts on a page. */
export function SeriesPatterns(props: { readonly id: string; readonly slots: readonly number[] }) {
  return (
    <defs>
      {props.slots.map((slot) => {
        const pattern = slot === REST_SLOT ? DOTS : patternOf(slot)
        return (
          <pattern
            key={slot}
            id={`${props.id}-${slot}`}
            width="12"
            height="12"
            patternUnits="userSpaceOnUse"
          >
            <rect width="12" height="12" className={fillOf(slot)} />
            <path
              d={patterns[pattern]}
              strokeWidth={pattern === DOTS ? 3 : 1.75}
              strokeLinecap={pattern === DOTS ? 'round' : 'butt'}
              className="stroke-sheet"
            />
          </pattern>
        )
      })}
    </defs>
  )
}

/** The fill of a series' shape; `isPlain`: the colour without the pattern, for narrow shapes. */
export function seriesFill(id: string, slot: number, isPlain: boolean) {
  return isPlain ? { className: fillOf(slot) } : { fill: `url(#${id}-${slot})` }
}

export function Swatch(props: {
  readonly id: string
  readonly slot: number
  readonly isPlain: boolean
}) {
  const { id, slot, isPlain } = props
  return (
    <svg aria-hidden="true" viewBox="0 0 18 18" className="size-4.5 shrink-0" data-slot={slot}>
      <rect width="18" height="18" rx="3" {...seriesFill(id, slot, isPlain)} />
    </svg>
  )
}

function fillOf(slot: number): string | undefined {
  return slot === REST_SLOT ? REST_FILL : fills[colourOf(slot)]
}
