// Sums of usage by bucket (an hour, day or week of a chart): one BigInt64Array of amounts, which V8
// adds without allocating a bigint for each, and one Float64Array with the histograms of times. The
// database keeps the figures of each sum as one text (usage_figures_text in sql/usage.sql).
import { type Credits, micro } from '../../units/credits.ts'
import { LATENCY_STEPS, type Latency, latencyOf } from './latency.ts'

export type UsageFigures = {
  readonly requests: bigint
  /** Requests that cost nothing. */
  readonly free: bigint
  /** Free ones that failed: all but those whose client left before the reply began. */
  readonly errors: bigint
  /** Requests of which errors, savings and times were recorded. */
  readonly known: bigint
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheWrite5m: bigint
  readonly cacheWrite1h: bigint
  readonly spent: Credits
  /** What cached tokens would have cost as plain input, less what they cost. */
  readonly cacheSaved: Credits
  readonly firstByte: Latency | null
  readonly total: Latency | null
}

/** The amounts of one or more requests as PostgreSQL returns them. */
export type AmountsRow = Omit<UsageFigures, 'spent' | 'cacheSaved' | 'firstByte' | 'total'> & {
  readonly spent: bigint
  readonly cacheSaved: bigint
}

/** The columns of the sums, in the order in which their text has them. */
export const AMOUNT_COLUMNS = [
  ...(['requests', 'free', 'errors', 'known', 'input', 'output', 'cache_read'] as const),
  ...(['cache_write_5m', 'cache_write_1h', 'spent', 'cache_saved'] as const),
]
export const AMOUNTS = [
  ...(['requests', 'free', 'errors', 'known', 'input', 'output', 'cacheRead'] as const),
  ...(['cacheWrite5m', 'cacheWrite1h', 'spent', 'cacheSaved'] as const),
]
const WIDTH = AMOUNTS.length
/** The first bytes, then the whole durations. */
const HISTOGRAMS_WIDTH = 2 * LATENCY_STEPS
/** An element of a stored histogram is a count times this, plus its step. */
const STEP_FACTOR = 64
/** A number of so many digits is exact as a JavaScript number; longer ones are read as bigints. */
const EXACT_DIGITS = 15
const [ZERO, NINE, MINUS] = [48, 57, 45]

/**
 * Buckets are numbered from 1. Usage before the first or after the last one is added to an extra
 * bucket at each end, which no reader asks for. No sum overflows: the book's own total is an int8.
 */
export class UsageSums {
  readonly buckets: number
  readonly #amounts: BigInt64Array
  readonly #times: Float64Array

  constructor(buckets: number) {
    this.buckets = buckets
    this.#amounts = new BigInt64Array((buckets + 2) * WIDTH)
    this.#times = new Float64Array((buckets + 2) * HISTOGRAMS_WIDTH)
  }

  /**
   * Sums as lines: `bucket;amounts;first bytes;whole durations`, each a list with commas. With the
   * sign 1 or -1 they are corrections: what their bucket gains, the next one loses.
   */
  addLines(lines: string, sign: 0 | 1 | -1): void {
    const reader = new NumberReader(lines)
    while (!reader.isAtEnd()) {
      const bucket = reader.number()
      this.#addAmounts(reader, bucket, sign)
      this.#addTimes(reader, bucket * HISTOGRAMS_WIDTH, sign)
      this.#addTimes(reader, bucket * HISTOGRAMS_WIDTH + LATENCY_STEPS, sign)
    }
  }

