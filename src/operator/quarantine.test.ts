// Tests of charges in quarantine and of lost spools: op audit names them, and only a recorded act
// of an operator gives one up.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { createLedgerCustomer } from '../../test/support/ledger-customer.ts'
import { quarantineCharge } from '../../test/support/quarantined-charge.ts'
import { type BookId, newHoldId, requestIdOf } from '../platform/ids.ts'

const at = { stage: undefined as unknown as OperatorStage, book: 0n as BookId }

before(async () => {
  at.stage = await createOperatorStage()
  at.book = await at.stage.newBook()
})
after(() => at.stage.end())

const refusedCharge = (whole: number) => quarantineCharge(at.stage.ledger, at.book, whole)

test('the audit says that the quarantine is empty and every spool can be reached', async () => {
  const { code, out } = await at.stage.op(['audit'])
  assert.deepEqual(out.split('\n'), [
    'the ledger ties out',
    'operators’ acts: 0, as they were recorded; the copy was not read: there is none',
    'the quarantine is empty',
    'no spool is out of reach',
  ])
  assert.equal(code, 0)
})

test('the audit names each quarantined charge until an operator writes it off', async () => {
  const given = await refusedCharge(1_287)
  const kept = await refusedCharge(30)
  const { code, out } = await at.stage.op(['audit'])
  assert.equal(code, 1, 'something was found')
  const [ties, acts, ...lines] = out.split('\n')
  assert.equal(ties, 'the ledger ties out')
  assert.match(acts ?? '', /^operators’ acts: /)
  assert.equal(lines[0], `quarantined charge ${given}  book ${at.book}, 1 287 credits`)
  assert.match(lines[1] ?? '', /^ {2}since .* UTC: answered hold_unknown$/)
  assert.equal(lines.length, 5)
  assert.equal((await at.stage.op(['quarantine', 'list'])).out, lines.slice(0, 4).join('\n'))

  const before = (await at.stage.acts()).length
  const writeOff = ['quarantine', 'write-off', given, '--reason', 'never served, ticket 9']
  assert.equal((await at.stage.op(writeOff, '1288')).code, 1)
  assert.equal((await at.stage.ledger.quarantine.count()).settles, 2)
  const done = await at.stage.op(writeOff, '1287')
  assert.equal(done.code, 0, done.err)
  assert.equal((await at.stage.ledger.quarantine.count()).settles, 1)
  const [begun, ended, ...more] = (await at.stage.acts()).slice(before)
  assert.deepEqual(more, [])
  assert.deepEqual([begun?.outcome, ended?.outcome, ended?.of], ['begun', 'done', begun?.id])
  assert.equal(ended?.command, `quarantine write-off ${given} --reason 'never served, ticket 9'`)
  // The record has everything: the book, the usage, the cost.
  assert.match(ended?.detail ?? '', new RegExp(`^${given}: written off \\["[^]*1287000000`))

  const { quarantine } = await at.stage.json<{ quarantine: { request: string }[] }>('audit')
  assert.deepEqual(
    quarantine.map(({ request }) => request),
    [kept],
  )
  await at.stage.op(['--yes', 'quarantine', 'write-off', kept, '--reason', 'x'])
  assert.equal((await at.stage.op(['audit'])).code, 0)
})

test('a retry says which charges were refused again', async () => {
  const request = await refusedCharge(7)
  const retried = await at.stage.op(['--yes', 'quarantine', 'retry', request])
  assert.equal(retried.code, 1)
  assert.equal(retried.out, '0 charged, 1 refused again')
  assert.match(retried.err, new RegExp(`${request}: answered hold_unknown$`))
  const [row] = await at.stage.ledger.quarantine.list({ limit: 1, hold: null })
  assert.equal(row?.attempts, 1)
  await at.stage.op(['--yes', 'quarantine', 'write-off', request, '--reason', 'x'])
})

test('a retry says what was charged of a hold that was swept meanwhile', async () => {
  const { ledger, db } = at.stage
  const customer = await createLedgerCustomer({ ...ledger, db } as never, 100)
  const id = await customer.hold(100)
  await ledger.quarantine.add({ input: customer.settleInput(id, 30), reason: '42883 a test' })
  await customer.void(id, 'overdue')
  for (const spent of [50, 25]) await customer.settle(await customer.hold(spent), spent)
  const retried = await at.stage.op(['--yes', 'quarantine', 'retry', requestIdOf(id)])
  assert.deepEqual([retried.code, retried.out], [0, '1 charged, 0 refused again'])
  assert.match(retried.err, /req_\w+: charged 25 credits, written off 5$/)
})

test('says so when a request has no charge in quarantine', async () => {
  const none = requestIdOf(newHoldId(0, Date.now()))
  const writeOff = (id: string) => at.stage.op(['quarantine', 'write-off', id, '--reason', 'x'])
  assert.deepEqual([(await writeOff('anna')).code, (await writeOff(none)).code], [2, 1])
  assert.equal((await at.stage.op(['quarantine', 'retry'])).code, 1)
  assert.equal((await at.stage.op(['quarantine', 'list'])).code, 0)
})

test('a lost spool raises the alarm until its files are adopted or it is forgotten', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-lost-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  await at.stage.db.query(
    `insert into instances (id, role, host, spool_directory, started_at, beat_at, lost_at)
     select id, 'gateway', 'node-7', $1, now(), now(), now() - interval '1 hour'
     from unnest('{41, 42}'::int8[]) as id`,
    [directory],
  )
  const listed = await at.stage.op(['spool', 'list'])
  assert.equal(listed.code, 1)
  assert.match(listed.out, /^spool out of reach: \S+ of node-7\n {2}gateway 41, lost since .* UTC/)
  assert.equal((await at.stage.op(['audit'])).code, 1)

  await writeFile(join(directory, '41.spool'), '')
  const adopted = await at.stage.op(['--yes', 'spool', 'adopt', directory])
  assert.deepEqual([adopted.code, adopted.out], [0, 'charges sent: 0, files removed: 1'])
  assert.doesNotMatch((await at.stage.op(['spool', 'list'])).out, /gateway 41/)

  const mistyped = await at.stage.op(['--yes', 'spool', 'adopt', `${directory}/typo`])
  assert.equal(mistyped.code, 1)
  assert.match(mistyped.err, /typo is not a directory on this machine$/)

  const forget = ['spool', 'forget', '42', '--reason', 'the disk was wiped']
  assert.equal((await at.stage.op(forget, 'node-8')).code, 1)
  assert.equal((await at.stage.op(forget, 'node-7')).code, 0)
  assert.equal((await at.stage.op(['spool', 'list'])).out, 'no spool is out of reach')
  assert.equal((await at.stage.op(['spool', 'forget', '43', '--reason', 'x'])).code, 1)
})

test('retry says how many charges it sends, also if it cannot list all', async () => {
  await refusedCharge(1)
  await at.stage.db.query(
    `insert into quarantine
     select (jsonb_populate_record(q, jsonb_build_object('hold_id', gen_random_uuid()))).*
     from quarantine q, generate_series(1, 204)
     where (hold_id, settle) = (
       select hold_id, settle from quarantine where closed_at is null limit 1)`,
  )
  const { settles } = await at.stage.ledger.quarantine.count()
  const { code, err } = await at.stage.op(['quarantine', 'retry'], 'n')
  assert.equal(code, 1)
  assert.match(err, new RegExp(`^${settles - 200} more in quarantine$`, 'm'))
  assert.match(err, new RegExp(`^ {2}${settles} sent to the ledger now`, 'm'))
})
