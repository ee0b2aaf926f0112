// The chain: concurrent acts form one, a rolled-back act leaves no gap, nobody supplies a digest,
// and each way to tamper with it is found.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestActs, type TestActs } from '../../test/stages/acts.ts'
import { until } from '../../test/stages/mail.ts'
import { onServer } from '../../test/support/harness.ts'
import { urlAs } from '../../tools/program-roles.ts'
import { lineOf, markOf } from './chain.ts'
import { actListChained } from './queries.ts'

const at = { stage: undefined as unknown as TestActs }
beforeEach(async () => {
  at.stage = await createTestActs()
})
afterEach(() => at.stage.end())

const rules = async () => (await at.stage.acts.check()).map(({ rule }) => rule)
const found = async () =>
  (await at.stage.acts.check()).map(({ rule, subject }) => `${rule} ${subject}`)

test('concurrent acts form one chain without gaps', async () => {
  const { db, acts, act } = at.stage
  await Promise.all(Array.from({ length: 60 }, (_, i) => act(`number ${i}`)))
  const { rows } = await db.query(
    'select count(*)::int4 as acts, max(number)::int4 as last from operator_acts',
  )
  assert.deepEqual(rows, [{ acts: 60, last: 60 }])
  const { acts: count, findings } = await acts.audit()
  assert.deepEqual([count, findings], [60n, []])
})

test('an act that is rolled back takes its number back', async () => {
  const { db, acts, act } = at.stage
  await act('one')
  const undone = db.transaction(async (tx) => {
    await act('two', tx)
    throw new Error('roll back')
  })
  await assert.rejects(undone, /roll back/)
  await act('three')
  const { acts: count, findings } = await acts.audit()
  assert.deepEqual([count, findings], [2n, []])
})

test('a writer cannot choose the number, the digest or the time', async () => {
  const { db, acts } = at.stage
  await db.query(
    `insert into operator_acts (acted_by, os_user, command, outcome, detail, number, digest, at)
     values ('a', 'b', 'c', 'done', '', 77, sha256('x'), '2020-01-01')`,
  )
  const { rows } = await db.query(
    `select number, digest <> sha256('x') and at > now() - interval '1 hour' as "isOwn"
     from operator_acts`,
  )
  assert.deepEqual(rows, [{ number: 1n, isOwn: true }])
  assert.deepEqual((await acts.audit()).findings, [])
})

test('a writer cannot take the ids of later acts', async () => {
  const { db, act, acts } = at.stage
  const first = await act('one')
  await db.query(
    `insert into operator_acts (id, acted_by, os_user, command, outcome, detail)
     overriding system value
     select $1::int8 + n, 'a', 'b', 'c', 'done', '' from generate_series(2, 9) as n`,
    [first],
  )
  for (const name of ['two', 'three', 'four', 'five']) await act(name)
  const { acts: count, findings } = await acts.audit()
  assert.deepEqual([count, findings], [13n, []])
})

test('a line of a copy can be verified with nothing but SHA-256', async () => {
  const { db, act } = at.stage
  await act('grant 1 "quoted" \\ \t\u0001\u2028 почта')
  await act('second')
  const lines = (await actListChained(db, { after: 0n, limit: 10 })).map(lineOf)
  let before = Buffer.alloc(0)
  for (const line of lines) {
    const text = line.slice('{"act":'.length, line.lastIndexOf(',"digest":'))
    before = createHash('sha256').update(before).update(text).digest()
    assert.equal(markOf(line)?.digest.toString('hex'), before.toString('hex'), line)
    assert.equal(JSON.stringify(JSON.parse(line)), line)
  }
})

test('acts of other people and no acts at all are fine', async () => {
  assert.deepEqual(await rules(), [])
  await at.stage.act('one')
  assert.deepEqual(await rules(), [])
})

