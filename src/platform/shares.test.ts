// How accounts share a bounded resource, and the slots and queues that are built on it.
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { BookId } from './ids.ts'
import { createShares, type Holder, type Use } from './shares.ts'
import { createSlots } from './slots.ts'

const [HEAVY, LIGHT] = [1n, 2n] as [BookId, BookId]

function setUp(capacity = 100, least = 1) {
  const clock = { ms: 0 }
  const shares = createShares({ capacity, least, spanMs: () => clock.ms })
  const lost: string[] = []
  /** A use of this account; `name` is among `lost` once it was shed. */
  const open = (book: BookId, name = ''): Use => {
    const holder: Holder = { onShed: () => void lost.push(name) }
    return shares.open(book, holder)
  }
  return { clock, shares, lost, open }
}

test('an account alone takes everything, and not more', () => {
  const { open, shares } = setUp()
  const use = open(HEAVY)
  assert.ok(use.take(60))
  assert.ok(use.take(40))
  assert.equal(use.take(1), false)
  assert.deepEqual(shares.totals, { used: 100, refused: 1, shed: 0 })
})

test('the last quarter is only for accounts within their share', () => {
  const { open } = setUp()
  const [heavy, light] = [open(HEAVY), open(LIGHT)]
  assert.ok(heavy.take(75), 'below three quarters no account is limited')
  assert.equal(heavy.take(1), false)
  assert.ok(light.take(25))
})

test('an account within its share takes from the heaviest: its largest use, the newest', () => {
  const { open, lost, shares } = setUp()
  for (const [name, amount] of [
    ['a', 20],
    ['b', 30],
    ['c', 30],
    ['d', 20],
  ] as const) {
    assert.ok(open(HEAVY, name).take(amount))
  }
  const light = open(LIGHT)
  assert.ok(light.take(10))
  assert.deepEqual(lost, ['c'])
  assert.ok(light.take(40))
  assert.deepEqual(lost, ['c', 'b'])
  assert.equal(light.take(1), false, 'it has half now')
  assert.deepEqual(shares.totals, { used: 90, refused: 1, shed: 2 })
})

test('a use whose request cannot be ended is not shed', () => {
  const { shares, open, lost } = setUp()
  const busy: Holder = { onShed: undefined }
  assert.ok(shares.open(HEAVY, busy).take(60))
  assert.ok(open(HEAVY, 'a').take(40))
  const light = open(LIGHT)
  assert.ok(light.take(40))
  assert.deepEqual(lost, ['a'])
  assert.equal(light.take(1), false)
})

test('nothing is shed for an account that would be refused all the same', () => {
  const { shares, open, lost } = setUp()
  assert.ok(shares.open(HEAVY, { onShed: undefined }).take(90))
  assert.ok(open(HEAVY, 'a').take(10))
  assert.equal(open(LIGHT).take(20), false)
  assert.deepEqual([lost, shares.totals.shed, shares.totals.used], [[], 0, 100])
  assert.ok(open(LIGHT).take(10))
  assert.deepEqual(lost, ['a'])
})

test('every account may use the least that was promised while others are above it', () => {
  const { open, lost } = setUp(100, 5)
  assert.ok(open(HEAVY, 'heavy').take(100))
  for (let book = 100n; book < 150n; book++) open(book as BookId)
  assert.ok(open(LIGHT).take(5))
  assert.deepEqual(lost, ['heavy'])
})

test('an account counts until half a minute after its last use', () => {
  const { open, clock, shares } = setUp()
  const light = open(LIGHT)
  assert.ok(light.take(1))
  light.close()
  const heavy = open(HEAVY)
  assert.ok(heavy.take(75))
  clock.ms = 29_000
  open(HEAVY).close()
  assert.equal(heavy.take(25), false, 'the other may come back')
  clock.ms = 60_000
  open(HEAVY).close()
  assert.equal(shares.size, 1)
  assert.ok(heavy.take(25))
})

test('a use returns what it took once, also after it was shed', () => {
  const { open, shares } = setUp()
  const heavy = open(HEAVY)
  assert.ok(heavy.take(100))
  assert.ok(open(LIGHT).take(1))
  heavy.close()
  heavy.close()
  assert.equal(heavy.take(1), false)
  assert.deepEqual([shares.totals.used, shares.usedBy(HEAVY)], [1, 0])
  assert.deepEqual(shares.busiest(1), [{ book: LIGHT, used: 1, refused: 0, shed: 0 }])
})

function setUpSlots(capacity: number, places: number) {
  const { shares, clock } = setUp(capacity)
  const waiting = createShares({ capacity: places, least: 1, spanMs: () => clock.ms })
  const slots = createSlots(shares, waiting)
  const entered: string[] = []
  const holder: Holder = { onShed: undefined }
  const take = (book: BookId, name: string) =>
    slots.take(book, holder, () => void entered.push(name))
  return { take, entered, waiting }
}

test('a free slot goes to the account with the fewest; those with as many take turns', () => {
  const { take, entered, waiting } = setUpSlots(1, 10)
  const slots = [take(HEAVY, 'h1')]
  for (const name of ['h2', 'h3', 'h4']) slots.push(take(HEAVY, name))
  for (const name of ['l1', 'l2']) slots.push(take(LIGHT, name))
  assert.deepEqual(entered, ['h1'])
  assert.equal(waiting.totals.used, 5)
  for (const slot of slots) slot?.close()
  assert.deepEqual(entered.slice(0, 3), ['h1', 'h2', 'l1'])
})

test('beyond the places to wait a request is refused, also while another account waits', () => {
  const { take, entered } = setUpSlots(1, 4)
  const first = take(HEAVY, 'h1')
  for (const name of ['h2', 'h3', 'h4', 'h5']) assert.ok(take(HEAVY, name) !== undefined)
  assert.equal(take(HEAVY, 'h6'), undefined)
  first?.close()
  assert.deepEqual(entered, ['h1', 'h2'])
})

test('a request that gives up leaves its queue, and does not enter later', () => {
  const { take, entered, waiting } = setUpSlots(1, 4)
  const first = take(HEAVY, 'h1')
  const second = take(LIGHT, 'l1')
  second?.close()
  second?.close()
  assert.equal(waiting.totals.used, 0)
  first?.close()
  assert.deepEqual(entered, ['h1'])
})

test('looks at no further account once it finds one without a slot', () => {
  const { shares } = setUp(1)
  const slots = createSlots(shares, createShares({ capacity: 5_000, least: 1, spanMs: () => 0 }))
  const holder: Holder = { onShed: undefined }
  const enter = () => undefined
  const first = slots.take(HEAVY, holder, enter)
  for (let book = 2n; book < 1_000n; book++) slots.take(book as BookId, holder, enter)
  const looks = mock.method(shares, 'usedBy')
  first?.close()
  assert.ok(looks.mock.callCount() <= 2, `${looks.mock.callCount()} looks`)
})
