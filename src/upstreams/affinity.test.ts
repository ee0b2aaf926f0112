// Affinity: a conversation keeps its target, and many conversations are spread by weight.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { conversationOf, rank } from './affinity.ts'

const CONVERSATIONS = 20_000

function targetsOf(weights: Readonly<Record<string, number>>) {
  return Object.entries(weights).map(([name, weight]) => ({ name, weight, salt: crc32(name) }))
}

/** The first choice of many conversations. */
function firstChoices(weights: Readonly<Record<string, number>>): (string | undefined)[] {
  const targets = targetsOf(weights)
  return Array.from(
    { length: CONVERSATIONS },
    (_, i) => rank(targets, crc32(`conversation ${i}`))[0]?.name,
  )
}

const share = (all: readonly unknown[], name: string) =>
  all.filter((one) => one === name).length / all.length

test('a conversation is ranked the same way each time, whatever the order of the targets', () => {
  const targets = targetsOf({ 'a#1': 1, 'a#2': 1, 'b#1': 2, 'c#1': 5 })
  const names = (given: typeof targets) => rank(given, 12_345).map((one) => one.name)
  assert.deepEqual(names(targets), names(targets))
  assert.deepEqual(names(targets), names(targets.toReversed()))
})

test('first choices follow the weights', () => {
  const all = firstChoices({ 'main#1': 1, 'main#2': 1, second: 2, third: 4 })
  // With 20,000 conversations, five standard deviations of a share are below 0.018.
  const expected = { 'main#1': 1 / 8, 'main#2': 1 / 8, second: 2 / 8, third: 4 / 8 }
  for (const [name, due] of Object.entries(expected)) {
    const got = share(all, name)
    assert.ok(Math.abs(got - due) < 0.018, `${name} got ${got} instead of ${due}`)
  }
})

test('a target of weight 0 is never chosen', () => {
  assert.deepEqual(
    rank(targetsOf({ a: 1, b: 0 }), 7).map((one) => one.name),
    ['a'],
  )
})

test('when a target is lost, only its own conversations move, spread over the others', () => {
  const before = firstChoices({ a: 1, b: 1, c: 1, d: 1 })
  const after = firstChoices({ a: 1, b: 1, c: 1, d: 0 })
  const moved = after.filter((name, i) => name !== before[i])
  assert.ok(before.every((name, i) => name === 'd' || name === after[i]))
  assert.equal(moved.length, before.filter((name) => name === 'd').length)
  for (const name of ['a', 'b', 'c']) assert.ok(Math.abs(share(moved, name) - 1 / 3) < 0.05)
})

test('raising the weight of a target moves conversations only to that target', () => {
  const before = firstChoices({ a: 1, b: 1 })
  const after = firstChoices({ a: 1, b: 3 })
  assert.ok(after.every((name, i) => name === before[i] || name === 'b'))
})

test('turns of a conversation have one hash; another account or prompt has another', () => {
  const first = `{"model":"m","system":"${'You are a careful assistant. '.repeat(60)}","messages":[`
  const turn = Buffer.from(`${first}{"role":"user","content":"one"}]}`)
  const later = Buffer.from(`${first}{"role":"user","content":"one"},{"role":"assistant"}]}`)
  assert.equal(conversationOf(7n, turn), conversationOf(7n, later))
  assert.notEqual(conversationOf(7n, turn), conversationOf(8n, turn))
  const other = Buffer.from(turn.toString().replace('careful', 'reckless'))
  assert.notEqual(conversationOf(7n, turn), conversationOf(7n, other))
})
