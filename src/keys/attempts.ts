// Counts wrong keys per address and minute. It protects the database from lookups of guessed keys;
// the keys themselves cannot be guessed, so it may forget counts to bound its memory. keys.ts asks
// here only about keys that it has not verified, so verified keys pass from any address.
// shared-attempts.ts adds what other processes counted.
import type { Clock } from '../platform/clock.ts'
import { networkOf } from '../platform/networks.ts'

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
