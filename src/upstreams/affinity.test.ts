// Affinity: a conversation keeps its target, and many conversations are spread by weight.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { readCountRequest } from '../wire/request.ts'
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

/** The hash of a request whose body has these members. */
function conversation(book: bigint, members: object, headers: Record<string, string> = {}) {
  const body = Buffer.from(
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...members }),
  )
  const read = readCountRequest(body)
  if (!read.ok) throw new Error(read.problem.message)
  return conversationOf(book, { headers, body, request: read.request })
}

test('turns of a conversation have one hash; another account or prompt has another', () => {
  const asked = { role: 'user', content: 'one' }
  const turn = conversation(7n, { system: 'You are careful.', messages: [asked] })
  const messages = [asked, { role: 'assistant', content: 'two' }, asked]
  assert.equal(conversation(7n, { messages, system: 'You are careful.' }), turn)
  assert.notEqual(conversation(8n, { system: 'You are careful.', messages: [asked] }), turn)
  assert.notEqual(conversation(7n, { system: 'You are reckless.', messages: [asked] }), turn)
})

test('the session in an agent’s header decides, whatever the body', () => {
  const headers = { 'x-claude-code-session-id': '4e4ca8c6' }
  const of = (book: bigint, words: string, given: Record<string, string> = headers) =>
    conversation(book, { messages: [{ role: 'user', content: words }] }, given)
  assert.equal(of(7n, 'a prompt'), of(7n, 'its summary'))
  assert.notEqual(of(7n, 'a prompt'), of(8n, 'a prompt'))
  assert.notEqual(of(7n, 'a prompt'), of(7n, 'a prompt', { 'x-claude-code-session-id': 'b' }))
  assert.equal(of(7n, 'a prompt', { 'x-claude-code-session-id': '' }), of(7n, 'a prompt', {}))
})
