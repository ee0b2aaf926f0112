// The small language that controls the stand-in: words, numbers and JSON literals, either in a
// header or in the last user message as [[reply: …]] and [[fault: …]]. This file finds and splits
// it; plan.ts and faults.ts interpret the words.
import type { Turn } from './conversation.ts'

/** The last text of the user, where instructions are looked for. */
export function lastUserText(turns: readonly Turn[]): string {
  const turn = turns.findLast((candidate) => candidate.role === 'user')
  if (turn === undefined) return ''
  const texts = turn.content.flatMap((block) =>
    block.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
  )
  return texts.join('\n')
}

/** The words of the last [[kind: …]] in a text, or null when there is none. */
export function wordsIn(text: string, kind: 'reply' | 'fault'): string[] | null {
  const opening = `[[${kind}:`
  const at = text.lastIndexOf(opening)
  return at < 0 ? null : splitWords(text, at + opening.length)
}

/** Splits at spaces and commas, up to `]]` or the end; JSON strings and objects stay whole. */
export function splitWords(text: string, from = 0): string[] {
  const found: string[] = []
  let at = from
  while (at < text.length && !text.startsWith(']]', at)) {
    const end = wordEnd(text, at)
    if (end > at) found.push(text.slice(at, end))
    at = Math.max(end, at + 1)
  }
  return found
}

function wordEnd(text: string, from: number): number {
  let at = from
  while (at < text.length) {
    const letter = text.charAt(at)
    if (letter === '{' || letter === '"') {
      at = literalEnd(text, at)
    } else if (/[\s,]/.test(letter) || text.startsWith(']]', at)) {
      break
    } else {
      at += 1
    }
  }
  return at
}

function literalEnd(text: string, from: number): number {
  let depth = 0
  let inString = false
  for (let at = from; at < text.length; at += 1) {
    const letter = text.charAt(at)
    if (inString && letter === '\\') at += 1
    else if (letter === '"') inString = !inString
    else if (!inString && letter === '{') depth += 1
    else if (!inString && letter === '}') depth -= 1
    if (!inString && depth === 0) return at + 1
  }
  return text.length
}
