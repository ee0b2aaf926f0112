// What a chart shows, being added up by bucket and model: numbers in one array for each model until
// all of it is known. V8 adds those without making a bigint of each.
import { micro } from '../../units/credits.ts'
import type { PackedSums, Used, UsedRow } from './queries.ts'

export type ModelUsed = Used & { readonly model: string }

/** In the order of what is packed. */
const FIELDS = [
  ...(['requests', 'free', 'input', 'output', 'cacheRead', 'cacheWrite5m'] as const),
  ...(['cacheWrite1h', 'spent'] as const),
]
const WIDTH = FIELDS.length
const INT4_BYTES = 4
const INT8_BYTES = 8

/**
 * Buckets are counted from 1. What is before the first or after the last goes to one more at each
 * end, which nobody asks for. No sum is more than what the book ever used, which is an int8 too.
 */
export function createTally(buckets: number) {
  const models = new Map<string, BigInt64Array>()

  function sumsOf(model: string): BigInt64Array {
    const known = models.get(model) ?? new BigInt64Array((buckets + 2) * WIDTH)
    models.set(model, known)
    return known
  }

  return {
    addPacked({ model, sign, packed }: PackedSums): void {
      const sums = sumsOf(model)
      const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength)
      for (let byte = 0; byte < view.byteLength; ) {
        const first = view.getInt32(byte) * WIDTH
        byte += INT4_BYTES
        for (let at = first; at < first + WIDTH; at++) {
          const value = view.getBigInt64(byte)
          byte += INT8_BYTES
          sums[at] = (sums[at] ?? 0n) + (sign < 0 ? -value : value)
          // What an edge adds to the bucket that ends with it, the next one does not begin with.
          if (sign !== 0) sums[at + WIDTH] = (sums[at + WIDTH] ?? 0n) + (sign < 0 ? value : -value)
        }
      }
    },

    addRow(row: UsedRow, bucket: number): void {
      const sums = sumsOf(row.model)
      for (const [f, field] of FIELDS.entries()) {
        const at = bucket * WIDTH + f
        sums[at] = (sums[at] ?? 0n) + row[field]
      }
    },

    /** Of each bucket, what was used of each model; none where nothing was. */
    byBucket(): ModelUsed[][] {
      return Array.from({ length: buckets }, (_, i) =>
        [...models].flatMap(([model, sums]) => usedAt(model, sums, (i + 1) * WIDTH)),
      )
    },

    /** The same of all buckets together. */
    whole(): ModelUsed[] {
      return [...models].flatMap(([model, sums]) => usedAt(model, wholeOf(sums, buckets), 0))
    },
  }
}

export type Tally = ReturnType<typeof createTally>

function wholeOf(sums: BigInt64Array, buckets: number): BigInt64Array {
  const whole = new BigInt64Array(WIDTH)
  for (let at = WIDTH; at < (buckets + 1) * WIDTH; at++) {
    whole[at % WIDTH] = (whole[at % WIDTH] ?? 0n) + (sums[at] ?? 0n)
  }
  return whole
}

function usedAt(model: string, sums: BigInt64Array, at: number): ModelUsed[] {
  const requests = sums[at] ?? 0n
  if (requests === 0n) return []
  return [
    {
      model,
      requests,
      free: sums[at + 1] ?? 0n,
      input: sums[at + 2] ?? 0n,
      output: sums[at + 3] ?? 0n,
      cacheRead: sums[at + 4] ?? 0n,
      cacheWrite5m: sums[at + 5] ?? 0n,
      cacheWrite1h: sums[at + 6] ?? 0n,
      spent: micro(sums[at + 7] ?? 0n),
    },
  ]
}
