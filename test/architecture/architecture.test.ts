// The house rules, applied to this repository: one test for each rule. What a rule catches is
// proven by planted faults in planted-faults.test.ts.
import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { checkHouse, rules, violationText } from './architecture.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const violations = checkHouse(root)

for (const rule of rules) {
  test(rule.promise, () => {
    const broken = violations.filter((violation) => violation.rule === rule.name)
    if (broken.length > 0) assert.fail(`\n${broken.map(violationText).join('\n')}`)
  })
}
