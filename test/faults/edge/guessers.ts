// Guessers and clients at one address. Wrong keys are counted by the address that the edge names,
// and answered 429 after a few; requests with a real key go on from there at any pace. What the
// client says about its own address changes nothing.
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Dispatcher } from 'undici'
import { hold, percentile, sleep } from '../../support/fault.ts'
import { exchange } from './raw.ts'
import { API_HOST, CABINET_HOST, CDN, type Edge } from './stage.ts'

const GENUINE_PER_SECOND = 1_000
const WRONG_PER_SECOND = 50
const CONNECTIONS = 64
/** keys.wrongPerMinute, counted by each of two processes; a run may see two minutes begin. */
const WRONG_MAX = 20 * 2 * 2
/** What a client says of itself, and what a CDN says of one. */
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
    const said = { 'x-real-ip': LIE, 'x-forwarded-for': `${LIE}, 198.51.100.${i % 256}` }
    count(statuses.wrong, await ask(guesser, edge.url, { ...said, 'x-api-key': madeUp(i) }))
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
  hold(refused.length === 0, `no genuine request is refused (${refused})`)
  const [unknown = 0, limited = 0] = [answers.get(401), answers.get(429)]
  const all = [...answers.values()].reduce((sum, one) => sum + one, 0)
  hold(unknown + limited === all, `wrong keys get nothing but 401 and 429 (${[...answers]})`)
  hold(unknown > 0 && unknown <= WRONG_MAX, `guessers are limited (${unknown} were looked at)`)
  return {
    genuine: sent.count,
    genuinePerSecond: Math.round(sent.count / sent.seconds),
    genuineP99Ms: Math.round(percentile(tookMs, 0.99)),
    wrong: all,
    limited,
    ...(await signIn(edge)),
  }
}

/** A right length and alphabet, or no likeness at all. */
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

/** So many a second, whether or not those before are answered. */
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

/** A wrong key over a connection from another address, with a word about where it comes from. */
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

/** Only the CDN is believed about its clients; nobody is limited for what another address did. */
async function checkAddresses(edge: Edge): Promise<void> {
  const elsewhere = await askFrom(edge, '127.0.0.2', LIE)
  hold(elsewhere === 401, `another address is not limited (${elsewhere})`)
  const throughCdn = await askFrom(edge, CDN, `${LIE}, ${BEHIND_CDN}`)
  hold(throughCdn === 401, `nor is a client of the CDN (${throughCdn})`)
  const clients = new Set((await edge.logged()).map(({ client }) => client))
  const expected = ['127.0.0.1', '127.0.0.2', BEHIND_CDN]
  hold(
    clients.size === expected.length && expected.every((one) => clients.has(one)),
    `clients are known by their address (${[...clients]})`,
  )
}

/** The ways into the account area; nobody stands behind them here, and the edge says 502. */
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
  hold(signIns >= 50, `of 100 sign-ins at once half are refused at least (${signIns})`)
  hold(others === 0, `nothing else is (${others})`)
  return { signInsLimited: signIns }
}
