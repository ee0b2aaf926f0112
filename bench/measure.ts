// Types and helpers of all benchmarks.

export type Bench = (options: {
  readonly isFull: boolean
  say(text: string): void
}) => Promise<{ figures: Record<string, number>; failed: string[] }>

export function median(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function rounded(figures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([key, value]) => [key, Math.round(value * 1000) / 1000]),
  )
}
