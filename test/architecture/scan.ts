// Splits TypeScript text into code, comments and literals, so that a rule about code is not fooled
// by a sentence in a comment or a string. It is a scanner, not a parser: it knows quotes,
// templates, regular expressions and comments. TypeScript 7 offers no parser to borrow.
// Every view keeps length and line breaks of the text, so an offset means the same place in all.

export type Literal = { offset: number; text: string }

export type Views = {
  /** Comments and the insides of literals are blank. */
  code: string
  /** Comments are blank, literals are kept: for import paths and SQL. */
  bare: string
  /** Only comments are kept. */
  comments: string
  literals: Literal[]
}

const CODE = 0
const COMMENT = 1
const LITERAL = 2

type Scan = {
  text: string
  kinds: Uint8Array
  literals: Literal[]
  /** One entry per open template: where it began and how many braces are open inside its `${`. */
  templates: { start: number; braces: number }[]
}

export function scan(text: string): Views {
  const state: Scan = { text, kinds: new Uint8Array(text.length), literals: [], templates: [] }
  for (let at = 0; at < text.length; ) at = step(state, at)
  return {
    code: keep(state, (kind) => kind === CODE),
    bare: keep(state, (kind) => kind !== COMMENT),
    comments: keep(state, (kind) => kind === COMMENT),
    literals: state.literals,
  }
}

/** The one-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1))
    line++
  return line
}

function keep(state: Scan, wanted: (kind: number) => boolean): string {
  const out: string[] = []
  for (let at = 0; at < state.text.length; at++) {
    const char = state.text.charAt(at)
    out.push(char === '\n' || wanted(state.kinds[at] ?? CODE) ? char : ' ')
  }
  return out.join('')
}

function step(state: Scan, at: number): number {
  const { text, templates } = state
  const char = text.charAt(at)
  const pair = text.slice(at, at + 2)
  if (pair === '//') return mark(state, at, endOr(text, text.indexOf('\n', at)), COMMENT)
  if (pair === '/*') return mark(state, at, after(text, text.indexOf('*/', at + 2), 2), COMMENT)
  if (char === "'" || char === '"') return quoted(state, at, char)
  if (char === '`') return template(state, at, at + 1)
  if (char === '/' && mayBeginRegExp(state, at)) return regExp(state, at)
  const open = templates.at(-1)
  if (open !== undefined && char === '{') open.braces++
  if (open !== undefined && char === '}' && open.braces-- === 0) {
    templates.pop()
    return template(state, open.start, at + 1)
  }
  return at + 1
}

// A quote left open ends at the line's end: that happens in the text of a JSX element (`don't`).
function quoted(state: Scan, start: number, quote: string): number {
  let at = start + 1
  while (at < state.text.length) {
    const char = state.text.charAt(at)
    if (char === quote || char === '\n') break
    at += char === '\\' ? 2 : 1
  }
  mark(state, start + 1, at, LITERAL)
  state.literals.push({ offset: start + 1, text: state.text.slice(start + 1, at) })
  return at + 1
}

/** Reads on from `from`, the start of a template or the `}` that closed an expression inside it. */
function template(state: Scan, start: number, from: number): number {
  let at = from
  while (at < state.text.length && state.text.charAt(at) !== '`') {
    if (state.text.startsWith('${', at)) {
      mark(state, from, at, LITERAL)
      state.templates.push({ start, braces: 0 })
      return at + 2
    }
    at += state.text.charAt(at) === '\\' ? 2 : 1
  }
  mark(state, from, at, LITERAL)
  state.literals.push({ offset: start + 1, text: state.text.slice(start + 1, at) })
  return at + 1
}

function regExp(state: Scan, start: number): number {
  let inClass = false
  for (let at = start + 1; at < state.text.length; at++) {
    const char = state.text.charAt(at)
    if (char === '\n') break
    if (char === '\\') at++
    else if (char === '[') inClass = true
    else if (char === ']') inClass = false
    else if (char === '/' && !inClass) return mark(state, start + 1, at, LITERAL) + 1
  }
  return start + 1
}

// A slash after an operand divides; after an operator or a keyword it opens a regular expression.
function mayBeginRegExp(state: Scan, at: number): boolean {
  let before = at - 1
  while (before >= 0 && (/\s/.test(state.text.charAt(before)) || state.kinds[before] === COMMENT)) {
    before--
  }
  if (before < 0 || '(,=:[!&|?{;+-*%~^>'.includes(state.text.charAt(before))) return true
  const words = /\b(return|typeof|case|in|of|throw|void|else|do|await|yield)$/
  return words.test(state.text.slice(Math.max(0, before - 8), before + 1))
}

function mark(state: Scan, from: number, to: number, kind: number): number {
  state.kinds.fill(kind, from, to)
  return to
}

function endOr(text: string, index: number): number {
  return index === -1 ? text.length : index
}

function after(text: string, index: number, length: number): number {
  return index === -1 ? text.length : index + length
}
