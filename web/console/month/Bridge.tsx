// A bridge from opening to closing: one bar for each step, each beginning where the one before it
// ended. The figures stand beside the bars as text, so the picture itself says nothing more.
import { classes } from '../../ui/classes.ts'

export type Step = {
  readonly id: string
  readonly label: string
  /** With its sign; opening and closing are the whole amount. */
  readonly amount: bigint
  readonly text: string
  readonly isWhole: boolean
}

const WIDTH = 1_000

export function Bridge({ steps }: { readonly steps: readonly Step[] }) {
  const bars = barsOf(steps)
  return (
    <ol
      className="grid gap-x-4 gap-y-3 sm:grid-cols-[auto_1fr_auto]
        print:grid-cols-[auto_1fr_auto]"
    >
      {steps.map(({ id, label, text, amount, isWhole }, index) => (
        <li
          key={id}
          className="grid grid-cols-[1fr_auto] items-center gap-x-4 gap-y-1 sm:col-span-full
            sm:grid-cols-subgrid print:col-span-full print:grid-cols-subgrid"
        >
          <span className={classes(isWhole ? 'font-medium' : 'text-soft')}>{label}</span>
          <span
            className={classes(
              'figures text-end wrap-anywhere sm:order-last print:order-last',
              isWhole && 'font-medium',
            )}
          >
            {text}
          </span>
          <Bar
            {...(bars[index] ?? EMPTY)}
            zero={bars[0]?.zero ?? 0}
            tone={toneOf(amount, isWhole)}
          />
        </li>
      ))}
    </ol>
  )
}

type Drawn = { readonly from: number; readonly width: number; readonly zero: number }
const EMPTY: Drawn = { from: 0, width: 0, zero: 0 }

function Bar({ from, width, zero, tone }: Drawn & { readonly tone: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${WIDTH} 16`}
      preserveAspectRatio="none"
      className="col-span-full h-4 w-full sm:col-span-1 print:col-span-1"
    >
      <rect x={0} y={15} width={WIDTH} height={1} className="fill-line print:fill-black" />
      <rect x={zero} y={0} width={2} height={16} className="fill-edge print:fill-black" />
      <rect x={from} y={1} width={width} height={13} className={tone} />
    </svg>
  )
}

function toneOf(amount: bigint, isWhole: boolean): string {
  if (isWhole) return 'fill-series-1 print:fill-black'
  return amount < 0n ? 'fill-series-2 print:fill-black/60' : 'fill-series-3 print:fill-black/40'
}

/** Where each bar begins and how wide it is, in thousandths of the width. */
function barsOf(steps: readonly Step[]): Drawn[] {
  let level = 0n
  const spans = steps.map(({ amount, isWhole }) => {
    const from = isWhole ? 0n : level
    const to = isWhole ? amount : level + amount
    level = to
    return from < to ? [from, to] : [to, from]
  }) as [bigint, bigint][]
  const least = spans.reduce((low, [from]) => (from < low ? from : low), 0n)
  const most = spans.reduce((high, [, to]) => (to > high ? to : high), 0n)
  const range = most - least || 1n
  const place = (amount: bigint) => Number(((amount - least) * BigInt(WIDTH)) / range)
  return spans.map(([from, to]) => ({
    from: place(from),
    // A small amount is still seen; nothing is not drawn.
    width: from === to ? 0 : Math.max(3, place(to) - place(from)),
    zero: Math.min(place(0n), WIDTH - 2),
  }))
}
