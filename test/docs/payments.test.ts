// The operators' page about payments says what the code does: every state, every alarm and every
// reason is explained once, and no other; and the figures behind the alarms are those of the code.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { UNRESOLVED } from '../../src/payments/mandates/endings.ts'
import { differenceReasons } from '../../src/payments/order/decide.ts'
import { CLOSING_REVIEW } from '../../src/payments/refunds/closing.ts'
import { alarmsOf } from '../../src/payments/reviews/alarms.ts'
import {
  backingRule,
  eventRules,
  packRule,
  paymentRules,
  refundRules,
  shopRule,
  tieRules,
} from '../../src/payments/watch/findings.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/payments.md'), 'utf8')
const schema = readFileSync(join(root, 'migrations/schema.sql'), 'utf8')

/** The names in code marks that open the rows of a section's table. */
function namesOf(section: string): string[] {
  const text = page.split(/^## /m).find((one) => one.startsWith(section)) ?? ''
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
    .map(([, name = '']) => name)
}

test('every state of an order is explained once, and no other', () => {
  const type = /create type (?:public\.)?order_state as enum \(([^)]*)\)/i.exec(schema)?.[1] ?? ''
  const states = [...type.matchAll(/'(\w+)'/g)].map(([, state = '']) => state)
  assert.ok(states.length > 10, 'the schema has states')
  assert.deepEqual(namesOf('The states of an order').toSorted(), states.toSorted())
})

test('every alarm has its line, and no other', () => {
  const everything = {
    delayP99: 1_000,
    credited: 100,
    byWebhook: 0,
    reviews: 1,
    createdOld: 1,
    noticesOld: 1,
    sweepSeconds: 1_000,
    sweepFailures: 9,
    refundsOld: 1,
    refundsCanceled: 1,
    receiptsFailed: 1,
    uncreditedSeconds: 1_000,
    blindSweeps: 1,
    findings: 1,
    tiedSeconds: 10_000,
    comparedSeconds: 1_000_000,
  }
  const alarms = alarmsOf(everything).map(({ name }) => name)
  assert.deepEqual(namesOf('Alarms').toSorted(), alarms.toSorted())
})

test('every reason for a review is explained', () => {
  const told = namesOf('Payments under review')
  const others = ['order_unknown', 'refund …', `${CLOSING_REVIEW} …`, UNRESOLVED]
  assert.deepEqual(told.toSorted(), [...differenceReasons, ...others].toSorted())
})

test('every finding of the settlement watch is explained', () => {
  const compared = [...tieRules, shopRule, packRule, backingRule, ...paymentRules]
  const rules = [...eventRules, ...compared, ...refundRules]
  assert.deepEqual(namesOf('The settlement watch').toSorted(), rules.toSorted())
})

test('every metric of payments is explained', () => {
  const source = readFileSync(join(root, 'src/payments/metrics.ts'), 'utf8')
  const metrics = [...source.matchAll(/name: '(payments_\w+)'/g)].map(([, name = '']) => name)
  const told = namesOf('Metrics').map((name) => name.replace(/\{.*/, ''))
  assert.deepEqual([...new Set(told)].toSorted(), metrics.toSorted())
})

test('every setting that the page names exists, and every link leads to a file', () => {
  const example = readFileSync(join(root, 'tollgate.example.yaml'), 'utf8')
  for (const [, area, thing] of page.matchAll(/`(payments|yookassa|cabinet)\.(\w+)[:`]/g)) {
    const block = example.split(new RegExp(`^${area}:`, 'm'))[1]?.split(/^\w/m)[0] ?? ''
    assert.match(block, new RegExp(`^  ${thing}:`, 'm'), `${area}.${thing}`)
  }
  for (const [, target = ''] of page.matchAll(/\]\(([^)#]+)\)/g)) {
    assert.doesNotThrow(() => readFileSync(join(root, 'docs', target)), target)
  }
})
