// Counts wrong keys per address and minute. It shields the lookups from guessers, not the keys,
// which cannot be guessed; so it may forget, and its memory is bounded. Keys that are right pass
// from any address: the door asks here only about keys it does not know.
import { isIPv4, isIPv6 } from 'node:net'
import type { Clock } from '../platform/clock.ts'

const WINDOW_MS = 60_000
/**
 * About 100 bytes each, so some 7 MB. A guesser with more addresses than this pushes out its own
 * counts, and then costs one index probe per key.
 */
const ADDRESSES_MAX = 65_536

export function createAttempts(options: {
  readonly clock: Clock
  readonly perMinute: number
  readonly addressesMax?: number
}) {
  const { clock, perMinute, addressesMax = ADDRESSES_MAX } = options
  // In the order of the last wrong key, so that the first is the one to forget.
  const counts = new Map<string, { wrong: number; readonly sinceMs: number }>()

  function current(network: string) {
    const count = counts.get(network)
    return count !== undefined && clock.spanMs() - count.sinceMs < WINDOW_MS ? count : undefined
  }

  return {
    /** True when this address has had its wrong keys of the minute. */
    isOver: (address: string) => (current(networkOf(address))?.wrong ?? 0) >= perMinute,

    /** Notes a wrong key; true for the one that fills the measure. */
    countWrong(address: string): boolean {
      const network = networkOf(address)
      const count = current(network) ?? { wrong: 0, sinceMs: clock.spanMs() }
      count.wrong += 1
      counts.delete(network)
      counts.set(network, count)
      for (const oldest of counts.keys()) {
        if (counts.size <= addressesMax) break
        counts.delete(oldest)
      }
      return count.wrong === perMinute
    },

    size: () => counts.size,
  }
}

export type Attempts = ReturnType<typeof createAttempts>

/**
 * What one sender can be told apart by: an IPv4 address, or the /64 of an IPv6 address, since
 * whoever has one address of a /64 has them all. IPv4 written as IPv6 is IPv4.
 */
export function networkOf(address: string): string {
  const bare = address.split('%', 1)[0] ?? ''
  if (isIPv4(bare)) return bare
  // Not an address at all (a local socket): one count for each text, cut so that it stays small.
  if (!isIPv6(bare)) return bare.slice(0, 64)
  const groups = groupsOf(bare)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight groups of an IPv6 address, which may leave zeros out and end in dotted IPv4. */
function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.split('::').map((side) =>
    side.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
      const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
      return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
    }),
  )
  const numbers = (side: string) =>
    side === '' ? [] : side.split(':').map((group) => Number.parseInt(group, 16))
  const [left, right] = [numbers(head), numbers(tail)]
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
}
