// Finds the name that a person probably meant. A wrong suggestion is worse than none, so a name
// counts only if it differs by few typing errors.

/**
 * One error in three letters, as commander allows for command names, but at most eight: names with
 * more errors are not compared to the end, so that a long text costs no more than a short one.
 */
const ERRORS_MAX = 8

/** Undefined when no name is close. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase()
  let best: string | undefined
  let errorsMax = Math.min(ERRORS_MAX, Math.max(1, Math.floor(wanted.length / 3)))
  for (const name of names) {
    const errors = errorsBetween(wanted, name.toLowerCase(), errorsMax)
    if (errors > errorsMax) continue
    best = name
    errorsMax = errors - 1
  }
  return best
}

/**
 * The edit distance (Damerau-Levenshtein): a swap of two neighbouring letters counts as one error.
 * Infinity as soon as it is certain to exceed `max`.
 */
export function errorsBetween(a: string, b: string, max = Number.POSITIVE_INFINITY): number {
  if (Math.abs(a.length - b.length) > max) return Number.POSITIVE_INFINITY
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
          (swapped ?? Number.POSITIVE_INFINITY) + 1,
        ),
      )
    }
    if (Math.min(...row) > max && Math.min(...last) > max) return Number.POSITIVE_INFINITY
    before = last
    last = row
  }
  return last[b.length] ?? 0
}
