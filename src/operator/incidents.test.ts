// op incident: what an operator publishes is checked before everybody reads it, recorded as an act,
// and shown in both languages.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

const texts = ['--ru', 'Ищем причину.', '--en', 'Looking for the cause.']
const titles = ['--title-ru', 'Ошибки 529', '--title-en', 'Errors 529']
const incident = (...args: string[]) => at.stage.op(['--yes', 'incident', ...args])
const listed = () => at.stage.status.read().then(({ incidents }) => incidents)
const future = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

test('an incident is opened, updated and closed, and each of it is an act', async () => {
  const opened = await incident('open', 'gateway, models', ...titles, ...texts)
  assert.equal(opened.code, 0, opened.all)
  assert.match(opened.all, /ru: Ошибки 529\n {6}Ищем причину\.\n {2}en: Errors 529/)
  const again = await incident('open', 'gateway', ...titles, ...texts)
  assert.deepEqual(
    [again.code, again.err],
    [1, 'incident 1 with this title is open: op incident update'],
  )
  const watched = await incident('update', '1', '--state', 'watching', ...texts)
  assert.match(watched.out, /incident 1 is watching/)
  const list = await incident('list')
  assert.match(list.out, /^incident 1 {2}open {2}gateway, models\n/)
  assert.equal((await incident('close', '1', ...texts)).code, 0)
  const [only] = await listed()
  assert.deepEqual(
    only?.updates.map(({ state }) => state),
    ['closed', 'watching', 'investigating'],
  )
  assert.notEqual(only?.closedAt, null)
  assert.equal((await incident('close', '1', ...texts)).code, 1)
  const acts = (await at.stage.acts()).map(({ command, outcome }) => `${command} ${outcome}`)
  assert.equal(acts.filter((one) => /^incident (?:open|update|close) .* done$/.test(one)).length, 3)
})

test('maintenance has an end within a week, and is over when its time is', async () => {
  const plan = (from: string, to: string) =>
    incident('open', 'payments', '--from', from, '--to', to, ...titles, ...texts)
  for (const [from, to] of [
    [future(2), future(1)],
    [future(-3), future(-2)],
    [future(1), future(1 + 7 * 24 + 1)],
  ] as const) {
    assert.equal((await plan(from, to)).code, 2)
  }
  assert.equal(
    (await incident('open', 'letters', '--from', future(1), ...titles, ...texts)).code,
    2,
  )
  const planned = await plan(future(1), future(2))
  assert.match(planned.all, /failures in that time count as planned/)
  const [newest] = await listed()
  assert.deepEqual([newest?.kind, newest?.updates[0]?.state], ['maintenance', 'planned'])
  await at.stage.db.query(
    `update status_incidents set begins_at = now() - interval '2 hours',
       ends_at = now() - interval '1 hour' where kind = 'maintenance'`,
  )
  const found = (await listed()).find(({ kind }) => kind === 'maintenance')
  assert.notEqual(found?.closedAt, null)
})

test('parts that do not exist and texts that nobody could read are refused', async () => {
  assert.match((await incident('open', 'gatway', ...titles, ...texts)).err, /gatway is none of/)
  for (const bad of ['', ' ', 'a\u0007b', 'x'.repeat(2_001), 'anna@example.org']) {
    const { code } = await incident('open', 'letters', ...titles, '--ru', bad, '--en', 'x')
    assert.equal(code, 2, JSON.stringify(bad))
  }
  assert.equal((await incident('update', '1', '--state', 'gone', ...texts)).code, 2)
  assert.equal((await incident('update', '99', ...texts)).code, 1)
  assert.equal((await incident('update', 'one', ...texts)).code, 2)
})

test('two operators who close at once close it once', async () => {
  const { db } = at.stage.database
  const opened = await at.stage.json<{ incident: string }>(
    'incident',
    'open',
    'letters',
    ...titles,
    ...texts,
  )
  const update = (id: bigint) =>
    db.transaction((tx) =>
      at.stage.status.incidents.update(tx, {
        ...{ id, state: 'closed', text: { ru: 'а', en: 'a' }, by: 'olga' },
      }),
    )
  const id = BigInt(opened.incident)
  const ends = await Promise.allSettled([update(id), update(id)])
  const codes = ends.map((one) => (one.status === 'rejected' ? one.reason.code : 'done'))
  assert.deepEqual(codes.sort(), ['done', 'incident_closed'])
  await assert.rejects(update(9_999n), { code: 'incident_unknown' })
})
