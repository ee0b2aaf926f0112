// What becomes of connections while no process takes them; `npm run faults -- frozen-worker` breaks
// real processes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { sleep } from '../../test/support/drill.ts'
import type { Clock } from '../platform/clock.ts'
import { createLog } from '../platform/log.ts'
import { createConnections, type Receiver } from './connections.ts'
import { createMarks } from './marks.ts'

async function listen(t: TestContext, connectionsMax?: number) {
  const time = { ms: 0 }
  const clock = { spanMs: () => time.ms } as Clock
  const log = createLog({ level: 'silent' })
  const connections = createConnections({
    ...{ log, clock },
    ...(connectionsMax === undefined ? {} : { connectionsMax }),
  })
  const port = await connections.listen({ port: 0, host: '127.0.0.1' })
  t.after(() => connections.close())
  const sent: { slot: number; isInherited: boolean }[] = []
  return {
    connections,
    time,
    sent,
    addReceiver(send: Receiver['send'] = () => undefined): Receiver {
      const receiver = connections.add(createMarks(), (message, socket, onUnsent) => {
        if (message.kind === 'connection') sent.push(message)
        send(message, socket, onUnsent)
      })
      connections.setTaking(receiver, true)
      return receiver
    },
    async client() {
      const socket = connect(port, '127.0.0.1')
      t.after(() => socket.destroy())
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      await sleep(50) // until the parent has accepted it
      return socket
    },
  }
}

test('a connection of a dead process waits 30 s for another, however old it is', async (t) => {
  const { connections, time, sent, addReceiver, client } = await listen(t)
  const first = addReceiver()
  await client()
  connections.report(first, { taken: 1, closed: [], unreceived: [] })
  time.ms += 3_600_000
  connections.remove(first)
  connections.tick()
  assert.deepEqual(connections.counts(), { kept: 0, inherited: 0, dropped: 0, waiting: 1 })
  time.ms += 29_000
  connections.tick()
  addReceiver()
  assert.deepEqual(
    sent.map(({ isInherited }) => isInherited),
    [false, true],
  )
  assert.deepEqual(connections.counts(), { kept: 1, inherited: 1, dropped: 0, waiting: 0 })
})

test('a connection that could not be sent goes to another process, unread', async (t) => {
  const { connections, sent, addReceiver, client } = await listen(t)
  const broken = addReceiver((_message, _socket, onUnsent) => setImmediate(onUnsent))
  const sound = addReceiver()
  await client()
  assert.equal(sent.length, 2)
  assert.equal(sent[1]?.isInherited, false)
  assert.deepEqual([broken.untaken, broken.kept.size], [0, 0])
  assert.deepEqual([sound.untaken, sound.kept.size], [1, 1])
  assert.equal(broken.isTaking, false)
  assert.equal(connections.counts().kept, 1)
})

test('beyond the most connections a new one is closed at once, and counted', async (t) => {
  const { connections, addReceiver, client } = await listen(t, 2)
  const receiver = addReceiver()
  await client()
  await client()
  const third = await client()
  assert.ok(third.resume().readableEnded || (await once(third, 'end')))
  assert.equal(connections.counts().dropped, 1)
  connections.report(receiver, { taken: 2, closed: [0], unreceived: [] })
  await client()
  assert.equal(connections.counts().kept, 2)
})

test('a connection survives any number of processes that answer its requests', async (t) => {
  const { connections, addReceiver, client } = await listen(t)
  const receivers = [addReceiver()]
  await client()
  const die = (mark: number) => {
    const last = receivers.pop() as Receiver
    assert.equal(last.kept.size, 1)
    writeSync(last.marks.stdio as number, Buffer.from([mark]), 0, 1, 0)
    connections.report(last, { taken: 1, closed: [], unreceived: [] })
    connections.remove(last)
    receivers.push(addReceiver())
  }
  for (let i = 0; i < 10; i++) die(2)
  assert.equal(connections.counts().dropped, 0)
  for (let i = 0; i < 4; i++) die(0)
  assert.deepEqual(connections.counts(), { kept: 0, inherited: 13, dropped: 1, waiting: 0 })
})
