// Recorded streams, cut at every byte: however the network splits them, the client gets the same
// bytes and the ledger the same counts. Two cuts per replay, half a recording apart, since a replay
// takes half a millisecond; FULL=1 makes one cut per replay and cuts the long recordings
// everywhere.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Dispatcher, Pool } from 'undici'
import { createDice } from '../../../stand-ins/vendor/text.ts'
import {
  chunkOf,
  headOf,
  type RawRequest,
  type RawUpstream,
  startRawUpstream,
} from '../../support/raw-upstream.ts'
import { question } from './client.ts'
import { type GatewayChild, startGatewayChild } from './gateway.ts'

// Up to this size a recording is cut at every byte; longer ones at every 37th: a prime, so that the
// cuts reach each place of a record.
const EVERY_BYTES_MAX = 6_144
const STRIDE = 37
const RANDOM_RUNS = 20
// Enough to keep one process busy. Each has its own book, so that they share no lock.
const CALLERS = 64

const folder = join(import.meta.dirname, '../../recordings')
type Recording = { readonly bytes: Buffer; readonly counts: readonly bigint[] }
const names = (await readdir(folder)).filter((name) => name.endsWith('.sse')).sort()
const recordings = new Map(await Promise.all(names.map(read)))

async function read(file: string): Promise<[string, Recording]> {
  const name = file.replace('.sse', '')
  const { usage } = JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
  const counts = [
    usage.input_tokens,
    usage.output_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation.ephemeral_5m_input_tokens,
    usage.cache_creation.ephemeral_1h_input_tokens,
  ].map(BigInt)
  return [name, { bytes: await readFile(join(folder, file)), counts }]
}

let upstream: RawUpstream
let gateway: GatewayChild
let pool: Pool
let keys: string[]
before(async () => {
  upstream = await startRawUpstream(replay)
  gateway = await startGatewayChild(upstream.url)
  const accounts = await Promise.all(
    Array.from({ length: CALLERS }, () => gateway.account(1_000_000_000)),
  )
  keys = accounts.map(({ key }) => key)
  pool = new Pool(gateway.url, { connections: CALLERS })
})
after(async () => {
  await pool.close()
  await gateway.end()
  await upstream.close()
})

/** Sends the recording that the request names, an HTTP chunk for each piece. */
function replay(socket: Socket, { headers }: RawRequest): void {
  const [name = '', how = '', ...numbers] = (headers.get('anthropic-replay') ?? '').split(' ')
  const { bytes } = recordings.get(name) as Recording
  const given = numbers.map(Number)
  const pieces = how === 'cut' ? cutAt(bytes, given) : cutAnywhere(bytes, given[0] ?? 1)
  socket.write(
    Buffer.concat([
      Buffer.from(headOf(200, 'text/event-stream')),
      ...pieces.map(chunkOf),
      chunkOf(''),
    ]),
  )
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const edges = [0, ...places, bytes.length]
  const pieces = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end))
  return pieces.filter((piece) => piece.length > 0)
}

function cutAnywhere(bytes: Buffer, seed: number): Buffer[] {
  const dice = createDice(seed)
  // Each run has its own scale, from single bytes to several records.
  const scale = 2 ** Math.floor(dice() * 10)
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + Math.floor(dice() * scale)
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}

type Answer = { status: number; requestId: string; bytes: Buffer }

/**
 * One request through undici's lowest-level API, since there are thirty thousand. Rejects unless
 * the reply completes.
 */
function ask(key: string, body: string, replayed: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answer = { status: 0, requestId: '' }
    const chunks: Buffer[] = []
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart(_, status, received) {
        answer.status = status
        answer.requestId = String(received['request-id'])
      },
      onResponseData: (_, chunk) => void chunks.push(chunk),
      onResponseEnd: () => resolve({ ...answer, bytes: Buffer.concat(chunks) }),
      onResponseError: (_, error) => reject(error),
    }
    const sent = { method: 'POST', path: '/v1/messages', body } as const
    pool.dispatch({ ...sent, headers: { ...headers, 'anthropic-replay': replayed } }, handler)
  })
}

/** Replays all these cuts at once; the clients' bytes and the books must be the same. */
async function replayAll(name: string, ways: readonly string[]): Promise<void> {
  const { bytes, counts } = recordings.get(name) as Recording
  const { db } = gateway
  const [begun] = (await db.query('select clock_timestamp()::text as at')).rows as { at: string }[]
  const body = question('Hello', { stream: true })
  const requests = new Map<string, string>()
  const waiting = [...ways]
  const work = async (key: string) => {
    for (let way = waiting.pop(); way !== undefined; way = waiting.pop()) {
      const answer = await ask(key, body, `${name} ${way}`)
      assert.equal(answer.status, 200, way)
      assert.ok(answer.bytes.equals(bytes), `${way}: ${answer.bytes}`)
      requests.set(answer.requestId, way)
    }
  }
  await Promise.all(keys.map(work))
  assert.equal(requests.size, ways.length)
  // Each reply ended after its charge was durable, so the entries are all there.
  const { rows } = await db.query(
    `select 'req_' || translate(hold_id::text, '-', '') as request, ending, estimated, message_id,
       array[input, output, cache_read, cache_write_5m, cache_write_1h]::text as counts
     from entries where kind = 'charge' and at >= $1`,
    [begun?.at],
  )
  assert.equal(rows.length, ways.length)
  for (const { request, ending, estimated, counts: charged } of rows as Row[]) {
    assert.ok(requests.has(request))
    assert.equal(charged, `{${counts.join(',')}}`, String(requests.get(request)))
    assert.deepEqual([ending, estimated], ['complete', false], String(requests.get(request)))
  }
}

type Row = { request: string; ending: string; estimated: boolean; counts: string }

const isFull = process.env.FULL === '1'

for (const [name, { bytes }] of recordings) {
  const isEvery = bytes.length <= EVERY_BYTES_MAX || isFull
  const stride = isEvery ? 1 : STRIDE
  const places = Array.from({ length: Math.ceil(bytes.length / stride) }, (_, i) => i * stride)
  const half = Math.ceil(places.length / 2)
  const cuts = isFull
    ? places.map((at) => `cut ${at}`)
    : places.slice(0, half).map((at, i) => `cut ${at} ${places[i + half] ?? ''}`.trimEnd())
  test(`${name}: cut at every ${isEvery ? '' : `${STRIDE}th `}byte, it is the same`, async () => {
    await replayAll(name, cuts)
  })
  test(`${name}: cut at random, it is the same`, async () => {
    await replayAll(
      name,
      Array.from({ length: RANDOM_RUNS }, (_, seed) => `random ${seed + 1}`),
    )
  })
}
