// The sums of a fleet's metrics when processes answer, are silent, or have died.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFleetMetrics } from './fleet-metrics.ts'
import { createMetrics } from './metrics.ts'

const answersIn = (text: string) => /^gateway_requests_total\{.*\} (\d+)$/m.exec(text)?.[1]
const openIn = (text: string) => /^gateway_open (\d+)$/m.exec(text)?.[1]

function createProcess() {
  const metrics = createMetrics()
  metrics.gauge('gateway_open', 'Open', () => 1)
  return {
    count: () => metrics.countAnswer('/messages', 200),
    report: () => metrics.registry.getMetricsAsJSON(),
  }
}

test('counters of dead processes stay, and their gauges go', async () => {
  const fleet = createFleetMetrics()
  const [first, second] = [createProcess(), createProcess()]
  for (const one of [first, first, second]) one.count()
  fleet.keep(1, 0, await first.report())
  fleet.keep(2, 0, await second.report())
  const before = await fleet.text(() => [])
  assert.deepEqual([answersIn(before), openIn(before)], ['3', '2'])
  fleet.retire(1)
  fleet.retire(1) // a second time changes nothing
  const after = await fleet.text(() => [])
  assert.deepEqual([answersIn(after), openIn(after)], ['3', '1'])
})

test('a process that does not answer counts with its last report', async () => {
  const fleet = createFleetMetrics()
  const [silent, prompt] = [createProcess(), createProcess()]
  silent.count()
  fleet.keep(1, 0, await silent.report())
  prompt.count()
  const report = await prompt.report()
  const text = await fleet.text((round) => {
    queueMicrotask(() => fleet.keep(2, round, report))
    return [1, 2]
  })
  assert.equal(answersIn(text), '2')
})

test('a process that dies while it is asked delays nobody', async () => {
  const fleet = createFleetMetrics()
  const asked = fleet.text(() => [1])
  fleet.retire(1)
  assert.equal(answersIn(await asked), undefined)
})

test('a sum of fractions does not fall when a process ends', async () => {
  const fleet = createFleetMetrics()
  const seconds = (value: number) => [
    {
      name: 'a_total',
      help: 'a',
      type: 'counter',
      aggregator: 'sum',
      values: [{ value, labels: {} }],
    },
  ]
  fleet.keep(1, 0, seconds(0.1))
  fleet.keep(2, 0, seconds(0.2))
  fleet.keep(3, 0, seconds(0.3))
  const before = await fleet.text(() => [])
  assert.match(before, /^a_total 0\.6$/m)
  fleet.retire(3)
  assert.equal(await fleet.text(() => []), before)
})
