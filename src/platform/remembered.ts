// What is worked out once for a text and then found again: names of headers and fields, of which
// there are a few dozen. Bounded, because strangers choose some of them; those beyond the bound are
// worked out each time.

/** Not for what `make` gives as undefined: that is never remembered. */
export function remembered<T>(most: number, make: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const made = make(text)
    if (known.size < most) known.set(text, made)
    return made
  }
}
