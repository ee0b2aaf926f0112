// The order of the agents of a session, also for ids that no sensible client sends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placed } from './agents.ts'

const agent = (id: string | null, parentId: string | null = null) => ({ id, parentId })
const shown = (agents: readonly ReturnType<typeof agent>[]) =>
  placed(agents).map(({ agent: { id }, level }) => `${'-'.repeat(level)}${id ?? 'main'}`)

test('an agent comes directly after the one that started it', () => {
  const agents = [agent('b'), agent('a1', 'a'), agent(null), agent('a'), agent('a2', 'a1')]
  assert.deepEqual(shown(agents), ['main', '-b', '-a', '--a1', '---a2'])
})

test('an agent with an unknown parent is below the main one, or at the top without it', () => {
  assert.deepEqual(shown([agent(null), agent('a', 'gone')]), ['main', '-a'])
  assert.deepEqual(shown([agent('a', 'gone'), agent('b', 'a')]), ['a', '-b'])
})

test('agents that name each other as parents are all there, once', () => {
  const agents = [agent('a', 'b'), agent('b', 'a'), agent(null), agent('c', 'c')]
  assert.deepEqual(shown(agents).toSorted(), ['-c', '-a', '--b', 'main'].toSorted())
})
