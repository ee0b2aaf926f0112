// How long functions and classes are. Comments and empty lines do not count. The rule stands in
// CONTRIBUTING.md ("Functions"), with a table of the functions that may be longer and the reason of
// each; this file reads that table.
import { lineAt } from './scan.ts'
import type { Finding, Repository, Rule, SourceFile } from './tree.ts'
import { matches } from './tree.ts'

/** About what a screen and a half show. */
const OWN_LINES_MAX = 70
/** Three screens: state and everything that touches it can still be seen together. */
const FACTORY_LINES_MAX = 150
/** They return methods over shared state. */
const FACTORY = /^(?:create|open)[A-Z]|(?:Routes|Plugin)$/
/** The table rounds up to tens, so that a small change of a function leaves its row true. */
const ROUNDED_TO = 10
const TABLE = 'CONTRIBUTING.md'

export const functionRules: Rule[] = [
  {
    name: 'function-length',
    promise: `no function has more than ${OWN_LINES_MAX} lines of its own`,
    check: (repository) => repository.files.flatMap(longFunctions),
  },
  {
    name: 'closure-length',
    promise:
      `no function has more than ${OWN_LINES_MAX} lines with all functions inside it, ` +
      `no factory and no class more than ${FACTORY_LINES_MAX}, unless ${TABLE} says why`,
    check: longClosures,
  },
  {
    name: 'closure-listed',
    promise: `every long function that ${TABLE} names is as long as it says`,
    check: staleRows,
  },
]

type Measured = {
  readonly name: string
  readonly line: number
  /** With all functions inside it. */
  readonly lines: number
  /**
   * Without the named functions and methods inside it. A callback has no name, so its lines are the
   * caller's own.
   */
  readonly own: number
  readonly linesMax: number
}

function longFunctions(file: SourceFile): Finding[] {
  return measure(file)
    .filter(({ own }) => own > OWN_LINES_MAX)
    .map(({ line, own }) => ({
      file: file.path,
      line,
      fix: `${own} lines of its own: this is two functions`,
    }))
}

type Row = { readonly place: string; readonly lines: number; readonly line: number }

function rowsOf(repository: Repository): Row[] {
  const row = /^\| `(\w+)` in `([\w./-]+)` \| (\d+) \| .+ \|$/gm
  return matches(repository.read(TABLE) ?? '', row).map(
    ({ line, match: [, name, path, lines] }) => ({
      place: `${path} ${name}`,
      lines: Number(lines),
      line,
    }),
  )
}

function longClosures(repository: Repository): Finding[] {
  const named = new Map(rowsOf(repository).map(({ place, lines }) => [place, lines]))
  return repository.files.flatMap((file) =>
    measure(file).flatMap(({ name, line, lines, own, linesMax }) => {
      const max = Math.max(named.get(`${file.path} ${name}`) ?? 0, linesMax)
      // One with too many lines of its own is reported for these.
      if (lines <= max || own > OWN_LINES_MAX) return []
      const fix = `${lines} lines in all, ${max} allowed: split it, or name it in ${TABLE}`
      return [{ file: file.path, line, fix }]
    }),
  )
}

function staleRows(repository: Repository): Finding[] {
  const longest = new Map<string, Measured>()
  for (const file of repository.files) {
    for (const one of measure(file)) {
      const place = `${file.path} ${one.name}`
      if (one.lines > (longest.get(place)?.lines ?? 0)) longest.set(place, one)
    }
  }
  return rowsOf(repository).flatMap(({ place, lines: listed, line }) => {
    const one = longest.get(place)
    if (one !== undefined && one.lines > one.linesMax) {
      const rounded = Math.ceil(one.lines / ROUNDED_TO) * ROUNDED_TO
      return rounded >= listed ? [] : [{ file: TABLE, line, fix: `now ${rounded}: write that` }]
    }
    const why = one === undefined ? 'is not there' : `has ${one.lines} lines`
    return [{ file: TABLE, line, fix: `${place} ${why}: delete the row` }]
  })
}

