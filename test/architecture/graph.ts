// The import graph as a whole: no circles, and nothing that nobody reaches.
import { judge, TOP } from './rooms.ts'
import type { Finding, House, Rule, SourceFile } from './tree.ts'

export const graphRules: Rule[] = [
  {
    name: 'cycle-of-files',
    promise: 'no file reaches itself through its imports',
    check: fileCycles,
  },
  {
    name: 'cycle-of-rooms',
    promise: 'no room reaches itself through the rooms it enters',
    check: roomCycles,
  },
  {
    name: 'orphan',
    promise: 'every file of src is imported by someone',
    check: orphans,
  },
]

/** Files that somebody imports; an import of types alone does not run the file. */
export function importedPaths(house: House, what: 'values' | 'anything'): Set<string> {
  const edges = house.files.flatMap((file) => file.imports)
  const counted = edges.filter((edge) => what === 'anything' || edge.kind !== 'type')
  return new Set(counted.flatMap((edge) => edge.target?.path ?? []))
}

/** Files that a worker thread starts from. */
export function workerPaths(house: House): Set<string> {
  const edges = house.files.flatMap((file) => file.imports)
  return new Set(edges.flatMap((edge) => (edge.kind === 'worker' ? (edge.target?.path ?? []) : [])))
}

type Place = { file: string; line: number }
export type Graph = Map<string, Map<string, Place>>

// Imports of types count too: they cost nothing at run time, but a reader walks the same circle.
function fileCycles(house: House): Finding[] {
  const graph: Graph = new Map()
  for (const file of house.files) {
    for (const edge of file.imports) {
      if (edge.target !== undefined) connect(graph, file.path, edge.target.path, file, edge.line)
    }
  }
  return circles(graph, 'move what both need into a third file')
}

// An import the table forbids is reported as such already; what is left guards the table itself.
function roomCycles(house: House): Finding[] {
  const graph: Graph = new Map()
  for (const file of house.files) {
    if (file.folder !== 'src' || file.isTest || TOP.includes(file.room)) continue
    for (const edge of file.imports) {
      if (edge.target?.folder !== 'src' || edge.target.room === file.room) continue
      if (judge(house, file, edge) !== undefined) continue
      connect(graph, file.room, edge.target.room, file, edge.line)
    }
  }
  return circles(graph, 'one of these rooms must not know the other')
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
  cure: string,
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
    findings.push({ ...place, cure: `${way.join(' → ')}: ${cure}` })
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

function orphans(house: House): Finding[] {
  const imported = importedPaths(house, 'anything')
  return house.files
    .filter((file) => file.folder === 'src' && !file.isTest && file.path !== 'src/main.ts')
    .filter((file) => !imported.has(file.path))
    .map((file) => ({ file: file.path, line: 1, cure: 'nobody imports it: use it or delete it' }))
}
