// Migrations expand first and contract later: the previous version still runs while they are
// applied, and an operator may roll back to it. A statement that removes something which the
// previous version could use needs a comment that says why it does not.
import type { Finding, Repository, Rule } from './tree.ts'
import { matches } from './tree.ts'

/** Removes or changes what the previous version may still read, write or call. */
const TAKING = new RegExp(
  [
    String.raw`\bdrop\s+(?:table|column|function|type|view|schema)\b`,
    String.raw`\brename\s+(?:to|column|value|constraint|attribute)\b`,
    String.raw`\balter\s+(?:column\s+)?\w+\s+(?:set\s+not\s+null|(?:set\s+data\s+)?type)\b`,
    // A row that the previous version inserts has no value for it.
    String.raw`\badd\s+column\s+(?:if\s+not\s+exists\s+)?(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b`,
  ].join('|'),
  'gi',
)
const REASON = /^\s*-- contract: \S/
/** A reason may have several lines, directly above the statement. */
const LINES_ABOVE = 4

export const expandRules: Rule[] = [
  {
    name: 'migration-contract',
    promise: 'a migration removes nothing that the previous version may use without a reason',
    check: takings,
  },
]

function takings(repository: Repository): Finding[] {
  const files = repository.tracked.filter((path) => /^migrations\/\d{4}-.*\.sql$/.test(path))
  return files.flatMap((file) => {
    const text = repository.read(file) ?? ''
    const lines = text.split('\n')
    return matches(text.replace(/--.*/g, blank), TAKING)
      .filter(
        ({ line }) => !lines.slice(Math.max(0, line - 1 - LINES_ABOVE), line - 1).some(isReason),
      )
      .map(({ line }) => ({
        file,
        line,
        fix: 'the previous version may need it: write "-- contract: why not" above it, see 0019',
      }))
  })
}

function isReason(line: string): boolean {
  return REASON.test(line)
}

function blank(text: string): string {
  return ' '.repeat(text.length)
}
