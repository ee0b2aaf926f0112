// The house rules together: one call reads a repository and says everything that is wrong with it.
import { diagramRules } from './diagrams.ts'
import { expandRules } from './expand.ts'
import { folderRules } from './folders.ts'
import { functionRules } from './functions.ts'
import { graphRules } from './graph.ts'
import { paperRules } from './papers.ts'
import { reachRules } from './reach.ts'
import { roomRules, roomTable } from './rooms.ts'
import { shapeRules } from './shape.ts'
import { type Finding, type House, type Rule, readHouse } from './tree.ts'

export type Violation = Finding & { rule: string }

export const rules: readonly Rule[] = [
  ...roomRules,
  ...graphRules,
  ...folderRules,
  ...reachRules,
  ...shapeRules,
  ...functionRules,
  ...paperRules,
  ...expandRules,
  ...diagramRules,
]

/** Every violation in the repository at `root`. A test may bring a table of its own. */
export function checkHouse(
  root: string,
  table: House['roomTable'] = roomTable,
): readonly Violation[] {
  const house = readHouse(root, table)
  return rules.flatMap((rule) =>
    rule.check(house).map((finding) => ({ ...finding, rule: rule.name })),
  )
}

/** `file:line rule-name: cure`, the form editors and terminals turn into a link. */
export function violationText(violation: Violation): string {
  return `${violation.file}:${violation.line} ${violation.rule}: ${violation.cure}`
}
