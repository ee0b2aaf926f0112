// All architecture rules: one call reads a repository and returns every violation.
import { diagramRules } from './diagrams.ts'
import { documentRules } from './documents.ts'
import { expandRules } from './expand.ts'
import { folderRules } from './folders.ts'
import { functionRules } from './functions.ts'
import { graphRules } from './graph.ts'
import { moduleRules, moduleTable } from './modules.ts'
import { reachRules } from './reach.ts'
import { shapeRules } from './shape.ts'
import { type Finding, type Repository, type Rule, readRepository } from './tree.ts'

export type Violation = Finding & { rule: string }

export const rules: readonly Rule[] = [
  ...moduleRules,
  ...graphRules,
  ...folderRules,
  ...reachRules,
  ...shapeRules,
  ...functionRules,
  ...documentRules,
  ...expandRules,
  ...diagramRules,
]

/** Every violation in the repository at `root`. A test may pass its own table. */
export function checkRepository(
  root: string,
  table: Repository['moduleTable'] = moduleTable,
): readonly Violation[] {
  const repository = readRepository(root, table)
  return rules.flatMap((rule) =>
    rule.check(repository).map((finding) => ({ ...finding, rule: rule.name })),
  )
}

/** `file:line rule-name: how to fix it`, which editors and terminals turn into a link. */
export function violationText(violation: Violation): string {
  return `${violation.file}:${violation.line} ${violation.rule}: ${violation.fix}`
}
