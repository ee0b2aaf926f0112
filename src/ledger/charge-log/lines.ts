// The lines of the charge log as text: a charge, the price list that its tariff number means, a
// fence that was raised, and a charge that an operator wrote off. They have the checksums of the
// spool's lines. A version reads the lines of the one before and of the one after: elements are
// only added at the end.
import type { BookId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import { millionths } from '../../units/price.ts'
import type { SettleInput } from '../calls.ts'
import { settleFromText, settleText } from '../settle-text.ts'
import type { Tariff } from '../tariff-queries.ts'

export type ChargeLine = {
  readonly what: 'charge'
  readonly atMs: number
  /** What was taken from the book; the price while a refused settle waits in quarantine. */
  readonly charged: Credits
  readonly input: SettleInput
}
export type TariffLine = {
  readonly what: 'tariff'
  readonly id: number
  readonly tariff: Required<Tariff>
}
export type FenceLine = {
  readonly what: 'fence'
  readonly atMs: number
  readonly book: BookId
  readonly fence: bigint
}
export type WriteOffLine = {
  readonly what: 'write-off'
  readonly atMs: number
  /** The key of the settle in quarantine. */
  readonly settle: string
}
export type LogLine = ChargeLine | TariffLine | FenceLine | WriteOffLine

export function lineText(one: LogLine): string {
  switch (one.what) {
    case 'charge': {
      const { key = null, fence = null } = one.input.caller ?? {}
      const fenceText = fence === null ? null : String(fence)
      const head = ['charge', one.atMs, String(one.charged), fenceText, key]
      return `${JSON.stringify(head).slice(0, -1)},${settleText(one.input)}]`
    }
    case 'tariff': {
      const { catalogueVersion, model, list, price } = one.tariff
      const { input, coefficient, cacheRead, cacheWrite5m, cacheWrite1h } = price
      const prices = [input, coefficient, cacheRead, cacheWrite5m, cacheWrite1h].map(String)
      return JSON.stringify(['tariff', one.id, catalogueVersion, model, list, prices])
    }
    case 'fence':
      return JSON.stringify(['fence', one.atMs, String(one.book), String(one.fence)])
    case 'write-off':
      return JSON.stringify(['write-off', one.atMs, one.settle])
  }
}

/** Undefined for a line of a kind that this version does not know. Throws for a damaged one. */
export function lineFromText(text: string): LogLine | undefined {
  const [what, ...rest] = JSON.parse(text) as [string, ...unknown[]]
  if (what === 'charge') {
    const [atMs, charged, fence, key, settle] = rest as [number, string, string, string, unknown]
    const caller = fence === null ? {} : { caller: { fence: BigInt(fence), key } }
    const input = { ...settleFromText(JSON.stringify(settle)), ...caller }
    return { what, atMs, charged: BigInt(charged) as Credits, input }
  }
  if (what === 'tariff') {
    const [id, catalogueVersion, model, list, prices] = rest as [
      ...[number, number, string, string, string[]],
    ]
    const price = (i: number) => millionths(BigInt(prices[i] ?? '0'))
    return {
      ...{ what, id },
      tariff: {
        ...{ catalogueVersion, model, list },
        price: {
          ...{ input: price(0), coefficient: price(1), cacheRead: price(2) },
          ...{ cacheWrite5m: price(3), cacheWrite1h: price(4) },
        },
      },
    }
  }
  if (what === 'write-off') {
    const [atMs, settle] = rest as [number, string]
    return { what, atMs, settle }
  }
  if (what !== 'fence') return undefined
  const [atMs, book, fence] = rest as [number, string, string]
  return { what, atMs, book: BigInt(book) as BookId, fence: BigInt(fence) }
}