type Opening = {
  readonly char: string
  /** The word before it. */
  readonly head: string
  readonly offset: number
  /** Where the function or class starts whose body this opens; -1 when it opens something else. */
  readonly start: number
  readonly isCallback: boolean
  readonly isTestList: boolean
  /** Lines of the named functions inside it. */
  nested: number
}
/** The last parenthesis that closed: the word before it, where it opened and where it closed. */
type Closed = { readonly head: string; readonly start: number; readonly end: number }
const NOTHING: Closed = { head: '', start: -1, end: -1 }
const CONTROL = /^(?:if|for|while|switch|catch|with|await)$/

function measure({ code, bare }: SourceFile): Measured[] {
  const open: Opening[] = []
  const measured: Measured[] = []
  let closed = NOTHING
  for (const { 0: char, index: offset } of code.matchAll(/[(){}]/g)) {
    const outer = open.at(char === '(' || char === '{' ? -1 : -2)
    if (char === '(' || char === '{') {
      const start = char === '{' ? bodyStart(code, offset, closed) : -1
      // A parameter list belongs to the first body behind it.
      if (start !== -1 && start === closed.start) closed = NOTHING
      const head = /(\w*)\s*$/.exec(code.slice(Math.max(0, offset - 40), offset))?.[1] ?? ''
      const isCallback = outer?.char === '('
      const isTestList = isCallback && outer.head === 'describe'
      open.push({ char, head, offset, start, isCallback, isTestList, nested: 0 })
      continue
    }
    const opening = open.pop()
    if (opening === undefined) continue
    if (char === ')') closed = { head: opening.head, start: opening.offset, end: offset }
    const isBody = opening.start !== -1
    const lines = isBody ? linesBetween(bare, opening.start, offset) : 0
    if (isBody && hasSize(opening, open)) measured.push(measuredOf(code, opening, lines))
    // The line with its name belongs to the outer function as well.
    const isNamed = isBody && !opening.isCallback
    if (outer !== undefined) outer.nested += isNamed ? lines - 1 : opening.nested
  }
  return measured
}

// The size of a callback is its caller's, unless it stands at the top of a file, such as a test. A
// list of tests may be as long as its file.
function hasSize(opening: Opening, around: readonly Opening[]): boolean {
  if (opening.isTestList) return false
  return !opening.isCallback || around.every(({ start, isTestList }) => start === -1 || isTestList)
}

function measuredOf(code: string, { start, offset, nested }: Opening, lines: number): Measured {
  const head = code.slice(Math.max(0, start - 200), start)
  const className = /^class\s+(\w+)/.exec(code.slice(start, offset))?.[1]
  const name = className ?? nameBefore(head)
  const isFactory = className !== undefined || FACTORY.test(name)
  return {
    name,
    line: lineAt(code, start),
    lines,
    own: lines - nested,
    linesMax: isFactory ? FACTORY_LINES_MAX : OWN_LINES_MAX,
  }
}

/** The name of a function, by the text before its parameters; empty when it has none. */
function nameBefore(head: string): string {
  const forms = [
    /\b(?:const|let)\s+(\w+)\s*(?::[^=]*)?=\s*(?:async\s*)?(?:<[^()]*>\s*)?$/,
    /\b(\w+)\s*:\s*(?:async\s*)?$/,
    /\b(?!async\b|function\b)(\w+)\s*(?:<[^()]*>)?\s*$/,
  ]
  return forms.map((form) => form.exec(head)?.[1]).find((name) => name !== undefined) ?? ''
}

// A brace opens a body when it follows `=>`, or a parameter list and perhaps its result type, or
// the head of a class. A function starts with its parameters. -1: this brace is something else.
function bodyStart(code: string, offset: number, closed: Closed): number {
  const between = closed.end === -1 ? undefined : code.slice(closed.end + 1, offset)
  const hasParameters =
    between !== undefined &&
    !CONTROL.test(closed.head) &&
    /^\s*(?::\s*(?:\w|[\w{['"][^=]*[\w>\]}'"])\s*)?(?:=>\s*)?$/.test(between)
  if (hasParameters) return closed.start
  const head = code.slice(Math.max(0, offset - 200), offset)
  if (head.trimEnd().endsWith('=>')) return offset
  const classHead = /\bclass\s+\w+[\w\s<>,.]*$/.exec(head)
  return classHead === null ? -1 : offset - classHead[0].length
}

function linesBetween(bare: string, start: number, end: number): number {
  const lines = bare.slice(start, end + 1).split('\n')
  return lines.filter((line) => line.trim() !== '').length
}
