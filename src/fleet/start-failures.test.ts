// A fleet on a machine that has run out of something: processes cannot be created, or cannot
// receive a connection. The parent stays, and nobody's connection is lost.
import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, mock, test } from 'node:test'
import { takeDescriptors } from '../../test/support/descriptors.ts'
import { sleep } from '../../test/support/drill.ts'
import { freePorts } from '../../tools/free-port.ts'
import { createLog } from '../platform/log.ts'
import { createFleet } from './fleet.ts'

const HOST = '127.0.0.1'
/** A start takes a second; on a busy machine ten. */
const WAIT_MS_MAX = 60_000

type Line = { readonly msg: string; readonly err?: { readonly code?: string } }

cluster.setupPrimary({ exec: join(import.meta.dirname, '../../test/support/fleet-member.ts') })

after(() => {
  // Members end with the parent; the runner waits until this process has no open handle.
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
})

const freePort = async () => (await freePorts(1))[0] as number

function startFleet(port: number, count: number, onLine: (line: Line) => void = () => undefined) {
  const lines: Line[] = []
  const destination = {
    write(text: string) {
      lines.push(JSON.parse(text))
      onLine(lines.at(-1) as Line)
    },
  }
  const ended = Promise.withResolvers<void>()
  const fleet = createFleet({ count, log: createLog({ level: 'info', destination }) })
  const code = fleet.run({ host: HOST, port, ended: ended.promise })
  return {
    fleet,
    said: (message: string) => lines.filter(({ msg }) => msg === message),
    ask: (order: string) => askAt(port, order),
    async until(message: string): Promise<void> {
      const deadlineMs = performance.now() + WAIT_MS_MAX
      while (!lines.some(({ msg }) => msg === message)) {
        assert.ok(performance.now() < deadlineMs, `${message}: ${JSON.stringify(lines)}`)
        await sleep(20)
      }
    },
    async stop(): Promise<void> {
      ended.resolve()
      for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
      assert.equal(await code, 0)
    },
  }
}

async function askAt(port: number, order: string): Promise<string> {
  const socket = connect(port, HOST)
  await once(socket, 'connect')
  socket.write(order)
  return text(socket)
}

test('starts a process later that cannot be created', async (t) => {
  for (const code of ['ENOMEM', 'EAGAIN']) {
    const fork = mock.method(cluster, 'fork', () => {
      throw Object.assign(new Error(`spawn ${code}`), { code })
    })
    const serving = startFleet(await freePort(), 1)
    t.after(() => serving.stop())
    await serving.until('a process cannot be created; trying again')
    fork.mock.restore()
    await serving.until('the fleet is ready')
    assert.match(await serving.ask('hi'), /^\d+$/)
    const [first, ...more] = serving.said('a process cannot be created; trying again')
    assert.equal(first?.err?.code, code)
    assert.equal(more.length, 0)
  }
})

test('starts processes later when the parent has no free file descriptor', async (t) => {
  const port = await freePort()
  const free = takeDescriptors()
  const serving = startFleet(port, 2)
  t.after(() => serving.stop())
  await serving.until('a process cannot be created; trying again')
  assert.equal(serving.said('a process cannot be created; trying again')[0]?.err?.code, 'EMFILE')
  free()
  await serving.until('the fleet is ready')
  assert.match(await serving.ask('hi'), /^\d+$/)
})

test('gives a connection to another process when one has no free file descriptor', async (t) => {
  const serving = startFleet(await freePort(), 2)
  t.after(() => serving.stop())
  await serving.until('the fleet is ready')
  const full = await serving.ask('fill')
  const deadlineMs = performance.now() + WAIT_MS_MAX
  const askAll = () => Promise.all(Array.from({ length: 20 }, () => serving.ask('hi')))
  // It takes its descriptors when the connection has closed, which is later on a busy machine.
  let answers = await askAll()
  while (answers.includes(full)) {
    assert.ok(performance.now() < deadlineMs, 'all connections go to the other process')
    answers = await askAll()
  }
  assert.equal(new Set(answers).size, 1)
  while ((await serving.ask('hi')) !== full) {
    assert.ok(performance.now() < deadlineMs, 'it takes connections again when it has descriptors')
  }
})

test('kills a frozen process before it logs it: the log may have no reader', async (t) => {
  const isKilled: (boolean | undefined)[] = []
  const serving = startFleet(await freePort(), 1, ({ msg }) => {
    if (!msg.startsWith('a process is frozen')) return
    isKilled.push(...Object.values(cluster.workers ?? {}).map((worker) => worker?.process.killed))
  })
  t.after(() => serving.stop())
  await serving.until('the fleet is ready')
  await serving.ask('freeze')
  await serving.until('a process is frozen; it was killed')
  assert.deepEqual(isKilled, [true])
})

test('hangups while processes are replaced replace them once more', async (t) => {
  const serving = startFleet(await freePort(), 1)
  t.after(() => serving.stop())
  await serving.until('the fleet is ready')
  const first = serving.fleet.replaceAll()
  await sleep(10)
  await Promise.all([first, ...Array.from({ length: 7 }, () => serving.fleet.replaceAll())])
  assert.equal(serving.said('every process was replaced').length, 2)
})
