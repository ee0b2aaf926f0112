// Copies of the acts: each kind stores lines in order and at least once, what a copy has decides
// where shipping goes on, and a database that contradicts its copy is found.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestActs, type TestActs } from '../../../test/stages/acts.ts'
import { markOf } from '../chain.ts'

const at = { folder: '', path: '', stages: [] as TestActs[], ends: [] as (() => unknown)[] }
beforeEach(() => {
  at.folder = mkdtempSync(join(tmpdir(), 'tollgate-acts-'))
  at.path = join(at.folder, 'acts.ndjson')
})
afterEach(async () => {
  for (const end of at.ends.splice(0)) await end()
  rmSync(at.folder, { recursive: true })
})

async function stageWith(shipTo: string, secret?: string): Promise<TestActs> {
  const stage = await createTestActs(shipTo, secret)
  at.ends.push(() => stage.end())
  return stage
}

async function actTimes(stage: TestActs, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) await stage.act(`number ${i}`)
}

const numbersIn = (text: string) =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [Number(markOf(line)?.number ?? -1)]))
const shipped = () => numbersIn(readFileSync(at.path, 'utf8'))
const rulesOf = async (stage: TestActs) => (await stage.acts.check()).map(({ rule }) => rule)

test('a file gets every act once, in order, and is not readable by everybody', async () => {
  const stage = await stageWith(`file:${at.path}`)
  assert.equal(await stage.acts.ship(), 0)
  await actTimes(stage, 3)
  assert.equal(await stage.acts.ship(), 3)
  assert.equal(await stage.acts.ship(), 0)
  await stage.act('fourth')
  await stage.acts.ship()
  assert.deepEqual(shipped(), [1, 2, 3, 4])
  assert.equal(statSync(at.path).mode & 0o007, 0)
  assert.deepEqual(await rulesOf(stage), [])
})

test('two processes ship each act once', async () => {
  const stage = await stageWith(`file:${at.path}`)
  await actTimes(stage, 5)
  const sent = await Promise.all([stage.acts.ship(), stage.open().ship(), stage.open().ship()])
  assert.equal(
    sent.reduce((sum, one) => sum + one, 0),
    5,
  )
  assert.deepEqual(shipped(), [1, 2, 3, 4, 5])
})

test('half a line of a killed process stays, and its act is sent again', async () => {
  const stage = await stageWith(`file:${at.path}`)
  await actTimes(stage, 3)
  await stage.acts.ship()
  const whole = readFileSync(at.path)
  writeFileSync(at.path, whole.subarray(0, whole.length - 30))
  await stage.db.query(`update act_copies set number = 2`)
  await stage.act('fourth')
  assert.equal(await stage.acts.ship(), 2)
  assert.deepEqual(shipped(), [1, 2, -1, 3, 4])
})

test('a worker that went on late and wrote older acts again makes no copy shorter', async () => {
  const stage = await stageWith(`file:${at.path}`)
  stage.acts.exportWatch(stage.metrics)
  await actTimes(stage, 3)
  await stage.acts.ship()
  const [first = ''] = readFileSync(at.path, 'utf8').split('\n')
  writeFileSync(at.path, `${first}\n`, { flag: 'a' })
  await stage.act('fourth')
  assert.equal(await stage.acts.ship(), 1)
  assert.deepEqual(shipped(), [1, 2, 3, 1, 4])
  const text = await stage.metrics.registry.metrics()
  assert.match(text, /^acts_findings_total\{of="copy_shorter"\} 0$/m)
})

test('erased newest acts are found by the copy, by a process that never saw them', async () => {
  const stage = await stageWith(`file:${at.path}`)
  await actTimes(stage, 4)
  await stage.acts.ship()
  await stage.tamper([
    'delete from operator_acts where number > 2',
    `update act_chain set number = a.number, digest = a.digest
     from operator_acts a where a.number = 2`,
    `update act_copies set number = 2, digest = (select digest from act_chain)`,
  ])
  assert.deepEqual(await rulesOf(stage), ['act_erased'])
  await stage.act('as if nothing had happened')
  assert.equal(await stage.acts.ship(), 0, 'nothing is written over the evidence')
  assert.deepEqual(shipped(), [1, 2, 3, 4])
})

test('a chain that was written anew is found by the copy', async () => {
  const stage = await stageWith(`file:${at.path}`)
  await actTimes(stage, 4)
  await stage.acts.ship()
  await stage.tamper([
    'select tamper_chain(2)',
    'update act_copies set digest = (select digest from act_chain)',
  ])
  assert.deepEqual(await rulesOf(stage), ['chain_rewritten'])
  assert.deepEqual((await stage.acts.audit()).findings.length, 1, 'op audit finds it too')
})

test('a copy that lost its end is counted, and gets it again', async () => {
  const stage = await stageWith(`file:${at.path}`)
  stage.acts.exportWatch(stage.metrics)
  await actTimes(stage, 3)
  await stage.acts.ship()
  rmSync(at.path)
  assert.equal(await stage.acts.ship(), 3)
  await stage.acts.ship()
  assert.deepEqual(shipped(), [1, 2, 3])
  const text = await stage.metrics.registry.metrics()
  assert.match(text, /^acts_findings_total\{of="copy_shorter"\} 1$/m)
})