/** Each begins with ten acts that a worker has checked. */
const tamperings: [name: string, statements: string[], expected: string[]][] = [
  ['erases the newest act', ['delete from operator_acts where number = 10'], ['act_erased act 10']],
  [
    'erases the newest acts and sets the end back',
    [
      'delete from operator_acts where number > 8',
      `update act_chain set number = a.number, digest = a.digest
       from operator_acts a where a.number = 8`,
    ],
    ['act_erased act 10'],
  ],
  [
    'erases an act in the middle',
    ['delete from operator_acts where number = 5'],
    ['act_erased act 5'],
  ],
  [
    'erases several acts',
    ['delete from operator_acts where number between 4 and 6'],
    ['act_erased act 4'],
  ],
  [
    'empties the table',
    ['truncate operator_acts', `update act_chain set number = 0, digest = ''`],
    ['act_erased act 10'],
  ],
  [
    'alters an act',
    [`update operator_acts set detail = 'nothing' where number = 5`],
    ['act_altered act 5'],
  ],
  [
    'alters an act together with its digest',
    [
      `update operator_acts set command = 'x' where number = 5`,
      `update operator_acts a set digest = sha256(b.digest || convert_to(acts_text(a), 'UTF8'))
       from operator_acts b where a.number = 5 and b.number = 4`,
    ],
    ['act_altered act 6'],
  ],
  [
    'adds an act past the trigger',
    [
      `insert into operator_acts (acted_by, os_user, command, outcome, detail, number, digest)
       values ('a', 'b', 'c', 'done', '', 11, sha256('x'))`,
    ],
    ['act_altered act 11', 'chain_end_wrong the end of the chain'],
  ],
  [
    'adds an act before the first',
    [
      `insert into operator_acts (acted_by, os_user, command, outcome, detail, number, digest)
       values ('a', 'b', 'c', 'done', '', 0, sha256('x'))`,
    ],
    ['act_added acts without a number'],
  ],
  [
    'adds an act with a number that is taken',
    [
      'alter table operator_acts drop constraint operator_acts_are_numbered_once',
      `insert into operator_acts (acted_by, os_user, command, outcome, detail, number, digest)
       values ('a', 'b', 'c', 'done', '', 4, sha256('x'))`,
    ],
    ['act_added act 4'],
  ],
  ['removes the end', ['delete from act_chain'], ['chain_end_wrong the end of the chain']],
  ['writes the whole chain anew', ['select tamper_chain(3)'], ['chain_rewritten act 10']],
]
for (const [name, statements, expected] of tamperings) {
  test(`somebody ${name}, and the same process finds it`, async () => {
    const { act, tamper } = at.stage
    for (let i = 1; i <= 10; i++) await act(`act ${i}`)
    assert.deepEqual(await found(), [])
    await tamper(statements)
    assert.deepEqual((await found()).sort(), expected.toSorted())
    assert.deepEqual((await found()).sort(), expected.toSorted(), 'it stays found')
  })
}

test('a whole chain that was written anew passes without a copy and in a new process', async () => {
  const { act, tamper, open } = at.stage
  for (let i = 1; i <= 10; i++) await act(`act ${i}`)
  await tamper(['select tamper_chain(3)'])
  assert.deepEqual(await open().check(), [], 'that is what copies are for')
})

test('a check reads only what is new while nothing was changed', async () => {
  const { act, acts, reads, count } = at.stage
  for (let i = 1; i <= 10; i++) await act(`act ${i}`)
  // PostgreSQL may count inserts seconds later, for which a check reads everything once more.
  const pagesOf = async () => {
    const before = reads.length
    const newest = await count()
    await act('one more')
    await acts.check()
    const pages = reads.slice(before).filter(([text]) => text.includes('order by number'))
    return pages.length === 1 && pages[0]?.[1]?.[0] === newest
  }
  await acts.check()
  await until('it reads one act', pagesOf)
})

test('triggers that are switched off or removed are found', async () => {
  const { db } = at.stage
  assert.deepEqual(await found(), [])
  const partition = await at.stage.partition()
  await db.query(`alter table ${partition} disable trigger entries_never_change`)
  await db.query('alter table entries disable trigger entries_are_never_emptied')
  await db.query('alter table operator_acts disable trigger operator_acts_are_append_only')
  await db.query('drop trigger operator_acts_join_the_chain on operator_acts')
  assert.deepEqual(await found(), [
    'trigger_disabled entries.entries_are_never_emptied',
    `trigger_disabled ${partition}.entries_never_change`,
    'trigger_disabled operator_acts.operator_acts_are_append_only',
    'trigger_missing operator_acts.operator_acts_join_the_chain',
  ])
})

