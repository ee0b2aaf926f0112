// Caches the results of a function of a text, for names of headers and fields, of which there are a
// few dozen. The cache is bounded, because clients choose some of the names; results beyond the
// bound are computed each time.

/** A result of undefined is never cached. */
export function memoize<T>(entriesMax: number, make: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>()
  return (text) => {
    const found = cache.get(text)
    if (found !== undefined) return found
    const made = make(text)
    if (cache.size < entriesMax) cache.set(text, made)
    return made
  }
}
