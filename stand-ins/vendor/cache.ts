// The prompt cache as the vendor bills it: the first request with a marked prefix writes it, later
// ones read it, and it expires. Kept apart per upstream key and model, so that a relay that spreads
// one conversation over keys visibly pays for it.

export type Ttl = '5m' | '1h'

/** A position in the prompt: everything before it, as a digest and as tokens. */
export type Boundary = {
  readonly digest: string
  readonly tokens: number
  readonly marker: Ttl | null
}

export type CacheUse = { readonly read: number; readonly written: Readonly<Record<Ttl, number>> }

const lifeMs: Readonly<Record<Ttl, number>> = { '5m': 300_000, '1h': 3_600_000 }

// About 100 bytes each: 200,000 prefixes stay below 20 MB, and a load test cannot exhaust memory.
const prefixesMax = 200_000

export function createCache(now: () => number = Date.now) {
  const expiries = new Map<string, { ttl: Ttl; at: number }>()

  function keep(key: string, ttl: Ttl): void {
    expiries.delete(key)
    expiries.set(key, { ttl, at: now() + lifeMs[ttl] })
    if (expiries.size > prefixesMax) {
      for (const oldest of expiries.keys()) {
        expiries.delete(oldest)
        break
      }
    }
  }

  return {
    /**
     * Reads the longest known prefix up to the last marker and writes the rest. Looks at every
     * block before a marker (the vendor at the last 20), because agents move their markers on.
     */
    use(scope: string, boundaries: readonly Boundary[]): CacheUse {
      const lastMarked = boundaries.findLastIndex((boundary) => boundary.marker !== null)
      const written = { '5m': 0, '1h': 0 }
      let read = 0
      let at = lastMarked
      for (; at >= 0; at -= 1) {
        const key = `${scope} ${boundaries[at]?.digest}`
        const found = expiries.get(key)
        if (found !== undefined && found.at > now()) {
          keep(key, found.ttl)
          read = boundaries[at]?.tokens ?? 0
          break
        }
      }
      let counted = read
      for (const boundary of boundaries.slice(at + 1, lastMarked + 1)) {
        if (boundary.marker === null) continue
        written[boundary.marker] += boundary.tokens - counted
        counted = boundary.tokens
        keep(`${scope} ${boundary.digest}`, boundary.marker)
      }
      return { read, written }
    },
  }
}

export type Cache = ReturnType<typeof createCache>
