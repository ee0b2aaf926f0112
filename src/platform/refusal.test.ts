// A refusal keeps what the client may read apart from what only the log may have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRefusal, makeRefusal, Refusal } from './refusal.ts'

type BridgeCode = 'bridge_closed' | 'toll_unpaid'
const bridgeRefusal = makeRefusal<BridgeCode>

test('a refusal carries its code, its sentence, its detail and its cause', () => {
  const cause = new Error('the river rose')
  const refusal = bridgeRefusal('bridge_closed', 'The bridge is closed.', { bridge: 7 }, cause)
  assert.ok(refusal instanceof Refusal)
  const { code, message, detail } = refusal
  assert.deepEqual(
    [code, message, detail],
    ['bridge_closed', 'The bridge is closed.', { bridge: 7 }],
  )
  assert.equal(refusal.cause, cause)
  const plain = bridgeRefusal('toll_unpaid', 'Pay first.')
  assert.deepEqual([plain.detail, 'cause' in plain], [{}, false])
})

test('isRefusal knows a refusal, and with codes only those', () => {
  const refusal = bridgeRefusal('toll_unpaid', 'Pay first.')
  assert.ok(isRefusal(refusal))
  assert.ok(isRefusal<BridgeCode>(refusal, 'bridge_closed', 'toll_unpaid'))
  assert.ok(!isRefusal<BridgeCode>(refusal, 'bridge_closed'))
  assert.ok(!isRefusal(Object.assign(new Error('Pay first.'), { code: 'toll_unpaid' })))
})
