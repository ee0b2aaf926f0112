// op accounts busiest: sums what processes reported, the largest part first.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'

let stage: OperatorStage
before(async () => {
  stage = await createOperatorStage()
})
after(() => stage.end())

/** What a process reported, this long ago. */
async function report(instance: number, uses: readonly object[], secondsAgo = 0): Promise<void> {
  await stage.db.query(
    `insert into busiest_accounts (instance, uses, seen_at)
     values ($1, $2, clock_timestamp() - make_interval(secs => $3))`,
    [instance, JSON.stringify(uses), secondsAgo],
  )
}

test('says so when no process has reported', async () => {
  const { code, out } = await stage.op(['accounts', 'busiest'])
  assert.deepEqual(
    [code, out],
    [0, 'no gateway process reported an account in the last half minute'],
  )
})

test('adds up the processes of the last half minute, the largest part first', async () => {
  const anna = await stage.person('anna')
  const book = String(anna.book)
  const small = { of: 'free', book: '4711', used: 2, capacity: 32, refused: 0, shed: 0 }
  const large = { of: 'waiting', book, used: 600, capacity: 1_000, refused: 3, shed: 1 }
  await report(1, [small, large])
  await report(2, [{ ...large, used: 400 }])
  await report(3, [{ ...large, used: 1_000 }], 31)
  const { out } = await stage.op(['accounts', 'busiest'])
  const [head, first, second, ...others] = out.split('\n')
  assert.match(head ?? '', /^shared +book +account +used +part +refused +shed +processes$/)
  assert.match(first ?? '', new RegExp(`^waiting +${book} +${anna.email} +1\\D000 +50 % +6 +2 +2$`))
  assert.match(second ?? '', /^free +4711 +2 +6 % +0 +0 +1$/)
  assert.deepEqual(others, [])
  const { busiest } = await stage.json<{ busiest: object[] }>('accounts', 'busiest')
  assert.deepEqual(Object.keys(busiest[0] ?? {}), [
    ...['of', 'book', 'used', 'capacity', 'refused', 'shed', 'processes', 'email'],
  ])
})