test('a row that never changes was changed, and its trigger is on again', async () => {
  const { db } = at.stage
  await db.query(
    `insert into tariffs (catalogue_version, model, coefficient, cache_read, cache_write_5m,
       cache_write_1h)
     values (1, 'a model', 5000000, 100000, 1250000, 2000000)`,
  )
  assert.deepEqual(await found(), [])
  await db.transaction(async (tx) => {
    await tx.query('alter table tariffs disable trigger tariffs_never_change')
    await tx.query('update tariffs set input = input')
    await tx.query('alter table tariffs enable trigger tariffs_never_change')
  })
  // PostgreSQL counts up to a second later.
  await until('it is found', async () => (await found()).includes('rows_changed tariffs'))
  assert.deepEqual(await found(), ['rows_changed tariffs'], 'it stays found')
})

test('a rewritten table of acts is read whole, one that never changes is reported', async () => {
  const { db, act, partition } = at.stage
  for (let i = 1; i <= 5; i++) await act(`act ${i}`)
  const name = await partition()
  assert.deepEqual(await found(), [])
  await db.query(
    `alter table operator_acts alter detail type text
       using case when number = 3 then 'nothing' else detail end`,
  )
  await db.query('alter table entries alter note type text using note || note')
  const after = await found()
  assert.ok(after.includes('act_altered act 3'), after.join())
  assert.ok(after.includes(`table_rewritten ${name}`), after.join())
})

test('a function of the keeper is found, which his trigger would run as the owner', async () => {
  const { db, database } = at.stage
  assert.deepEqual(await found(), [])
  await onServer(
    async (keeper) => {
      await keeper.query(
        `create function more() returns trigger language plpgsql as
       'begin update books set available = available + 1; return null; end'`,
      )
      await keeper.query('create trigger more after insert on entries execute function more()')
    },
    urlAs(database.url, 'tollgate_keeper'),
  )
  await db.query('insert into books (id) values (1)')
  await db.query(`select ledger_gift(1, 'op gift', 5, '')`)
  const { rows } = await db.query('select available from books')
  assert.deepEqual(rows, [{ available: 6n }], 'it ran as the owner')
  assert.deepEqual(await found(), [
    'function_added more() of tollgate_keeper',
    'definition_changed function more',
    'definition_changed trigger entries.more',
  ])
})

test('another table took the place of a partition of entries', async () => {
  const { db, partition } = at.stage
  assert.deepEqual(await found(), [])
  const name = await partition()
  await db.transaction(async (tx) => {
    const { rows } = await tx.query(
      `select pg_get_expr(relpartbound, oid) as bound from pg_class where relname = $1`,
      [name],
    )
    await tx.query(`alter table entries detach partition ${name}`)
    await tx.query(`alter table ${name} rename to put_aside`)
    await tx.query(`create table ${name} (like put_aside including all)`)
    const { bound } = rows[0] as { bound: string }
    await tx.query(`alter table entries attach partition ${name} ${bound}`)
  })
  assert.ok((await found()).includes(`table_replaced ${name}`))
})

test('the metrics say what was found, and count it once', async () => {
  const { act, acts, tamper, metrics } = at.stage
  acts.exportWatch(metrics)
  const text = () => metrics.registry.metrics()
  await act('one')
  await acts.check()
  assert.match(await text(), /^acts_watch\{of="findings"\} 0$/m)
  await tamper(['delete from operator_acts'])
  await acts.check()
  await acts.check()
  assert.match(await text(), /^acts_watch\{of="findings"\} 1$/m)
  assert.match(await text(), /^acts_findings_total\{of="act_erased"\} 1$/m)
  assert.match(await text(), /^acts_watch\{of="checked_seconds"\} 0\.\d+$/m)
})

test('acts without signing in are counted for a day', async () => {
  const { act, acts, db, metrics } = at.stage
  acts.exportWatch(metrics)
  await act('one')
  assert.match(await metrics.registry.metrics(), /^acts_watch\{of="break_glass"\} 0$/m)
  const who = { by: 'break-glass olga@desk-1', osUser: 'olga@desk-1' }
  await acts.record(db, { ...who, command: 'two', outcome: 'done', detail: '', of: null })
  assert.match(await metrics.registry.metrics(), /^acts_watch\{of="break_glass"\} 1$/m)
})
