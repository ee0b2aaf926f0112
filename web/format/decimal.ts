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
