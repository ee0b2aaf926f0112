// Charges that the database refused: the audit names them, a list has them, and only an operator's
// act, which leaves its line, gives one up.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { type BookId, newHoldId, requestIdOf } from '../platform/ids.ts'
import { credits } from '../units/credits.ts'
import { noTokens, tokens } from '../units/tokens.ts'

const at = { stage: undefined as unknown as OperatorStage, book: 0n as BookId }

before(async () => {
  at.stage = await createOperatorStage()
  at.book = await at.stage.newBook()
})
after(() => at.stage.end())

const files = async () =>
  (await readdir(at.stage.ledger.spoolDirectory)).filter((name) => name.endsWith('.refused'))

/** A charge of a hold that the database does not know. */
async function refusedCharge(whole: number): Promise<string> {
  const id = newHoldId(0, Date.now())
  await at.stage.ledger.settle({
    ...{ id, book: at.book, ending: 'complete', isEstimated: false, messageId: 'msg_1' },
    counts: { ...noTokens, output: tokens(whole) },
    priced: credits(whole),
  })
  return requestIdOf(id)
}

test('the audit of a machine without refused charges says where it looked', async () => {
  const { code, out } = await at.stage.op(['audit'])
  const { spoolDirectory } = at.stage.ledger
  assert.equal(out, `the ledger ties out\nno refused charges in ${spoolDirectory}`)
  assert.equal(code, 0)
})

test('the audit names each refused charge until an operator gives it up', async () => {
  const given = await refusedCharge(1_287)
  const kept = await refusedCharge(30)
  const { code, out } = await at.stage.op(['audit'])
  assert.equal(code, 1, 'something was found')
  const [ties, ...lines] = out.split('\n')
  assert.equal(ties, 'the ledger ties out')
  assert.equal(lines[0], `refused charge ${given}  book ${at.book}, 1 287 credits, complete`)
  assert.match(lines[1] ?? '', /^ {2}since .* UTC: answered hold_unknown$/)
  assert.equal(lines.length, 4)
  assert.equal((await at.stage.op(['refused'])).out, lines.join('\n'))

  const before = (await at.stage.acts()).length
  const remove = ['refused', 'remove', given, '--reason', 'never served, ticket 9']
  assert.equal((await at.stage.op(remove, '1288')).code, 1)
  assert.equal((await files()).length, 2)
  const removed = await at.stage.op(remove, '1287')
  assert.equal(removed.code, 0, removed.err)
  assert.equal((await files()).length, 1)
  const [begun, done, ...more] = (await at.stage.acts()).slice(before)
  assert.deepEqual(more, [])
  assert.deepEqual([begun?.outcome, done?.outcome, done?.of], ['begun', 'done', begun?.id])
  assert.equal(done?.command, `refused remove ${given} --reason 'never served, ticket 9'`)
  // All of it is in the line: whom, what was used, what it cost.
  assert.match(done?.detail ?? '', new RegExp(`^${given}: given up \\["[^]*1287000000`))

  const { refused } = await at.stage.json<{ refused: { request: string }[] }>('audit')
  assert.deepEqual(
    refused.map(({ request }) => request),
    [kept],
  )
  await at.stage.op(['--yes', 'refused', 'remove', kept, '--reason', 'x'])
  assert.equal((await at.stage.op(['audit'])).code, 0)
})

test('what is no refused charge is said to be none', async () => {
  const none = requestIdOf(newHoldId(0, Date.now()))
  const remove = (id: string) => at.stage.op(['refused', 'remove', id, '--reason', 'x'])
  assert.deepEqual(
    [(await remove('anna')).code, (await remove(none)).code, (await at.stage.op(['refused'])).code],
    [2, 1, 0],
  )
})
