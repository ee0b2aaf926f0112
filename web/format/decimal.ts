// Exact decimals as whole millionths, for sums that the browser computes: no amount shown to an
// owner is a float.
import type { Credits } from '../../src/cabinet/contract/contract.ts'

export const MILLION = 1_000_000n

/** `1.25` → 1 250 000; our amounts have at most six decimal places. */
export function millionthsOf(text: string): bigint {
  const found = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text)
  if (found === null) throw new Error(`${text} is not an amount`)
  const [, sign = '', whole = '', fraction = ''] = found
  const size = BigInt(whole) * MILLION + BigInt(fraction.padEnd(6, '0'))
  return sign === '-' ? -size : size
}

/** The shortest exact text: `1.25`. */
export function decimalOf(millionths: bigint): string {
  const size = millionths < 0n ? -millionths : millionths
  const fraction = String(size % MILLION)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const text = `${size / MILLION}${fraction === '' ? '' : `.${fraction}`}`
  return millionths < 0n ? `-${text}` : text
}

/** An amount of microcredits in the form of the contract; never negative. */
export function creditsOf(microcredits: bigint): Credits {
  return { whole: String(microcredits / MILLION), exact: decimalOf(microcredits) }
}

export function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, one) => sum + one, 0n)
}

/**
 * Rounds parts to whole units that add up to `total` units: first all are rounded down, then those
 * with the largest remainders up. Rounded one by one, two halves would be 0 + 0 = 1.
 */
export function roundedParts(
  parts: readonly bigint[],
  unit: bigint,
  total: bigint = sumOf(parts) / unit,
): readonly bigint[] {
  const rounded = parts.map((part) => part / unit)
  const byRemainder = parts
    .map((part, index) => ({ index, remainder: part % unit }))
    .sort((a, b) => Number(b.remainder - a.remainder) || a.index - b.index)
  const missing = Number(total - sumOf(rounded))
  for (const { index } of byRemainder.slice(0, missing))
    rounded[index] = (rounded[index] ?? 0n) + 1n
  return rounded
}