  #addAmounts(reader: NumberReader, bucket: number, sign: 0 | 1 | -1): void {
    for (let at = bucket * WIDTH; at < (bucket + 1) * WIDTH; at++) {
      const value = reader.amount()
      if (value === 0n) continue
      this.#amounts[at] = (this.#amounts[at] ?? 0n) + (sign < 0 ? -value : value)
      const next = at + WIDTH
      if (sign !== 0) {
        this.#amounts[next] = (this.#amounts[next] ?? 0n) + (sign < 0 ? value : -value)
      }
    }
  }

  #addTimes(reader: NumberReader, first: number, sign: 0 | 1 | -1): void {
    if (reader.skipEmptyList()) return
    do {
      const element = reader.number()
      const at = first + (element % STEP_FACTOR)
      const count = Math.floor(element / STEP_FACTOR) * (sign < 0 ? -1 : 1)
      this.#times[at] = (this.#times[at] ?? 0) + count
      const next = at + HISTOGRAMS_WIDTH
      if (sign !== 0) this.#times[next] = (this.#times[next] ?? 0) - count
    } while (reader.isInList())
  }

  /** Adds all that others have, bucket by bucket. */
  add(other: UsageSums): void {
    for (let at = 0; at < this.#amounts.length; at++) {
      const value = other.#amounts[at] ?? 0n
      if (value !== 0n) this.#amounts[at] = (this.#amounts[at] ?? 0n) + value
    }
    for (let at = 0; at < this.#times.length; at++) {
      this.#times[at] = (this.#times[at] ?? 0) + (other.#times[at] ?? 0)
    }
  }

  /** Requests with the same steps of time; null: no time was recorded. */
  addRow(
    row: AmountsRow & { readonly firstByte: number | null; readonly total: number | null },
    bucket: number,
  ): void {
    for (const [i, name] of AMOUNTS.entries()) {
      const at = bucket * WIDTH + i
      this.#amounts[at] = (this.#amounts[at] ?? 0n) + row[name]
    }
    const first = bucket * HISTOGRAMS_WIDTH
    const steps = [row.firstByte, row.total === null ? null : row.total + LATENCY_STEPS]
    for (const step of steps) {
      if (step === null) continue
      this.#times[first + step] = (this.#times[first + step] ?? 0) + Number(row.requests)
    }
  }

  /** These sums without those of the others. */
  less(others: readonly UsageSums[]): UsageSums {
    const rest = new UsageSums(this.buckets)
    rest.#amounts.set(this.#amounts)
    rest.#times.set(this.#times)
    for (const other of others) {
      for (let at = 0; at < rest.#amounts.length; at++) {
        rest.#amounts[at] = (rest.#amounts[at] ?? 0n) - (other.#amounts[at] ?? 0n)
      }
      for (let at = 0; at < rest.#times.length; at++) {
        rest.#times[at] = (rest.#times[at] ?? 0) - (other.#times[at] ?? 0)
      }
    }
    return rest
  }

  /** The figures of one bucket; undefined without requests. */
  figuresOf(bucket: number): UsageFigures | undefined {
    const at = bucket * WIDTH
    return figuresAt(this.#amounts, at, this.#times, bucket * HISTOGRAMS_WIDTH)
  }

  /** The figures of all buckets together; undefined without requests. */
  totals(): UsageFigures | undefined {
    const amounts = new BigInt64Array(WIDTH)
    const times = new Float64Array(HISTOGRAMS_WIDTH)
    for (let bucket = 1; bucket <= this.buckets; bucket++) {
      for (let i = 0, at = bucket * WIDTH; i < WIDTH; i++, at++) {
        amounts[i] = (amounts[i] ?? 0n) + (this.#amounts[at] ?? 0n)
      }
      for (let i = 0, at = bucket * HISTOGRAMS_WIDTH; i < HISTOGRAMS_WIDTH; i++, at++) {
        times[i] = (times[i] ?? 0) + (this.#times[at] ?? 0)
      }
    }
    return figuresAt(amounts, 0, times, 0)
  }
}

/** Reads whole numbers, each with the character after it, which is a separator or the end. */
class NumberReader {
  readonly #text: string
  #at = 0
  /** Where the digits of the last number began. */
  #from = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  /** Whether the last number was followed by another of the same list. */
  isInList(): boolean {
    return this.#text[this.#at - 1] === ','
  }

  skipEmptyList(): boolean {
    const code = this.#text.charCodeAt(this.#at)
    if ((code >= ZERO && code <= NINE) || code === MINUS) return false
    this.#at++
    return true
  }

  number(): number {
    const isNegative = this.#text.charCodeAt(this.#at) === MINUS
    if (isNegative) this.#at++
    this.#from = this.#at
    let value = 0
    for (;;) {
      const code = this.#text.charCodeAt(this.#at++)
      // At the end of the text there is no code: NaN is neither.
      if (!(code >= ZERO && code <= NINE)) return isNegative ? -value : value
      value = value * 10 + code - ZERO
    }
  }

  amount(): bigint {
    const from = this.#at
    const value = this.number()
    const isExact = this.#at - 1 - this.#from <= EXACT_DIGITS
    return BigInt(isExact ? value : this.#text.slice(from, this.#at - 1))
  }
}

function figuresAt(
  amounts: BigInt64Array,
  at: number,
  times: Float64Array,
  timesAt: number,
): UsageFigures | undefined {
  if ((amounts[at] ?? 0n) === 0n) return undefined
  const amount = (i: number) => amounts[at + i] ?? 0n
  return {
    requests: amount(0),
    free: amount(1),
    errors: amount(2),
    known: amount(3),
    input: amount(4),
    output: amount(5),
    cacheRead: amount(6),
    cacheWrite5m: amount(7),
    cacheWrite1h: amount(8),
    spent: micro(amount(9)),
    cacheSaved: micro(amount(10)),
    firstByte: latencyOf(times, timesAt),
    total: latencyOf(times, timesAt + LATENCY_STEPS),
  }
}

/** Of a bucket without requests. */
export const NO_USAGE: UsageFigures = {
  ...{ requests: 0n, free: 0n, errors: 0n, known: 0n, input: 0n, output: 0n, cacheRead: 0n },
  ...{ cacheWrite5m: 0n, cacheWrite1h: 0n, spent: micro(0n), cacheSaved: micro(0n) },
  ...{ firstByte: null, total: null },
}
