// op alarms: what it sees in the database, and that every alarm leads to a section that exists.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parse } from 'yaml'
import { anchorsOf, readPage } from '../../../test/docs/pages.ts'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { russianLine } from '../../../web/console/command/lines.ts'
import type { UpstreamLine } from '../../upstreams/upstreams.ts'
import { runbookPath } from './alarms.ts'
import { upstreamAlarms } from './checks.ts'
import { alarmTable } from './table.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

const root = join(import.meta.dirname, '../../..')
type Printed = {
  readonly alarms: readonly { readonly name: string; readonly detail: string }[]
  readonly unchecked: readonly object[]
}

const names = async () => (await at.stage.json<Printed>('alarms')).alarms.map((one) => one.name)

test('the operators’ role can check everything', async () => {
  const { unchecked } = await at.stage.json<Printed>('alarms')
  assert.deepEqual(unchecked, [])
  const { code, out } = await at.stage.op(['alarms'])
  assert.equal(code, 1)
  assert.match(out, /^gateway_silent +page +no process .* +docs\/runbooks\.md#a-process-of-/m)
})

test('an alarm is on while its condition holds', async () => {
  assert.ok(!(await names()).includes('emails_wait'))
  await at.stage.db.query(
    `insert into letters (kind, recipient, subject, body_text, body_html, state, attempts,
       posted_at)
     values ('payment-credited', 'anna@example.org', 's', 't', 'h', 'queued', 3,
       clock_timestamp() - interval '11 minutes')`,
  )
  const { alarms } = await at.stage.json<Printed>('alarms')
  assert.equal(alarms.find(({ name }) => name === 'emails_wait')?.detail, 'the oldest: 11 min ago')
  await at.stage.db.query('delete from letters')
  assert.ok(!(await names()).includes('emails_wait'))
})

test('a closed account that stays beyond its term is an alarm', async () => {
  assert.ok(!(await names()).includes('erasures_overdue'))
  await at.stage.db.query(
    `insert into accounts (id, email, book_id, closed_at, unspent, erase_at)
     values ('acc_overdueoverdueov', 'closed@example.org', 999001, clock_timestamp(), 'forfeit',
       clock_timestamp() - interval '3 days')`,
  )
  assert.ok((await names()).includes('erasures_overdue'))
  await at.stage.db.query(`delete from accounts where id = 'acc_overdueoverdueov'`)
})

test('a payment that waits for a person, and a broken glass, are alarms', async () => {
  const book = await at.stage.newBook()
  const { id } = await at.stage.buy(book)
  await at.stage.sim('alter', { orderId: id, value: '1299.00' })
  await at.stage.sim('pay', { orderId: id })
  await at.stage.payments.check(id)
  assert.ok((await names()).includes('reviews_waiting'))
  assert.ok(!(await names()).includes('break_glass'))
  await at.stage.people.newcomer('somebody', 'admin')
  await at.stage.op(['--break-glass', 'the app is lost', 'today'])
  const found = await at.stage.op(['--break-glass', 'the app is lost', '--json', 'alarms'])
  assert.match(found.out, /"break_glass","detail":"within a day: 2"/)
})

const line: UpstreamLine = {
  ...{ target: 'east#1', upstream: 'east', isConfigured: true, state: 'closed', out: null },
  ...{ underWay: 0, succeeded: 1, failed: 0, firstByteMs: 5, models: [], weight: 1 },
  ...{ isDrained: false, isUpstreamDrained: false, isCredentialDrained: false, isAdded: false },
  ...{ reference: null, problems: [], changedBy: null, changedAt: null, processes: 1 },
}
type ModelLine = UpstreamLine['models'][number]
const model = (name: string, state: ModelLine['state'], coolingSeconds = 0): ModelLine => ({
  ...{ model: name, isFree: false, state, coolingSeconds, underWay: 0, most: null, limits: {} },
})
const named = (...lines: UpstreamLine[]) =>
  upstreamAlarms(lines).map(({ name, detail }) => `${name} ${detail}`)

test('an upstream that serves is no alarm', () => {
  assert.deepEqual(named(line), [])
  assert.deepEqual(named(), [], 'none is configured')
  assert.deepEqual(named(line, { ...line, target: 'east#2', isDrained: true }), [])
})

test('a refused credential, a sick model and an unreadable secret are alarms', () => {
  const second = { ...line, target: 'east#2' }
  assert.deepEqual(named(line, { ...second, out: 'unpaid', state: 'open' }), [
    'upstream_out east#2: unpaid',
  ])
  assert.deepEqual(
    named({ ...line, models: [model('large', 'sick'), model('small', 'serving')] }),
    ['upstream_sick east#1 large: sick'],
  )
  const problems = [{ problem: 'no such file', processes: 2 }]
  assert.deepEqual(named({ ...line, problems }), ['credential_unusable east#1: no such file'])
})

test('a pause is an alarm when no credential in use serves the model', () => {
  const first = { ...line, models: [model('large', 'cooling', 17)] }
  const serves = { ...line, target: 'east#2', models: [model('large', 'serving')] }
  assert.deepEqual(named(first, serves), [])
  const cools = { ...serves, models: [model('large', 'cooling', 5)] }
  assert.deepEqual(named(first, cools), ['upstream_cooling large: every credential, for 5 s'])
  assert.equal(
    named(first, { ...serves, isDrained: true }).length,
    1,
    'a drained one does not help',
  )
})

test('no upstream that could serve is an alarm, and so is a silent gateway', () => {
  assert.deepEqual(named({ ...line, isDrained: true }), ['upstreams_away credentials in use: 0'])
  assert.equal(named({ ...line, state: 'unseen' })[0]?.split(' ')[0], 'gateway_silent')
})

test('every alarm is as urgent as its alert, and its runbook exists', () => {
  type Rule = { alert: string; labels: { severity: string }; annotations: { runbook: string } }
  const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.yml'), 'utf8')) as {
    groups: { rules: Rule[] }[]
  }
  const rules = new Map(groups.flatMap((group) => group.rules.map((rule) => [rule.alert, rule])))
  for (const [name, { alert, severity, runbook }] of Object.entries(alarmTable)) {
    const path = runbookPath(runbook)
    const [file = '', anchor = ''] = path.split('#')
    assert.ok(anchorsOf(readPage(file)).has(anchor), `${name}: ${path}`)
    if (alert === null) continue
    const rule = rules.get(alert)
    assert.deepEqual([rule?.labels.severity, rule?.annotations.runbook], [severity, path], name)
  }
})

test('the console says in Russian what an alarm found', async () => {
  const source = ['src/operator/alarms/checks.ts', 'src/payments/reviews/alarms.ts']
  const texts = source
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .flatMap((text) => text.match(/`[^`]*\$\{[^`]*`/g) ?? [])
    .map((text) => text.slice(1, -1).replaceAll(/\$\{ago\([^}]*\}/g, '3 min ago'))
    .map((text) => text.replaceAll(/\$\{[^}]*\}/g, '7'))
    // Two names, or a part of another text.
    .filter((text) => !/^(?:7 7: 7|7: 7|7 (?:s|min|h) ago)$/.test(text))
  assert.ok(texts.length > 20, texts.join('\n'))
  for (const text of texts) {
    assert.match(russianLine(text) ?? `no sentence: ${text}`, /^[^a-z]*[а-я](?!.* ago)/, text)
  }
})
