// The two Mermaid diagrams of docs/architecture.md, compared with the imports of the source in both
// directions: a diagram that lags behind the code is worse than none.
import { judge, TOP } from './rooms.ts'
import type { Finding, House, Rule, SourceFile } from './tree.ts'

const PAGE = 'docs/architecture.md'
/** Left out of the diagrams, which say so: nearly every module uses them. */
const GROUND = ['platform', 'units']
const STEP = /^src\/gateway\/(\d+)-([a-z]+)\.ts$/

export const diagramRules: Rule[] = [
  {
    name: 'diagram-modules',
    promise: 'the diagram of the modules has exactly the arrows that the imports have',
    check: (house) => compare(house, 'Modules', moduleArrows(house)),
  },
  {
    name: 'diagram-request',
    promise: 'the diagram of a request has exactly the steps, and the modules that each uses',
    check: (house) => compare(house, 'A request', stepArrows(house)),
  },
]

function moduleArrows(house: House): Set<string> {
  const files = product(house).filter(({ room }) => !TOP.includes(room))
  return new Set(
    files.flatMap((file) => modulesOf(house, file).map((to) => `${file.room} --> ${to}`)),
  )
}

/** The steps in the order of their numbers, and from each to the modules that it imports. */
function stepArrows(house: House): Set<string> {
  const steps = product(house)
    .map((file) => ({ file, match: STEP.exec(file.path) }))
    .filter(({ match }) => match !== null)
    .map(({ file, match }) => ({ file, number: Number(match?.[1]), name: match?.[2] ?? '' }))
    .sort((a, b) => a.number - b.number)
  const chain = steps.slice(1).map(({ name }, i) => `${steps[i]?.name} --> ${name}`)
  const uses = steps.flatMap(({ file, name }) =>
    modulesOf(house, file).map((to) => `${name} --> ${to}`),
  )
  return new Set([...chain, ...uses])
}

function product(house: House): SourceFile[] {
  return house.files.filter((file) => file.folder === 'src' && !file.isTest)
}

/** The other modules that a file imports, types included; a forbidden import has its own rule. */
function modulesOf(house: House, file: SourceFile): string[] {
  const rooms = file.imports
    .filter((edge) => judge(house, file, edge) === undefined)
    .flatMap(({ target }) => (target?.folder === 'src' ? [target.room] : []))
  return [...new Set(rooms)].filter((room) => room !== file.room && !GROUND.includes(room))
}

function compare(house: House, heading: string, expected: Set<string>): Finding[] {
  const drawn = arrowsBelow(house.read(PAGE) ?? '', heading)
  if (drawn === undefined) {
    return [{ file: PAGE, line: 1, cure: `there is no Mermaid diagram below "## ${heading}"` }]
  }
  const missing = [...expected].filter((arrow) => !drawn.arrows.has(arrow))
  return [
    ...missing.map((arrow) => ({ file: PAGE, line: drawn.line, cure: `draw \`${arrow}\`` })),
    ...[...drawn.arrows]
      .filter(([arrow]) => !expected.has(arrow))
      .map(([arrow, line]) => ({ file: PAGE, line, cure: `erase \`${arrow}\`: no such import` })),
  ]
}

/** The arrows of the diagram below a heading, each with its line; a label is not part of a name. */
function arrowsBelow(
  page: string,
  heading: string,
): { line: number; arrows: Map<string, number> } | undefined {
  const lines = page.split('\n')
  const from = lines.indexOf(`## ${heading}`)
  const start = lines.indexOf('```mermaid', from)
  const next = lines.findIndex((line, i) => i > from && line.startsWith('## '))
  if (from === -1 || start === -1 || (next !== -1 && start > next)) return undefined
  const end = lines.indexOf('```', start)
  const arrows = new Map<string, number>()
  for (let i = start + 1; i < end; i++) {
    const arrow = /^\s*(\w+)(?:\[[^\]]*\])? --> (\w+)/.exec(lines[i] ?? '')
    if (arrow !== null) arrows.set(`${arrow[1]} --> ${arrow[2]}`, i + 1)
  }
  return { line: start + 1, arrows }
}