test('an audit says how far it compared with the copy, or why it did not', async () => {
  const stage = await stageWith(`file:${at.path}`)
  const read = async () => {
    const { copiedTo, copyUnread } = await stage.acts.audit()
    return [copiedTo, copyUnread]
  }
  assert.deepEqual(await read(), [0n, null])
  await actTimes(stage, 3)
  await stage.acts.ship()
  await stage.act('fourth')
  assert.deepEqual(await read(), [3n, null])
  rmSync(at.path)
  assert.deepEqual(await read(), [null, 'it is empty, and act 3 was sent to it'])
  const receiver = await startReceiver()
  receiver.state.get = 500
  const answering = await stageWith(receiver.url)
  const { copiedTo, copyUnread } = await answering.acts.audit()
  assert.equal(copiedTo, null)
  assert.match(copyUnread ?? '', /500/)
})

test('a copy that cannot be written leaves the acts waiting, with their age', async () => {
  const stage = await stageWith(`file:${join(at.folder, 'absent', 'acts')}`)
  stage.acts.exportWatch(stage.metrics)
  await stage.act('one')
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(await stage.acts.ship(), 0)
  assert.deepEqual(await rulesOf(stage), [])
  const text = await stage.metrics.registry.metrics()
  assert.match(text, /^acts_watch\{of="unshipped_seconds"\} (?:[1-9]|0\.[1-9]|0\.0[1-9])/m)
})

/** A receiver of the protocol, whose answers a test may replace. */
async function startReceiver() {
  const state = { lines: '', get: 0, post: 0, logins: new Set<unknown>() }
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    state.logins.add(request.headers.authorization)
    if (request.method === 'GET') {
      const last = state.lines.trimEnd().split('\n').at(-1) ?? ''
      response.writeHead(state.get || (last === '' ? 204 : 200)).end(state.get ? '' : last)
      return
    }
    let body = ''
    for await (const chunk of request) body += chunk
    if (state.post === 0) state.lines += body
    response.writeHead(state.post || 204).end()
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  at.ends.push(() => server.close())
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/acts` }
}

test('a receiver gets every act once, with the secret', async () => {
  const { state, url } = await startReceiver()
  const stage = await stageWith(url, 'the-secret')
  await actTimes(stage, 2)
  assert.equal(await stage.acts.ship(), 2)
  await stage.act('third')
  assert.equal(await stage.acts.ship(), 1)
  assert.deepEqual(numbersIn(state.lines), [1, 2, 3])
  assert.deepEqual([...state.logins], ['Bearer the-secret'])
  await stage.tamper(['select tamper_chain(1)'])
  assert.deepEqual(await rulesOf(stage), ['chain_rewritten'])
})

test('acts that a receiver did not take are sent again', async () => {
  const { state, url } = await startReceiver()
  const stage = await stageWith(url)
  await actTimes(stage, 2)
  state.post = 503
  assert.equal(await stage.acts.ship(), 0)
  state.post = 0
  state.get = 500
  assert.equal(await stage.acts.ship(), 0, 'nobody knows where to go on')
  state.get = 0
  assert.equal(await stage.acts.ship(), 2)
  assert.deepEqual(numbersIn(state.lines), [1, 2])
})

test('a receiver that cannot be read goes on after the mark', async () => {
  const { state, url } = await startReceiver()
  state.get = 405
  const stage = await stageWith(url)
  await actTimes(stage, 2)
  await stage.acts.ship()
  await stage.act('third')
  assert.equal(await stage.acts.ship(), 1)
  assert.deepEqual(numbersIn(state.lines), [1, 2, 3])
})

test('a syslog server that closes at once has taken nothing', async () => {
  const server = createSocketServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  at.ends.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const stage = await stageWith(`syslog:127.0.0.1:${port}`)
  await actTimes(stage, 3)
  assert.equal(await stage.acts.ship(), 0)
  assert.equal(await stage.acts.ship(), 0)
})

test('acts that somebody marks as sent beforehand are sent all the same', async () => {
  const { state, url } = await startReceiver()
  state.get = 405
  const stage = await stageWith(url)
  await stage.act('honest')
  await stage.acts.ship()
  for (const command of ['grant 1', 'grant 2']) {
    await stage.act(command)
    await stage.db.query(
      'update act_copies set number = c.number, digest = c.digest from act_chain c',
    )
    await stage.acts.ship()
  }
  assert.deepEqual(numbersIn(state.lines), [1, 2, 3])
})

for (const kind of ['TCP', 'a stream socket']) {
  test(`syslog over ${kind} gets RFC 5424 messages with their lengths`, async () => {
    const received: Buffer[] = []
    const server = createSocketServer((socket) =>
      socket.on('data', (data: Buffer) => received.push(data)),
    )
    const socketPath = join(at.folder, 'log')
    await new Promise<void>((resolve) => {
      if (kind === 'TCP') server.listen(0, '127.0.0.1', resolve)
      else server.listen(socketPath, resolve)
    })
    at.ends.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const stage = await stageWith(`syslog:${kind === 'TCP' ? `127.0.0.1:${port}` : socketPath}`)
    await actTimes(stage, 2)
    assert.equal(await stage.acts.ship(), 2)
    await stage.act('почта')
    assert.equal(await stage.acts.ship(), 1)
    let rest = Buffer.concat(received)
    const numbers: number[] = []
    while (rest.length > 0) {
      const [, length = ''] = /^(\d+) /.exec(rest.toString('latin1')) ?? []
      const start = length.length + 1
      const text = rest.subarray(start, start + Number(length)).toString()
      const parts = /^<109>1 \d{4}-\d\d-\d\dT[\d:.]+Z \S+ tollgate \d+ act - (\{.*\})$/.exec(text)
      numbers.push(Number(markOf(parts?.[1] ?? '')?.number))
      rest = rest.subarray(start + Number(length))
    }
    assert.deepEqual(numbers, [1, 2, 3])
  })
}
