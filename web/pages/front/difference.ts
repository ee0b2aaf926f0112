// The lines of an example that change when a program moves here, by comparing the example with the
// previous address and key to the one with ours. Both have the same number of lines.
import type { Fill, Snippet } from '../key/snippets.ts'

export type DifferenceLine = {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

export function differenceOf(
  text: Snippet['text'],
  { before, now }: { readonly before: Fill; readonly now: Fill },
): readonly DifferenceLine[] {
  const old = text(before).split('\n')
  return text(now)
    .split('\n')
    .flatMap((line, at): readonly DifferenceLine[] => {
      const replaced = old[at] ?? ''
      if (replaced === line) return [{ kind: 'same', text: line }]
      return [
        { kind: 'removed', text: replaced },
        { kind: 'added', text: line },
      ]
    })
}
