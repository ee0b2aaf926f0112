// Suggests the name that the operator probably meant, if one is close enough to be a typing error.

/** Undefined when no name is close: a wrong suggestion is worse than none. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase()
  const ranked = names
    .map((name) => ({ name, slips: distance(wanted, name.toLowerCase()) }))
    .toSorted((a, b) => a.slips - b.slips)
  const [best] = ranked
  // One error in three letters, as commander allows for command names.
  return best !== undefined && best.slips <= Math.max(1, wanted.length / 3) ? best.name : undefined
}

/** `; did you mean anna@example.org?`, or nothing. */
export function suggestion(typed: string, names: readonly string[]): string {
  const name = nearest(typed, names)
  return name === undefined ? '' : `; did you mean ${name}?`
}

/** The edit distance (Damerau-Levenshtein): a swap of two neighbouring letters counts as one. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2] : undefined
      row.push(
        Math.min(
          (last[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (last[j - 1] ?? 0) + (isSame ? 0 : 1),
          (swapped ?? Infinity) + 1,
        ),
      )
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
