// A reply that fails is free, and its entry keeps what the upstream had reported: the vendor may
// bill it, and the comparison with the vendor's bill names it.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Caller, createCaller } from './caller.ts'
import { question } from './client.ts'

let gateway: TestGateway
let caller: Caller
before(async () => {
  gateway = await createTestGateway()
})
beforeEach(async () => {
  caller = await createCaller(gateway)
})
after(() => gateway.end())

test('keeps the input that a stream had reported, and estimates its output', async () => {
  const text = '[[reply: text 40]] [[fault: error-after=12]]'
  await caller.ask({ body: question(text, { stream: true }) })
  const [entry] = await caller.entries()
  assert.deepEqual([entry?.kind, entry?.ending, entry?.amount], ['void', 'upstream_failed', 0n])
  const { seen } = entry?.parts ?? {}
  assert.deepEqual([seen?.model, seen?.list], ['model-small', ''])
  assert.equal(seen?.counts.input, BigInt(caller.last().usage?.input_tokens ?? -1))
  assert.ok((seen?.counts.output ?? 0n) > 0n)
})

test('keeps nothing where nothing was reported', async () => {
  await caller.ask({ body: question('[[fault: status=400]]') })
  await caller.ask({ body: question('[[reply: text 9]] [[fault: end-at=20]]') })
  const entries = await caller.entries()
  assert.deepEqual(
    entries.map(({ kind, parts }) => [kind, parts]),
    [
      ['void', null],
      ['void', null],
    ],
  )
})
