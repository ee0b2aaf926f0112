// Compares two Mermaid diagrams with the imports of the source, in both directions: the modules in
// docs/architecture.md and a request in README.md. Dotted arrows stand for network connections and
// are not compared.
import { judge, TOP } from './modules.ts'
import type { Finding, Repository, Rule, SourceFile } from './tree.ts'

type Place = { readonly page: string; readonly heading: string }
const MODULES: Place = { page: 'docs/architecture.md', heading: 'Modules' }
const REQUEST: Place = { page: 'README.md', heading: 'How it works' }
/** Left out of the diagrams, because nearly every module uses them. */
const GROUND = ['platform', 'units']
const STEP = /^src\/gateway\/(\d+)-([a-z]+)\.ts$/

export const diagramRules: Rule[] = [
  {
    name: 'diagram-modules',
    promise: 'the diagram of the modules has exactly the arrows that the imports have',
    check: (repository) => compare(repository, MODULES, moduleArrows(repository)),
  },
  {
    name: 'diagram-request',
    promise: 'the diagram of a request has exactly the steps, and the modules that each uses',
    check: (repository) => compare(repository, REQUEST, stepArrows(repository)),
  },
]

function moduleArrows(repository: Repository): Set<string> {
  const files = product(repository).filter(({ module }) => !TOP.includes(module))
  return new Set(
    files.flatMap((file) => modulesOf(repository, file).map((to) => `${file.module} --> ${to}`)),
  )
}

/** The steps in the order of their numbers, and from each to the modules that it imports. */
function stepArrows(repository: Repository): Set<string> {
  const steps = product(repository)
    .map((file) => ({ file, match: STEP.exec(file.path) }))
    .filter(({ match }) => match !== null)
    .map(({ file, match }) => ({ file, number: Number(match?.[1]), name: match?.[2] ?? '' }))
    .sort((a, b) => a.number - b.number)
  const chain = steps.slice(1).map(({ name }, i) => `${steps[i]?.name} --> ${name}`)
  const uses = steps.flatMap(({ file, name }) =>
    modulesOf(repository, file).map((to) => `${name} --> ${to}`),
  )
  return new Set([...chain, ...uses])
}

function product(repository: Repository): SourceFile[] {
  return repository.files.filter((file) => file.folder === 'src' && !file.isTest)
}

/** The other modules that a file imports, types included; a forbidden import has its own rule. */
function modulesOf(repository: Repository, file: SourceFile): string[] {
  const modules = file.imports
    .filter((edge) => judge(repository, file, edge) === undefined)
    .flatMap(({ target }) => (target?.folder === 'src' ? [target.module] : []))
  return [...new Set(modules)].filter(
    (module) => module !== file.module && !GROUND.includes(module),
  )
}

function compare(
  repository: Repository,
  { page, heading }: Place,
  expected: Set<string>,
): Finding[] {
  const drawn = arrowsBelow(repository.read(page) ?? '', heading)
  if (drawn === undefined) {
    return [{ file: page, line: 1, fix: `there is no Mermaid diagram below "## ${heading}"` }]
  }
  const missing = [...expected].filter((arrow) => !drawn.arrows.has(arrow))
  return [
    ...missing.map((arrow) => ({ file: page, line: drawn.line, fix: `draw \`${arrow}\`` })),
    ...[...drawn.arrows]
      .filter(([arrow]) => !expected.has(arrow))
      .map(([arrow, line]) => ({ file: page, line, fix: `erase \`${arrow}\`: no such import` })),
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
    const arrow = /^\s*([\w-]+?)(?:\[[^\]]*\])? --> ([\w-]+)/.exec(lines[i] ?? '')
    if (arrow !== null) arrows.set(`${arrow[1]} --> ${arrow[2]}`, i + 1)
  }
  return { line: start + 1, arrows }
}
