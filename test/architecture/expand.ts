// Migrations expand first and contract later: the version before goes on while they run, and may be
// gone back to. What takes something away that it could still use says why nobody does.
import type { Finding, House, Rule } from './tree.ts'
import { matches } from './tree.ts'

/** What the version before may still read, write or call. */
const TAKING = new RegExp(
  [
    String.raw`\bdrop\s+(?:table|column|function|type|view|schema)\b`,
    String.raw`\brename\s+(?:to|column|value|constraint|attribute)\b`,
    String.raw`\balter\s+(?:column\s+)?\w+\s+(?:set\s+not\s+null|(?:set\s+data\s+)?type)\b`,
    // A row that the version before inserts has no value for it.
    String.raw`\badd\s+column\s+(?:if\s+not\s+exists\s+)?(?![^,;]*\bdefault\b)[^,;]*\bnot\s+null\b`,
  ].join('|'),
  'gi',
)
const REASON = /^\s*-- contract: \S/
/** A reason may take some lines, and stands right above what it is for. */
const LINES_ABOVE = 4

export const expandRules: Rule[] = [
  {
    name: 'migration-contract',
    promise: 'a migration takes nothing from the version before it without a reason',
    check: takings,
  },
]

function takings(house: House): Finding[] {
  const files = house.tracked.filter((path) => /^migrations\/\d{4}-.*\.sql$/.test(path))
  return files.flatMap((file) => {
    const text = house.read(file) ?? ''
    const lines = text.split('\n')
    return matches(text.replace(/--.*/g, blank), TAKING)
      .filter(
        ({ line }) => !lines.slice(Math.max(0, line - 1 - LINES_ABOVE), line - 1).some(isReason),
      )
      .map(({ line }) => ({
        file,
        line,
        cure: 'the version before may need it: write "-- contract: why not" above it, see 0019',
      }))
  })
}

function isReason(line: string): boolean {
  return REASON.test(line)
}

function blank(text: string): string {
  return ' '.repeat(text.length)
}
