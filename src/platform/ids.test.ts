// Ids contain their cell and their day, and each format converts back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  bookId,
  CELL_MAX,
  cellOfBook,
  cellOfHold,
  cellOfOrder,
  dayOfHold,
  holdIdOf,
  isOrderId,
  newDisputeId,
  newHoldId,
  newInstanceId,
  newOrderId,
  newRefundId,
  requestIdOf,
} from './ids.ts'

const cell = fc.integer({ min: 0, max: CELL_MAX })
const timeMs = fc.integer({ min: 0, max: 4_102_444_800_000 })

test('a hold id contains its cell and its day, and is a UUID of version 7', () => {
  fc.assert(
    fc.property(cell, timeMs, (c, ms) => {
      const id = newHoldId(c, ms)
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      assert.equal(cellOfHold(id), c)
      assert.equal(dayOfHold(id), Math.floor(ms / 86_400_000))
    }),
  )
})

test('a request id is its hold id in another format', () => {
  fc.assert(
    fc.property(cell, timeMs, (c, ms) => {
      const id = newHoldId(c, ms)
      assert.equal(holdIdOf(requestIdOf(id)), id)
    }),
  )
  assert.equal(holdIdOf('req_011CSHoEeqs5C35K2UUqR7Fy'), undefined, 'not one of ours')
})

test('a book id contains its cell', () => {
  fc.assert(
    fc.property(cell, fc.bigInt(1n, 2n ** 40n - 1n), (c, serial) => {
      assert.equal(cellOfBook(bookId(c, serial)), c)
    }),
  )
})

test('ids drawn in one millisecond differ', () => {
  const ids = new Set(Array.from({ length: 10_000 }, () => newHoldId(0, 1_700_000_000_000)))
  assert.equal(ids.size, 10_000)
  assert.ok(newInstanceId() > 0n)
})

test('an order id contains its cell, and is short enough for every provider', () => {
  fc.assert(
    fc.property(cell, timeMs, (c, ms) => {
      const id = newOrderId(c, ms)
      assert.ok(isOrderId(id))
      assert.equal(cellOfOrder(id), c)
      assert.equal(id.length, 36)
    }),
  )
  assert.match(newRefundId(0, 0), /^rfd_[0-9a-f]{32}$/)
  assert.match(newDisputeId(0, 0), /^dsp_[0-9a-f]{32}$/)
  for (const text of ['', 'pay_', 'pay_0', `rfd_${'0'.repeat(32)}`, `pay_${'0'.repeat(32)}`]) {
    assert.equal(isOrderId(text), false, text)
  }
})
