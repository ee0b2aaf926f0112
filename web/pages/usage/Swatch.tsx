// How the models of a chart are told apart: a colour and a pattern each, in bars and legend.
import { LOOKS } from './chart.ts'

/** Written out, because the style's builder looks for whole names. */
const fills = [
  'fill-series-1',
  'fill-series-2',
  'fill-series-3',
  'fill-series-4',
  'fill-series-5',
  'fill-series-6',
] as const

/** Lines in the colour of the sheet over the series' own: what differs when colours do not. */
const patterns = [
  '',
  'M-2 10 10 -2M4 16 16 4',
  'M0 3h12M0 9h12',
  'M-2 2 10 14M4 -4 16 8',
  'M3 0v12M9 0v12',
  'M3 3h1M9 3h1M3 9h1M9 9h1',
] as const

/** The patterns of a drawing; `id` keeps those of two drawings apart. */
export function Looks({ id }: { readonly id: string }) {
  return (
    <defs>
      {Array.from({ length: LOOKS }, (_, look) => (
        <pattern
          // biome-ignore lint/suspicious/noArrayIndexKey: a look has no other name.
          key={look}
          id={`${id}-${look}`}
          width="12"
          height="12"
          patternUnits="userSpaceOnUse"
        >
          <rect width="12" height="12" className={fills[look % LOOKS]} />
          <path
            d={patterns[look % LOOKS]}
            strokeWidth={look === LOOKS - 1 ? 3 : 1.75}
            strokeLinecap={look === LOOKS - 1 ? 'round' : 'butt'}
            className="stroke-sheet"
          />
        </pattern>
      ))}
    </defs>
  )
}

/** What a shape of a look carries; `isPlain`: the colour alone, where a pattern has no room. */
export function lookOf(id: string, look: number, isPlain: boolean) {
  return isPlain ? { className: fills[look % LOOKS] } : { fill: `url(#${id}-${look})` }
}

export function Swatch(props: {
  readonly id: string
  readonly look: number
  readonly isPlain: boolean
}) {
  const { id, look, isPlain } = props
  return (
    <svg aria-hidden="true" viewBox="0 0 18 18" className="size-4.5 shrink-0">
      <rect width="18" height="18" rx="3" {...lookOf(id, look, isPlain)} />
    </svg>
  )
}
