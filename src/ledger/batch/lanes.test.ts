// Tests of the lanes of locked books: which operations share one, their order, and their end.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { BookId, HoldId } from '../../platform/ids.ts'
import { voidVerb } from '../calls.ts'
import { createConnection } from './connection.ts'
import type { Lanes } from './lanes.ts'
import { createLanes } from './lanes.ts'
import type { AnyOperation, Lane, Queue } from './queue.ts'
import { createQueue } from './queue.ts'

const void_ = voidVerb(1n)
const connection = createConnection({
  open: () => assert.fail('nothing is sent'),
  deadlineMs: 1,
})
let queue: Queue
let lanes: Lanes
beforeEach(() => {
  queue = createQueue()
  lanes = createLanes([connection])
})

test('puts all operations of a book into one lane, also later ones', () => {
  const joined = lanes.join([operation(1n), operation(2n), operation(1n)])
  assert.deepEqual(sizes(joined), ['1: 2', '2: 1'])
  const later = add(1n)
  assert.deepEqual(sizes(joined), ['1: 3', '2: 1'])
  assert.equal([...lanes.operations()].length, 4)
  assert.equal([...lanes.operations()].includes(later), true)
  assert.equal(queue.isEmpty(), true)
})

test('gives lanes the connection in turn, and starts no active lane again', () => {
  lanes.join([operation(1n), operation(2n), operation(3n)])
  const turns = Array.from({ length: 4 }, () => {
    const next = lanes.next()
    assert.equal(lanes.next(), undefined)
    lanes.release(connection)
    if (next !== undefined) lanes.resume(next.lane)
    return next?.lane.book.id
  })
  assert.deepEqual(turns, [1n, 2n, 3n, 1n])
})

test('gives the connection to other lanes while a lane pauses', () => {
  lanes.join([operation(1n)])
  assert.equal(lanes.next()?.lane.book.id, 1n)
  lanes.release(connection)
  assert.equal(lanes.next(), undefined)
  lanes.join([operation(2n)])
  assert.equal(lanes.next()?.lane.book.id, 2n)
})

test('removes an empty lane and queues the book like others again', () => {
  lanes.join([operation(1n)])
  const lane = lanes.next()?.lane as Lane
  assert.equal(queue.takeLane(lane).length, 1)
  lanes.resume(lane)
  assert.equal(lanes.isEmpty(), true)
  add(1n)
  assert.equal(queue.isEmpty(), false)
})

/** An operation that was taken from the queue, as if a call had found its book locked. */
function operation(book: bigint): AnyOperation {
  add(book)
  const [taken] = queue.takeFor(connection, 1)
  return taken as AnyOperation
}

let count = 0
function add(book: bigint): AnyOperation {
  const id = `${count++}` as HoldId
  const input = { id, book: book as BookId, tariff: 1, ending: 'refused' as const, reason: '' }
  return queue.add(void_, input, 0)
}

function sizes(joined: Iterable<Lane>): string[] {
  return [...joined].map(({ book, waiting }) => `${book.id}: ${waiting.length}`)
}
