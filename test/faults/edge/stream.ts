// Measures how late the events of a stream arrive, through the edge and without it: the upstream
// writes the time into each event, and the reader in the same process compares it with its clock.
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { ensure, percentile, sleep } from '../../support/drill.ts'
import { startRawUpstream } from '../../support/raw-upstream.ts'
import { API_HOST, type Edge } from './stage.ts'

const EVENTS = 50
const PACE_MS = 10
/** The most that the edge may add; checked with --full only. */
const ADDED_MS_MAX = 20
/** Half of a stream's duration: an edge that buffers events adds more. */
const GATHERED_MS = (EVENTS * PACE_MS) / 2

const event = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`

/** An upstream whose text deltas are the time at which it sent them. */
export function startClockUpstream() {
  return startRawUpstream((socket) => {
    const send = (text: string) =>
      void socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n')
    socket.write('transfer-encoding: chunked\r\n\r\n')
    void (async () => {
      const usage = { input_tokens: 1, output_tokens: 1 }
      send(event('message_start', { message: { id: 'msg_1', type: 'message', usage } }))
      for (let i = 0; i < EVENTS; i++) {
        await sleep(PACE_MS)
        const text = `@${performance.now()}@`
        send(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }))
      }
      send(event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }))
      send(event('message_stop', {}))
      socket.write('0\r\n\r\n')
    })()
  })
}

/** Runs both streams of a round at once, so that other load on the machine delays both. */
export async function compareStreams(options: {
  readonly edge: Edge
  readonly directUrl: string
  readonly key: string
  readonly isFull: boolean
}) {
  const { edge, directUrl, key, isFull } = options
  const [rounds, addedMsMax] = isFull ? [61, ADDED_MS_MAX] : [11, GATHERED_MS]
  const added: number[] = []
  const all: { direct: number[]; edge: number[] } = { direct: [], edge: [] }
  for (let round = 0; round < rounds; round++) {
    const [direct, through] = await Promise.all([
      readStream(directUrl, key),
      readStream(`https://127.0.0.1:${edge.port}`, key, edge.certificate),
    ])
    added.push(percentile(through, 0.99) - percentile(direct, 0.99))
    all.direct.push(percentile(direct, 0.5))
    all.edge.push(percentile(through, 0.5))
  }
  const figures = {
    streamAddedP99Ms: rounded(percentile(added, 0.5)),
    streamDirectP50Ms: rounded(percentile(all.direct, 0.5)),
    streamEdgeP50Ms: rounded(percentile(all.edge, 0.5)),
  }
  const { streamAddedP99Ms } = figures
  ensure(
    streamAddedP99Ms <= addedMsMax,
    `an event is at most ${addedMsMax} ms later through the edge (${streamAddedP99Ms} ms)`,
  )
  return figures
}

/** The delay of each event of one stream, in milliseconds. */
function readStream(url: string, key: string, ca?: string): Promise<number[]> {
  const body = JSON.stringify({
    model: 'model-large',
    max_tokens: 1_000,
    stream: true,
    messages: [{ role: 'user', content: 'What time is it?' }],
  })
  const headers = { host: API_HOST, 'x-api-key': key, 'content-type': 'application/json' }
  const options = { method: 'POST', headers, agent: false }
  const sending =
    ca === undefined
      ? requestHttp(`${url}/v1/messages`, options)
      : requestHttps(`${url}/v1/messages`, { ...options, ca, servername: API_HOST })
  return new Promise((resolve, reject) => {
    sending.once('error', reject)
    sending.once('response', (incoming) => {
      const lateMs: number[] = []
      let isWhole = false
      incoming.setEncoding('utf8')
      incoming.on('data', (text: string) => {
        const nowMs = performance.now()
        for (const [, sentMs] of text.matchAll(/@([\d.]+)@/g)) lateMs.push(nowMs - Number(sentMs))
        isWhole ||= text.includes('message_stop')
      })
      incoming.once('end', () => {
        if (isWhole && lateMs.length === EVENTS) resolve(lateMs)
        else reject(new Error(`${incoming.statusCode}: ${lateMs.length} events of ${EVENTS}`))
      })
    })
    sending.end(body)
  })
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100
}
