// Attackers who guess keys, and clients, at one address. The gateway counts wrong keys by the
// address that the edge sends and answers 429 after a few. Requests with a valid key are not
// limited. An address that the client itself sends changes nothing.
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Dispatcher } from 'undici'
import { ensure, percentile, sleep } from '../../support/drill.ts'
import { exchange } from './raw.ts'
import { API_HOST, CABINET_HOST, CDN, type Edge } from './stage.ts'

const GENUINE_PER_SECOND = 1_000
const WRONG_PER_SECOND = 50
const CONNECTIONS = 64
/**
 * keys.wrongPerMinute over both processes, in up to two minutes, and what arrives while a process
 * learns of the other's count: ten a minute would be a round trip of 0.2 s.
 */
const WRONG_MAX = 2 * (20 + 10)
/** An address that a client invents, and one that the CDN sends for its client. */
const LIE = '203.0.113.9'
const BEHIND_CDN = '192.0.2.7'

export async function guess({
  edge,
  keys,
  seconds,
}: {
  readonly edge: Edge
  readonly keys: readonly string[]
  readonly seconds: number
}) {
  const agent = edge.agent(CONNECTIONS)
  const guesser = edge.agent(4)
  const statuses = { genuine: new Map<number, number>(), wrong: new Map<number, number>() }
  const tookMs: number[] = []
  const count = (map: Map<number, number>, status: number) =>
    void map.set(status, (map.get(status) ?? 0) + 1)

  const genuine = async (i: number) => {
    const askedMs = performance.now()
    const key = keys[i % keys.length] as string
    count(statuses.genuine, await ask(agent, edge.url, { 'x-api-key': key }))
    tookMs.push(performance.now() - askedMs)
  }
  const wrong = async (i: number) => {
    const forged = { 'x-real-ip': LIE, 'x-forwarded-for': `${LIE}, 198.51.100.${i % 256}` }
    count(statuses.wrong, await ask(guesser, edge.url, { ...forged, 'x-api-key': madeUp(i) }))
  }
  for (const [i] of keys.entries()) await genuine(i)
  const [sent] = await Promise.all([
    atPace(GENUINE_PER_SECOND, seconds, genuine),
    atPace(WRONG_PER_SECOND, seconds, wrong),
  ])
  await checkAddresses(edge)
  await Promise.all([agent.close(), guesser.close()])

  const { wrong: answers } = statuses
  const refused = [...statuses.genuine].filter(([status]) => status !== 200)
  ensure(refused.length === 0, `no genuine request is refused (${refused})`)
  const [unknown = 0, limited = 0] = [answers.get(401), answers.get(429)]
  const all = [...answers.values()].reduce((sum, one) => sum + one, 0)
  ensure(unknown + limited === all, `wrong keys get nothing but 401 and 429 (${[...answers]})`)
  ensure(unknown > 0 && unknown <= WRONG_MAX, `guessers are limited (${unknown} got 401)`)
  return {
    genuine: sent.count,
    genuinePerSecond: Math.round(sent.count / sent.seconds),
    genuineP99Ms: Math.round(percentile(tookMs, 0.99)),
    wrong: all,
    limited,
    ...(await signIn(edge)),
  }
}

/** Every second key has the right length and alphabet. */
function madeUp(i: number): string {
  return i % 2 === 0 ? `sk-vendor-api03-${randomBytes(51).toString('base64url')}` : `guess-${i}`
}

async function ask(
  dispatcher: Dispatcher,
  origin: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const sent = { origin, path: '/v1/models', method: 'GET', headers } as const
  const { statusCode, body } = await dispatcher.request(sent)
  await body.dump()
  return statusCode
}

/** Starts `perSecond` requests a second without waiting for answers. */
async function atPace(perSecond: number, seconds: number, one: (i: number) => Promise<void>) {
  const startedMs = performance.now()
  const asks: Promise<void>[] = []
  while (asks.length < perSecond * seconds) {
    const due = Math.min(perSecond * seconds, ((performance.now() - startedMs) / 1_000) * perSecond)
    while (asks.length < due) asks.push(one(asks.length))
    await sleep(2)
  }
  await Promise.all(asks)
  return { count: asks.length, seconds: (performance.now() - startedMs) / 1_000 }
}

/** Sends a wrong key from another local address, with this X-Forwarded-For. */
async function askFrom({ port, certificate }: Edge, localAddress: string, forwarded: string) {
  const lines = [
    'GET /v1/models HTTP/1.1',
    `Host: ${API_HOST}`,
    `X-Api-Key: ${madeUp(0)}`,
    `X-Forwarded-For: ${forwarded}`,
    'Connection: close',
  ]
  const line = connect({ port, host: '127.0.0.1', localAddress })
  const socket = connectTls({ socket: line, servername: API_HOST, ca: certificate })
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  const { answers } = await exchange(socket, 'secureConnect', bytes)
  return answers[0]?.status ?? 0
}

/** The edge trusts X-Forwarded-For only from the CDN; limits count per address. */
async function checkAddresses(edge: Edge): Promise<void> {
  const elsewhere = await askFrom(edge, '127.0.0.2', LIE)
  ensure(elsewhere === 401, `another address is not limited (${elsewhere})`)
  const throughCdn = await askFrom(edge, CDN, `${LIE}, ${BEHIND_CDN}`)
  ensure(throughCdn === 401, `a client of the CDN is not limited (${throughCdn})`)
  const clients = new Set((await edge.logged()).map(({ client }) => client))
  const expected = ['127.0.0.1', '127.0.0.2', BEHIND_CDN]
  ensure(
    clients.size === expected.length && expected.every((one) => clients.has(one)),
    `the edge logs each client's real address (${[...clients]})`,
  )
}

/** The edge limits sign-ins. No cabinet listens here, so the others get 502. */
async function signIn(edge: Edge) {
  const agent = edge.agent(16)
  const origin = edge.url.replace(API_HOST, CABINET_HOST)
  const post = async (path: string) => {
    const { statusCode, body } = await agent.request({ origin, path, method: 'POST', body: '{}' })
    await body.dump()
    return statusCode
  }
  const burst = (path: string) => Promise.all(Array.from({ length: 100 }, () => post(path)))
  const limitedOf = (all: readonly number[]) => all.filter((status) => status === 429).length
  const signIns = limitedOf(await burst('/api/auth/sign-in/email'))
  const others = limitedOf(await burst('/api/orders'))
  await agent.close()
  ensure(signIns >= 50, `of 100 sign-ins at once at least half get 429 (${signIns})`)
  ensure(others === 0, `other paths are not limited (${others})`)
  return { signInsLimited: signIns }
}
