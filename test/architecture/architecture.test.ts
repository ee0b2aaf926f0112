// Applies the architecture rules to this repository, one test for each rule. planted-faults.test.ts
// tests the rules themselves.
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkRepository, rules, violationText } from './architecture.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const violations = checkRepository(root)

for (const rule of rules) {
  test(rule.promise, () => {
    const broken = violations.filter((violation) => violation.rule === rule.name)
    if (broken.length > 0) assert.fail(`\n${broken.map(violationText).join('\n')}`)
  })
}
