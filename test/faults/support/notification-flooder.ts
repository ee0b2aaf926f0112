// A process that floods the notification endpoint with forged, malformed, oversized and replayed
// notifications, from three busy senders and from thousands of others. Its parent sends the count
// and receives how often each kind got each answer.
import { randomBytes } from 'node:crypto'
import { Agent, type Dispatcher } from 'undici'
import { random } from '../../support/drill.ts'

export type FloodTask = {
  /** The notification endpoint without the provider's name. */
  readonly url: string
  readonly count: number
  readonly connections: number
  readonly seed: number
  /** Bodies of genuine notifications that were already handled. */
  readonly replays: readonly string[]
  /** Ids of unpaid payments, which the attacker has learned. */
  readonly victims: readonly string[]
  /** Set when the attacker is the owner of this unpaid order: then all are about it. */
  readonly own?: { readonly order: string; readonly paymentId: string }
}

/** How often each kind got each answer: `forged 200`, `oversized 413`, `malformed cut`. */
export type FloodAnswer = { readonly answers: Record<string, number>; readonly seconds: number }

type Piece = { kind: string; body: string | Buffer; path?: string; method?: 'POST' | 'PUT' | 'GET' }

const TEN_MEGABYTES = Buffer.alloc(10 * 2 ** 20, 0x20)
const MALFORMED: readonly (string | Buffer)[] = [
  '',
  '{',
  'null',
  '[]',
  '"payment.succeeded"',
  '{"type":"notification"}',
  '{"type":"notification","event":"payment.succeeded","object":null}',
  '{"type":"notification","event":"payment.succeeded","object":{"id":{"$gt":""}}}',
  '{"type":"notification","event":"payment.succeeded","object":{"id":"\' or 1=1 --"}}',
  '{"type":"notification","event":"__proto__","object":{"id":"a"}}',
  `${'['.repeat(30_000)}`,
  `{"type":"notification","event":"${'a'.repeat(60_000)}"}`,
  Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc3, 0x28]),
  Buffer.alloc(4_000, 0),
]

process.on('message', (task: FloodTask) => {
  void flood(task).then((answer) => process.send?.(answer))
})
process.send?.('ready')

async function flood(task: FloodTask): Promise<FloodAnswer> {
  const draw = random(task.seed)
  const agent = new Agent({ connections: task.connections, pipelining: 1 })
  const answers: Record<string, number> = {}
  const startedMs = performance.now()
  let left = task.count
  const send = async () => {
    while (left > 0) {
      left -= 1
      const piece = pieceOf(draw, task)
      const answer = await post(agent, task.url, piece, senderOf(draw))
      const name = `${piece.kind} ${answer}`
      answers[name] = (answers[name] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: task.connections }, send))
  await agent.destroy()
  return { answers, seconds: (performance.now() - startedMs) / 1_000 }
}

function pieceOf(draw: () => number, task: FloodTask): Piece {
  if (task.own !== undefined) return { kind: 'own', body: aboutOwn(draw, task.own) }
  const share = draw()
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T
  if (share < 0.35) return { kind: 'forged', body: successOf(uuidOf(draw), draw) }
  if (share < 0.5) return { kind: 'forged-known', body: successOf(pick(task.victims), draw) }
  if (share < 0.7) return { kind: 'replayed', body: pick(task.replays) }
  if (share < 0.88) return { kind: 'malformed', body: pick(MALFORMED) }
  if (share < 0.9) return { kind: 'elsewhere', body: '{}', path: '/nobody' }
  if (share < 0.999) {
    return { kind: 'oversized', body: Buffer.alloc(66_000 + Math.floor(draw() * 100_000), 0x7b) }
  }
  return { kind: 'ten-megabytes', body: TEN_MEGABYTES }
}

const EVENTS = ['payment.succeeded', 'payment.canceled', 'refund.succeeded', 'payment.made_up']

/** Names the owner's order, mostly with a made-up payment, and carries up to 60 KB. */
function aboutOwn(draw: () => number, own: NonNullable<FloodTask['own']>): string {
  const isRefund = draw() < 0.25
  const id = draw() < 0.2 ? own.paymentId : uuidOf(draw)
  const object = {
    id,
    payment_id: id,
    metadata: { order_id: own.order },
    pad: randomBytes(Math.floor(draw() ** 4 * 45_000)).toString('base64'),
  }
  const event = isRefund ? 'refund.succeeded' : EVENTS[Math.floor(draw() * EVENTS.length)]
  return JSON.stringify({ type: 'notification', event, object })
}

function successOf(id: string, draw: () => number): string {
  const object = {
    id,
    status: 'succeeded',
    paid: true,
    amount: { value: '1300.00', currency: 'RUB' },
    captured_at: '2026-11-15T00:00:00.000Z',
    description: `made up ${draw()}`,
    metadata: { order_id: `pay_${uuidOf(draw).replaceAll('-', '')}` },
  }
  return JSON.stringify({ type: 'notification', event: 'payment.succeeded', object })
}

function uuidOf(draw: () => number): string {
  const hex = (length: number) =>
    Array.from({ length }, () => Math.floor(draw() * 16).toString(16)).join('')
  return `${hex(8)}-${hex(4)}-5${hex(3)}-8${hex(3)}-${hex(12)}`
}

/** One in ten comes from three senders, the rest from a botnet of 8,000. */
function senderOf(draw: () => number): string {
  if (draw() < 0.1) return `203.0.113.${Math.floor(draw() * 3)}`
  const n = Math.floor(draw() * 8_000)
  return `198.18.${n >> 8}.${n & 255}`
}

/** The status, or `cut` when the server closed the connection before it read the body. */
async function post(
  agent: Dispatcher,
  url: string,
  { body, path = '/yookassa', method = 'POST' }: Piece,
  sender: string,
): Promise<number | 'cut'> {
  try {
    const response = await agent.request({
      origin: new URL(url).origin,
      path: `${new URL(url).pathname}${path}`,
      method,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': sender },
      body,
      headersTimeout: 30_000,
      bodyTimeout: 30_000,
    })
    await response.body.dump()
    return response.statusCode
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) return 'cut'
    throw error
  }
}
