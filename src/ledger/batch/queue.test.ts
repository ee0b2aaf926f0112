// Tests of which operations go in one call: by verb, id, connection and size. Nothing is sent.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { BookId } from '../../platform/ids.ts'
import type { Verb } from '../calls.ts'
import { createConnection } from './connection.ts'
import type { AnyOperation, OperationKey, Queue } from './queue.ts'
import { BATCH_MAX, createQueue } from './queue.ts'

const settle = verb('settle')
const void_ = verb('void')
const [one, two] = [connection(), connection()]
let queue: Queue
beforeEach(() => {
  queue = createQueue()
})

test('takes operations with the verb of the oldest one; other verbs wait', () => {
  add(settle, 'a')
  add(void_, 'b')
  add(settle, 'c')
  assert.deepEqual(ids(queue.takeFor(one, 1)), ['a', 'c'])
  assert.deepEqual(ids(queue.takeFor(one, 1)), ['b'])
  assert.equal(queue.isEmpty(), true)
})

test('takes an id at most once per call, and its repetition with the next', () => {
  add(settle, 'a')
  add(settle, 'a')
  add(settle, 'b')
  assert.deepEqual(ids(queue.takeFor(one, 1)), ['a', 'b'])
  assert.deepEqual(ids(queue.takeFor(one, 1)), ['a'])
})

test('takes at most 256 operations per call', () => {
  for (let i = 0; i < 300; i++) add(settle, `${i}`)
  assert.equal(queue.takeFor(one, 1).length, 256)
  assert.equal(queue.takeFor(one, 1).length, 44)
})

test('takes nothing when a full array is required and there is none', () => {
  for (let i = 0; i < BATCH_MAX; i++) add(i === 9 ? void_ : settle, `${i}`)
  assert.deepEqual(queue.takeFor(one, BATCH_MAX), [])
  assert.deepEqual(
    ids(queue.operations()),
    Array.from({ length: BATCH_MAX }, (_, i) => `${i}`),
  )
})

test('keeps a book on one connection until all its calls there have ended', () => {
  add(settle, 'a', 1n)
  const first = queue.takeFor(one, 1)
  add(settle, 'b', 1n)
  add(settle, 'c', 2n)
  assert.deepEqual(ids(queue.takeFor(two, 1)), ['c'])
  const behind = queue.takeFor(one, 1)
  assert.deepEqual(ids(behind), ['b'])
  add(settle, 'd', 1n)
  queue.release(first)
  assert.deepEqual(queue.takeFor(two, 1), [])
  queue.release(behind)
  assert.deepEqual(ids(queue.takeFor(two, 1)), ['d'])
})

test('removes an operation that was given up', () => {
  const dropped = add(settle, 'a')
  add(settle, 'b')
  dropped.isDropped = true
  assert.deepEqual(ids(queue.takeFor(one, 1)), ['b'])
  assert.equal(queue.isEmpty(), true)
  assert.equal(dropped.book.operations, 1)
})

test('puts a batch back before later operations', () => {
  add(settle, 'a')
  add(settle, 'b')
  const batch = queue.takeFor(one, 1)
  add(settle, 'c')
  queue.putBack(batch)
  assert.deepEqual(ids(queue.operations()), ['a', 'b', 'c'])
})

test('removes all books without operations above 10000 books', () => {
  const busy = add(settle, 'busy', 1n)
  const idle = add(settle, 'idle', 2n)
  queue.leave(idle)
  assert.equal(add(settle, 'again', 2n).book, idle.book)
  queue.leave(idle)
  for (let book = 3n; book <= 10_001n; book++) queue.leave(add(settle, 'other', book))
  assert.notEqual(add(settle, 'later', 2n).book, idle.book)
  assert.equal(add(settle, 'more', 1n).book, busy.book)
})

function add(kind: Verb<OperationKey, unknown>, id: string, book = 1n): AnyOperation {
  return queue.add(kind, { id, book: book as BookId }, 0)
}

function ids(batch: Iterable<AnyOperation>): string[] {
  return [...batch].map(({ input }) => input.id)
}

/** A verb of which the queue uses only the identity. */
function verb(name: string): Verb<OperationKey, unknown> {
  const fail = () => assert.fail('nothing is sent')
  return { name, statement: fail, readResult: fail, arrayStatement: fail, readResults: fail }
}

function connection() {
  return createConnection({ open: () => assert.fail('nothing is sent'), deadlineMs: 1 })
}
