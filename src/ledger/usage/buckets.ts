// Adds up usage by bucket (a day or hour of a chart) and model. The sums of a model are one
// BigInt64Array: V8 adds its elements without allocating a bigint for each.
import { micro } from '../../units/credits.ts'
import type { PackedSums, UsageRow, UsageTotals } from './queries.ts'

export type ModelUsage = UsageTotals & { readonly model: string }

/** In the order in which `sumList` packs them. */
const FIELDS = [
  ...(['requests', 'free', 'input', 'output', 'cacheRead', 'cacheWrite5m'] as const),
  ...(['cacheWrite1h', 'spent'] as const),
]
const WIDTH = FIELDS.length
const INT4_BYTES = 4
const INT8_BYTES = 8

/**
 * Buckets are numbered from 1. Usage before the first or after the last one is added to an extra
 * bucket at each end, which is not returned. No sum overflows: the book's own total is an int8.
 */
export function createUsageBuckets(buckets: number) {
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
          // A correction moves usage across a bound: what one bucket gains, the next one loses.
          if (sign !== 0) sums[at + WIDTH] = (sums[at + WIDTH] ?? 0n) + (sign < 0 ? value : -value)
        }
      }
    },

    addRow(row: UsageRow, bucket: number): void {
      const sums = sumsOf(row.model)
      for (const [f, field] of FIELDS.entries()) {
        const at = bucket * WIDTH + f
        sums[at] = (sums[at] ?? 0n) + row[field]
      }
    },

    /** For each bucket the usage of each model; models without requests are left out. */
    byBucket(): ModelUsage[][] {
      return Array.from({ length: buckets }, (_, i) =>
        [...models].flatMap(([model, sums]) => usageAt(model, sums, (i + 1) * WIDTH)),
      )
    },

    /** The same for all buckets together. */
    totals(): ModelUsage[] {
      return [...models].flatMap(([model, sums]) => usageAt(model, totalOf(sums, buckets), 0))
    },
  }
}

export type UsageBuckets = ReturnType<typeof createUsageBuckets>

function totalOf(sums: BigInt64Array, buckets: number): BigInt64Array {
  const whole = new BigInt64Array(WIDTH)
  for (let at = WIDTH; at < (buckets + 1) * WIDTH; at++) {
    whole[at % WIDTH] = (whole[at % WIDTH] ?? 0n) + (sums[at] ?? 0n)
  }
  return whole
}

function usageAt(model: string, sums: BigInt64Array, at: number): ModelUsage[] {
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
