// The colour and the pattern of each model in the bars and the legend of the chart.
import { SERIES_MAX } from './chart.ts'

/** Written out, because Tailwind looks for whole class names. */
const fills = [
  'fill-series-1',
  'fill-series-2',
  'fill-series-3',
  'fill-series-4',
  'fill-series-5',
  'fill-series-6',
] as const

/** Drawn over the colour in the colour of the sheet, for readers who cannot tell colours apart. */
const patterns = [
  '',
  'M-2 10 10 -2M4 16 16 4',
  'M0 3h12M0 9h12',
  'M-2 2 10 14M4 -4 16 8',
  'M3 0v12M9 0v12',
  'M3 3h1M9 3h1M3 9h1M9 9h1',
] as const

/** The SVG patterns of one chart; `id` distinguishes those of two charts on a page. */
export function SeriesPatterns({ id }: { readonly id: string }) {
  return (
    <defs>
      {Array.from({ length: SERIES_MAX }, (_, series) => (
        <pattern
          // biome-ignore lint/suspicious/noArrayIndexKey: a series has no other name.
          key={series}
          id={`${id}-${series}`}
          width="12"
          height="12"
          patternUnits="userSpaceOnUse"
        >
          <rect width="12" height="12" className={fills[series % SERIES_MAX]} />
          <path
            d={patterns[series % SERIES_MAX]}
            strokeWidth={series === SERIES_MAX - 1 ? 3 : 1.75}
            strokeLinecap={series === SERIES_MAX - 1 ? 'round' : 'butt'}
            className="stroke-sheet"
          />
        </pattern>
      ))}
    </defs>
  )
}

/** The fill of a series' shape; `isPlain`: the colour without the pattern, for narrow shapes. */
export function seriesFill(id: string, series: number, isPlain: boolean) {
  return isPlain ? { className: fills[series % SERIES_MAX] } : { fill: `url(#${id}-${series})` }
}

export function Swatch(props: {
  readonly id: string
  readonly series: number
  readonly isPlain: boolean
}) {
  const { id, series, isPlain } = props
  return (
    <svg aria-hidden="true" viewBox="0 0 18 18" className="size-4.5 shrink-0">
      <rect width="18" height="18" rx="3" {...seriesFill(id, series, isPlain)} />
    </svg>
  )
}
