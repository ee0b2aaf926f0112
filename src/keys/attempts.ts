// Counts wrong keys per address and minute. It protects the database from lookups of guessed keys;
// the keys themselves cannot be guessed, so it may forget counts to bound its memory. keys.ts asks
// here only about keys that it has not verified, so verified keys pass from any address.
// shared-attempts.ts adds what other processes counted.
import { isIPv4, isIPv6 } from 'node:net'
import type { Clock } from '../platform/clock.ts'

const WINDOW_MS = 60_000
/**
 * About 100 bytes each, so about 7 MB. A guesser with more addresses than this evicts its own
 * counts, and then costs one index lookup per key.
 */
const ADDRESSES_MAX = 65_536

export function createAttempts(options: {
  readonly clock: Clock
  readonly perMinute: number
  readonly addressesMax?: number
}) {
  const { clock, perMinute, addressesMax = ADDRESSES_MAX } = options
  // In the order of the last wrong key, so that the first one is removed.
  const counts = new Map<string, { wrong: number; sinceMs: number }>()
  /** Wrong keys that other processes do not know of yet. */
  const unshared = new Map<string, number>()

  function current(network: string) {
    const count = counts.get(network)
    return count !== undefined && clock.spanMs() - count.sinceMs < WINDOW_MS ? count : undefined
  }

  return {
    /** True when this address has sent `perMinute` wrong keys within the minute. */
    isOverLimit: (address: string) => (current(networkOf(address))?.wrong ?? 0) >= perMinute,

    /** Counts a wrong key; true for the one that reaches the limit. */
    countWrong(address: string): boolean {
      const network = networkOf(address)
      const count = current(network) ?? { wrong: 0, sinceMs: clock.spanMs() }
      count.wrong += 1
      counts.delete(network)
      counts.set(network, count)
      unshared.set(network, (unshared.get(network) ?? 0) + 1)
      for (const oldest of counts.keys()) {
        if (counts.size <= addressesMax) break
        counts.delete(oldest)
        unshared.delete(oldest)
      }
      return count.wrong === perMinute
    },

    /** The wrong keys of up to `max` senders, to share them with other processes. */
    takeUnshared(max: number): SenderCount[] {
      const taken = [...unshared.entries().take(max)].map(([network, wrong]) => ({
        network,
        wrong,
      }))
      for (const { network } of taken) unshared.delete(network)
      return taken
    },

    /** They could not be shared: the next attempt to share includes them. */
    giveBack(taken: readonly SenderCount[]): void {
      for (const { network, wrong } of taken) {
        if (current(network) === undefined) continue // their minute is over
        unshared.set(network, (unshared.get(network) ?? 0) + wrong)
      }
    },

    /**
     * What all processes counted; true when it is this that reaches the limit. Counts only rise:
     * the shared table may have lost one.
     */
    learn(network: string, sharedWrong: number, leftMs: number): boolean {
      const count = current(network)
      const wrong = sharedWrong + (unshared.get(network) ?? 0)
      if (count === undefined || wrong <= count.wrong) return false
      const hasReached = count.wrong < perMinute && wrong >= perMinute
      count.wrong = wrong
      count.sinceMs = clock.spanMs() - WINDOW_MS + leftMs
      return hasReached
    },

    size: () => counts.size,
    unsharedSize: () => unshared.size,
  }
}

export type Attempts = ReturnType<typeof createAttempts>

/** Wrong keys of one sender, an address or a network. */
export type SenderCount = { readonly network: string; readonly wrong: number }

/**
 * Identifies a sender: an IPv4 address, or the /64 of an IPv6 address, because a customer of an
 * internet provider usually gets a whole /64. IPv4 written as IPv6 counts as IPv4.
 */
export function networkOf(address: string): string {
  const bare = address.split('%', 1)[0] ?? ''
  if (isIPv4(bare)) return bare
  // Not an address (a local socket): one count for each text, cut to bound its memory.
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
