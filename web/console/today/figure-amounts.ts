// How an amount of credits is rounded for the console: what a book has is rounded down, what left
// it is rounded up. The statement shows what left as a negative amount, rounded down: the same.

const MICRO = 1_000_000n

/** Figures of what left the balances; rounded as the statement rounds it. */
const leaving: readonly string[] = [
  ...['spent', 'creditsRefunded', 'creditsDisputed', 'creditsAdjusted', 'debt'],
]

/** Whole credits of a figure, by its name. */
export function wholeOfFigure(name: string, microcredits: bigint): bigint {
  return leaving.includes(name) ? -floor(-microcredits) : floor(microcredits)
}

function floor(microcredits: bigint): bigint {
  const whole = microcredits / MICRO
  return microcredits < 0n && whole * MICRO !== microcredits ? whole - 1n : whole
}
