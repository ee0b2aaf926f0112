// The edge as it is shipped, in front of the real gateway: TLS 1.3 and nothing older, plain HTTP
// sent on with its path, strangers unanswered, streams event by event, errors in the vendor's
// shape, raw requests that two parsers could read differently, and guessers stopped while clients
// beside them at the same address are not.
import { execFile } from 'node:child_process'
import { connect } from 'node:net'
import { startVendor, type Vendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage, type Serving } from '../../stages/served/gateway.ts'
import type { Fault } from '../../support/fault.ts'
import { hold } from '../../support/fault.ts'
import { call } from '../support/gateway-caller.ts'
import { listCases } from './cases.ts'
import { guess } from './guessers.ts'
import { directly, type Exchange, exchange, throughEdge } from './raw.ts'
import { smuggle } from './smuggling.ts'
import { API_HOST, type Edge, startEdge } from './stage.ts'
import { compareStreams, startClockUpstream } from './stream.ts'

type Stage = Awaited<ReturnType<typeof createGatewayStage>>

export const fault: Fault = async ({ isFull, say }) => {
  const stage = await createGatewayStage(4)
  const vendor = await startVendor({ requestsMax: 100_000 })
  try {
    const doors = await withEdge(stage, vendor.url, async ({ edge }) => {
      const strangers = await checkDoors(edge)
      say(`TLS 1.3 only; plain HTTP is answered 308; ${strangers} strangers got nothing`)
      const guessed = await guess({ edge, keys: stage.keys, seconds: isFull ? 30 : 8 })
      const { genuinePerSecond, limited, wrong } = guessed
      say(`${genuinePerSecond} genuine requests a second, none refused`)
      say(`${wrong} wrong keys beside them: ${limited} were answered 429`)
      return { strangers, ...guessed }
    })
    const streams = await compare(stage, isFull)
    say(`a stream's events are ${streams.streamAddedP99Ms} ms later through the edge (p99)`)
    const cases = await attack(stage, vendor)
    const { refusedByEdge, refusedByGateway, readAlike } = cases
    say(`of ${cases.cases} raw cases the edge refused ${refusedByEdge}, the gateway`)
    say(`${refusedByGateway}, and ${readAlike} were read alike by both`)
    await stage.check()
    return { ...doors, ...streams, ...cases }
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
  const edge = await startEdge(gatewayPort)
  try {
    return await work({ edge, serving, gatewayPort })
  } finally {
    await edge.stop()
    await serving.stop()
  }
}

/** Returns how many strangers were sent away. */
async function checkDoors(edge: Edge): Promise<number> {
  const asked = (...flags: string[]) => handshake(edge.port, ['-servername', API_HOST, ...flags])
  const new13 = await asked('-tls1_3')
  hold(/New, TLSv1\.3/.test(new13), 'TLS 1.3 is spoken')
  hold(!/Max Early Data: [1-9]/.test(new13), 'nothing is taken in the first flight')
  for (const old of ['-tls1_2', '-tls1_1', '-tls1']) {
    hold(/Cipher is \(NONE\)/.test(await asked(old)), `${old} is refused`)
  }
  const unknown = await handshake(edge.port, ['-servername', 'unknown.example.com', '-tls1_3'])
  hold(/Cipher is \(NONE\)/.test(unknown), 'a handshake for an unknown name is refused')

  const post = (path: string, host: string) =>
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`)
  const plain = async (host: string) => {
    const socket = connect(edge.plainPort, '127.0.0.1')
    return exchange(socket, 'connect', post('/v1/messages?beta=true', host))
  }
  const [moved] = (await plain(API_HOST)).answers
  hold(moved?.status === 308, 'plain HTTP is answered 308')
  const to = moved.headers.get('location')
  hold(to === `https://${API_HOST}/v1/messages?beta=true`, `and keeps the path (${to})`)

  const strangers = [
    await plain('unknown.example.com'),
    await throughEdge(edge)(post('/v1/messages', 'unknown.example.com')),
  ]
  hold(strangers.every(isUnanswered), 'a request for another host gets no answer')

  const [no] = (await throughEdge(edge)(post('/v1/messages', API_HOST))).answers
  hold(no?.status === 415 && no.headers.has('request-id'), 'errors of the gateway pass unchanged')
  hold(
    no.headers.get('strict-transport-security') === 'max-age=63072000; includeSubDomains',
    'clients are told to stay with TLS for two years',
  )
  hold(no.headers.get('server') === 'nginx', 'the version of the edge is not told')
  const large = post('/v1/messages', API_HOST)
    .toString()
    .replace(': 0', `: ${33 * 2 ** 20}`)
  const [tooLarge] = (await throughEdge(edge)(Buffer.from(large))).answers
  hold(tooLarge?.status === 413, 'a body of more than 32 MiB is refused')
  const said = JSON.parse(tooLarge.body)
  hold(said.error?.type === 'request_too_large', "errors of the edge have the vendor's shape")
  hold(said.request_id === tooLarge.headers.get('request-id'), 'and a request id')
  return strangers.length
}

function isUnanswered({ answers, isClosed }: Exchange): boolean {
  return answers.length === 0 && isClosed
}

/** What openssl says about a handshake. Its exit code tells less than its words. */
function handshake(port: number, flags: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const parameters = ['s_client', '-connect', `127.0.0.1:${port}`, ...flags]
    const child = execFile('openssl', parameters, { timeout: 10_000 }, (_error, out, words) =>
      resolve(out + words),
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
    // Counted on both sides, over all cases: no byte that the edge took for a part of a body was a
    // request to the gateway.
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
  // Some cases are wrong keys, and here all come from one address.
  const env = { KEYS_WRONG_PER_MINUTE: '100000' }
  const verdicts = await withEdge(stage, vendor.url, work, env)
  const { passedOn, readBehind } = counted
  hold(readBehind > 0 && readBehind <= passedOn, `read ${readBehind} of ${passedOn} passed on`)
  return { ...verdicts, ...counted }
}

/** Requests that the gateway has answered; what its parser refused is not among them. */
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
  hold(broken === undefined, `plain requests pass the edge (${broken?.error})`)
  await agent.close()
}
