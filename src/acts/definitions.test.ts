// What a person with the owner's password can do without touching a row: another text under the
// name of a function or trigger, a policy that hides an act. Each is found by the next check.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestActs, type TestActs } from '../../test/stages/acts.ts'

const at = { stage: undefined as unknown as TestActs }
beforeEach(async () => {
  at.stage = await createTestActs()
})
afterEach(() => at.stage.end())

const found = async () =>
  (await at.stage.acts.check()).map(({ rule, subject }) => `${rule} ${subject}`)

const EMPTY = `language sql stable as 'select null::text, null::int8, null::text where false'`
const NOTHING = `returns trigger language plpgsql as 'begin return null; end'`
const APPEND_ONLY = 'operator_acts_are_append_only'

const tamperings: [name: string, statements: string[], expected: string[]][] = [
  [
    'hides an act from one role by row level security',
    [
      'alter table operator_acts enable row level security',
      'create policy hide on operator_acts to tollgate_operator using (number <> 1)',
    ],
    ['policy operator_acts.hide', 'row level security of operator_acts'],
  ],
  [
    'empties the functions that refuse changes',
    [
      `create or replace function operator_acts_refuse_change() ${NOTHING}`,
      `create or replace function ledger_refuse_change() ${NOTHING}`,
    ],
    ['function ledger_refuse_change', 'function operator_acts_refuse_change'],
  ],
  [
    'makes triggers anew that let changes through',
    [
      `drop trigger ${APPEND_ONLY} on operator_acts`,
      `create trigger ${APPEND_ONLY} before truncate on operator_acts
       execute function operator_acts_refuse_change()`,
      'drop trigger entries_never_change on entries',
      `create trigger entries_never_change before delete or update on entries
       for each row when (false) execute function ledger_refuse_change()`,
    ],
    ['trigger entries.entries_never_change', `trigger operator_acts.${APPEND_ONLY}`],
  ],
  [
    'empties the audit of the ledger',
    [`create or replace function ledger_audit_triggers() returns setof finding ${EMPTY}`],
    ['function ledger_audit_triggers'],
  ],
  [
    'takes away the search_path of a function with the owner’s rights',
    ['alter function ledger_open() reset all'],
    ['function ledger_open'],
  ],
  [
    'makes a second form of a function',
    [`create function ledger_open(p_cell int4) returns int8 language sql as 'select 1::int8'`],
    ['function ledger_open'],
  ],
  [
    'drops inserts by a rule',
    ['create rule lose as on insert to operator_acts do instead nothing'],
    ['rule operator_acts.lose'],
  ],
  [
    'adds a trigger to one partition',
    [
      `create trigger more before insert on entries_default_or_day for each row
       execute function ledger_refuse_change()`,
    ],
    ['trigger entries_default_or_day.more'],
  ],
]
for (const [name, statements, subjects] of tamperings) {
  test(`somebody ${name}, and the next check finds it`, async () => {
    const { db, act, partition } = at.stage
    await act('one')
    assert.deepEqual(await found(), [])
    const day = await partition()
    const named = (text: string) => text.replace('entries_default_or_day', day)
    for (const statement of statements) await db.query(named(statement))
    const expected = subjects.map((subject) => `definition_changed ${named(subject)}`)
    assert.deepEqual(await found(), expected)
    assert.deepEqual(await found(), expected, 'it stays found')
  })
}

test('during an upgrade definitions of another version raise no alarm', async () => {
  const { db, act, acts, metrics } = at.stage
  acts.exportWatch(metrics)
  await act('one')
  assert.deepEqual(await found(), [])
  await db.transaction(async (tx) => {
    await tx.query(`insert into kysely_migration values ('9999-newer', now())`)
    await tx.query(`create or replace function ledger_refuse_change() ${NOTHING}`)
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.deepEqual(await found(), [])
  const text = await metrics.registry.metrics()
  assert.match(
    text,
    /^acts_watch\{of="definitions_seconds"\} (?:[1-9]|0\.[1-9]|0\.0[2-9])/m,
    'the age tells it',
  )
})
