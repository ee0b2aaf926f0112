// The import graph as a whole: no cycles, and no file of src that no file imports.
import { judge, TOP } from './modules.ts'
import type { Finding, Repository, Rule, SourceFile } from './tree.ts'

export const graphRules: Rule[] = [
  {
    name: 'cycle-of-files',
    promise: 'no file reaches itself through its imports',
    check: fileCycles,
  },
  {
    name: 'cycle-of-modules',
    promise: 'no module reaches itself through the modules it imports',
    check: moduleCycles,
  },
  {
    name: 'orphan',
    promise: 'every file of src is imported by another file',
    check: orphans,
  },
]

/** Files that another file imports; importing only types does not run the file. */
export function importedPaths(repository: Repository, what: 'values' | 'anything'): Set<string> {
  const edges = repository.files.flatMap((file) => file.imports)
  const counted = edges.filter((edge) => what === 'anything' || edge.kind !== 'type')
  return new Set(counted.flatMap((edge) => edge.target?.path ?? []))
}

/** Files that a worker thread starts from. */
export function workerPaths(repository: Repository): Set<string> {
  const edges = repository.files.flatMap((file) => file.imports)
  return new Set(edges.flatMap((edge) => (edge.kind === 'worker' ? (edge.target?.path ?? []) : [])))
}

type Place = { file: string; line: number }
export type Graph = Map<string, Map<string, Place>>

// Imports of types count too: they cost nothing at run time, but a reader meets the same cycle.
function fileCycles(repository: Repository): Finding[] {
  const graph: Graph = new Map()
  for (const file of repository.files) {
    for (const edge of file.imports) {
      if (edge.target !== undefined) connect(graph, file.path, edge.target.path, file, edge.line)
    }
  }
  return circles(graph, 'move what both need into a third file')
}

// The rule `module-table` reports forbidden imports; this one finds cycles in the table itself.
function moduleCycles(repository: Repository): Finding[] {
  const graph: Graph = new Map()
  for (const file of repository.files) {
    if (file.folder !== 'src' || file.isTest || TOP.includes(file.module)) continue
    for (const edge of file.imports) {
      if (edge.target?.folder !== 'src' || edge.target.module === file.module) continue
      if (judge(repository, file, edge) !== undefined) continue
      connect(graph, file.module, edge.target.module, file, edge.line)
    }
  }
  return circles(graph, 'one of these modules must not import the other')
}

export function connect(
  graph: Graph,
  from: string,
  to: string,
  file: SourceFile,
  line: number,
): void {
  const edges = graph.get(from) ?? new Map<string, Place>()
  if (!edges.has(to)) edges.set(to, { file: file.path, line })
  graph.set(from, edges)
}

/** One report for each circle: from every start the shortest way back to it, without repeats. */
export function circles(
  graph: Graph,
  fix: string,
  starts: readonly string[] = [...graph.keys()],
): Finding[] {
  const reported = new Set<string>()
  const findings: Finding[] = []
  for (const start of starts.toSorted()) {
    if (reported.has(start)) continue
    const way = shortestWay(graph, start)
    const place = graph.get(start)?.get(way[1] ?? '')
    if (place === undefined) continue
    for (const node of way) reported.add(node)
    findings.push({ ...place, fix: `${way.join(' → ')}: ${fix}` })
  }
  return findings
}

function shortestWay(graph: Graph, start: string): string[] {
  const ways: string[][] = [[start]]
  const seen = new Set<string>()
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? '')?.keys() ?? []) {
      if (next === start) return [...way, next]
      if (seen.has(next)) continue
      seen.add(next)
      ways.push([...way, next])
    }
  }
  return []
}

function orphans(repository: Repository): Finding[] {
  const imported = importedPaths(repository, 'anything')
  return repository.files
    .filter((file) => file.folder === 'src' && !file.isTest && file.path !== 'src/main.ts')
    .filter((file) => !imported.has(file.path))
    .map((file) => ({ file: file.path, line: 1, fix: 'no file imports it: use it or delete it' }))
}
