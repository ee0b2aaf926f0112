// The shipped nginx configuration in front of the real gateway. It accepts only TLS 1.3, redirects
// plain HTTP, closes requests for other hosts without an answer, passes streams on event by event,
// answers errors in the vendor's shape, and lets no request through that it reads differently from
// the gateway. Wrong keys get 429 while clients at the same address are served.
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { startVendor, type Vendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage, type Serving } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure } from '../../support/drill.ts'
import { call } from '../support/gateway-caller.ts'
import { listCases } from './cases.ts'
import { guess } from './guessers.ts'
import { directly, type Exchange, exchange, throughEdge } from './raw.ts'
import { smuggle } from './smuggling.ts'
import { API_HOST, CABINET_HOST, type Edge, startEdge } from './stage.ts'
import { compareStreams, startClockUpstream } from './stream.ts'

type Stage = Awaited<ReturnType<typeof createGatewayStage>>

export const drill: Drill = async ({ isFull, say }) => {
  const stage = await createGatewayStage(4)
  const vendor = await startVendor({ requestsMax: 100_000 })
  try {
    const checked = await withEdge(stage, vendor.url, async ({ edge }) => {
      const strangers = await checkTlsAndHosts(edge)
      const flood = await floodNotifications(edge)
      say(`of ${flood.notifications} notifications at once ${flood.notificationsLimited} got 429`)
      say(`TLS 1.3 only; plain HTTP gets 308; ${strangers} requests for other hosts got no answer`)
      const guessed = await guess({ edge, keys: stage.keys, seconds: isFull ? 30 : 8 })
      const { genuinePerSecond, limited, wrong } = guessed
      say(`${genuinePerSecond} requests a second with valid keys, none refused`)
      say(`${wrong} wrong keys meanwhile: ${limited} got 429`)
      return { strangers, ...flood, ...guessed }
    })
    const streams = await compare(stage, isFull)
    say(`a stream's events are ${streams.streamAddedP99Ms} ms later through the edge (p99)`)
    const cases = await attack(stage, vendor)
    const { refusedByEdge, refusedByGateway, readAlike } = cases
    say(`of ${cases.cases} raw cases the edge refused ${refusedByEdge}, the gateway`)
    say(`${refusedByGateway}, and both read ${readAlike} the same way`)
    await stage.check()
    return { ...checked, ...streams, ...cases }
  } finally {
    await vendor.close()
    await stage.end()
  }
}

type Place = { readonly edge: Edge; readonly serving: Serving; readonly gatewayPort: number }

async function withEdge<T>(
  stage: Stage,
  upstreamUrl: string,
  work: (place: Place) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const serving = await stage.serve({
    GATEWAY_PROCESSES: '2',
    GATEWAY_ADDRESS_HEADER: 'x-real-ip',
    GATEWAY_DRAIN_IDLE_SECONDS: '0',
    UPSTREAM_URL: upstreamUrl,
    ...env,
  })
  const gatewayPort = Number(new URL(serving.url).port)
  const edge = await startEdge([gatewayPort])
  try {
    return await work({ edge, serving, gatewayPort })
  } finally {
    await edge.stop()
    await serving.stop()
  }
}

/** Checks TLS, redirects and error pages; returns how many requests got no answer. */
async function checkTlsAndHosts(edge: Edge): Promise<number> {
  const asked = (...flags: string[]) => handshake(edge.port, ['-servername', API_HOST, ...flags])
  const new13 = await asked('-tls1_3')
  ensure(/New, TLSv1\.3/.test(new13), 'TLS 1.3 is accepted')
  ensure(!/Max Early Data: [1-9]/.test(new13), 'TLS early data is off')
  for (const old of ['-tls1_2', '-tls1_1', '-tls1']) {
    ensure(/Cipher is \(NONE\)/.test(await asked(old)), `${old} is refused`)
  }
  const unknown = await handshake(edge.port, ['-servername', 'unknown.example.com', '-tls1_3'])
  ensure(/Cipher is \(NONE\)/.test(unknown), 'a handshake for an unknown name is refused')

  const post = (path: string, host: string) =>
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`)
  const plain = async (host: string) => {
    const socket = connect(edge.plainPort, '127.0.0.1')
    return exchange(socket, 'connect', post('/v1/messages?beta=true', host))
  }
  const [moved] = (await plain(API_HOST)).answers
  ensure(moved?.status === 308, 'plain HTTP is answered 308')
  const to = moved.headers.get('location')
  ensure(to === `https://${API_HOST}/v1/messages?beta=true`, `the 308 keeps path and query (${to})`)

  const strangers = [
    await plain('unknown.example.com'),
    await throughEdge(edge)(post('/v1/messages', 'unknown.example.com')),
  ]
  ensure(strangers.every(isUnanswered), 'a request for another host gets no answer')

  const [no] = (await throughEdge(edge)(post('/v1/messages', API_HOST))).answers
  ensure(no?.status === 415 && no.headers.has('request-id'), 'errors of the gateway pass unchanged')
  ensure(
    no.headers.get('strict-transport-security') === 'max-age=63072000; includeSubDomains',
    'Strict-Transport-Security lasts two years',
  )
  ensure(no.headers.get('server') === 'nginx', 'the Server header has no version')
  const large = post('/v1/messages', API_HOST)
    .toString()
    .replace(': 0', `: ${33 * 2 ** 20}`)
  const [tooLarge] = (await throughEdge(edge)(Buffer.from(large))).answers
  ensure(tooLarge?.status === 413, 'a body of more than 32 MiB is refused')
  const body = JSON.parse(tooLarge.body)
  ensure(body.error?.type === 'request_too_large', "errors of the edge have the vendor's shape")
  ensure(
    body.request_id === tooLarge.headers.get('request-id'),
    'errors of the edge have a request id',
  )
  return strangers.length
}

/** No cabinet listens behind this edge, so a notification that is passed on gets 502. */
async function floodNotifications(edge: Edge) {
  const notification = `POST /notifications/yookassa HTTP/1.1\r\nHost: ${CABINET_HOST}\r\n`
  const sent = 400
  const bytes = Buffer.from(`${notification}Content-Length: 0\r\n\r\n`.repeat(sent))
  const { answers } = await throughEdge(edge)(bytes)
  const limited = answers.filter(({ status }) => status === 429).length
  const passedOn = answers.filter(({ status }) => status >= 500).length
  ensure(answers.length === sent, `every notification is answered (${answers.length})`)
  ensure(passedOn >= 200 && limited > 0, `the edge limits notifications (${limited} of ${sent})`)
  return { notifications: sent, notificationsLimited: limited }
}

function isUnanswered({ answers, isClosed }: Exchange): boolean {
  return answers.length === 0 && isClosed
}

/** What openssl prints about a handshake; its exit code says too little. */
function handshake(port: number, flags: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const parameters = ['s_client', '-connect', `127.0.0.1:${port}`, ...flags]
    const child = execFile('openssl', parameters, { timeout: 10_000 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
    child.stdin?.end()
  })
}

async function compare(stage: Stage, isFull: boolean) {
  const upstream = await startClockUpstream()
  const key = stage.keys[0] as string
  try {
    return await withEdge(stage, upstream.url, ({ edge, serving }) =>
      compareStreams({ edge, directUrl: serving.url, key, isFull }),
    )
  } finally {
    await upstream.close()
  }
}

async function attack(stage: Stage, vendor: Vendor) {
  const [key = '', otherKey = ''] = stage.keys
  const counted = { passedOn: 0, readBehind: 0 }
  const work = async ({ edge, serving, gatewayPort }: Place) => {
    await warm(edge, [key, otherKey])
    const count = async () => ({
      passedOn: (await edge.logged()).filter(({ behind }) => behind !== '').length,
      readBehind: await countRequests(serving),
    })
    const before = await count()
    // Over all cases, the gateway must not read more requests than the edge passed on: otherwise it
    // took a part of a body for a request.
    const onEdgeDone = async () => {
      const after = await count()
      counted.passedOn = after.passedOn - before.passedOn
      counted.readBehind = after.readBehind - before.readBehind
    }
    const ways = { edge: throughEdge(edge), direct: directly(gatewayPort) }
    const payers = () => readPayers(stage)
    const keys = [key, otherKey] as const
    return smuggle({ cases: listCases(), ways, keys, vendor, payers, onEdgeDone })
  }
  // Some cases have wrong keys, and all come from one address.
  const env = { KEYS_WRONG_PER_MINUTE: '100000' }
  const verdicts = await withEdge(stage, vendor.url, work, env)
  const { passedOn, readBehind } = counted
  ensure(
    readBehind > 0 && readBehind <= passedOn,
    `the gateway read no more than was passed on (${readBehind} of ${passedOn})`,
  )
  return { ...verdicts, ...counted }
}

/** Requests that the gateway answered, without those that its HTTP parser refused. */
async function countRequests({ metricsUrl }: Serving): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text()
  const counts = [...text.matchAll(/^gateway_requests_total\{.*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

async function readPayers({ database }: Stage): Promise<Map<number, string>> {
  const { rows } = await database.db.query(
    `select output::int4 as output, book_id::text as book from entries where kind = 'charge'`,
  )
  return new Map((rows as { output: number; book: string }[]).map((row) => [row.output, row.book]))
}

async function warm(edge: Edge, keys: readonly string[]): Promise<void> {
  const agent = edge.agent(8)
  const asks = Array.from({ length: 16 }, (_, i) => {
    const key = keys[i % keys.length] as string
    return call(agent, edge.url, { number: i + 1, key, isStream: false, reply: 'text 1' })
  })
  const answers = await Promise.all(asks)
  const broken = answers.find(({ isWhole }) => !isWhole)
  ensure(broken === undefined, `plain requests pass the edge (${broken?.error})`)
  await agent.close()
}
