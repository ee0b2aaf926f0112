// Each case of the table goes to the edge and, beside it, to the gateway alone, with a plain
// request behind it on the same connection. Then what reached the vendor is laid side by side:
// either one of the two refused the case, or both read the same requests, with the same bodies, for
// the same accounts. And behind the edge nothing was read that the edge had not read itself.
import type { Vendor } from '../../../stand-ins/vendor/vendor.ts'
import { hold } from '../../support/fault.ts'
import type { Case, Words } from './cases.ts'
import type { Exchange, Way } from './raw.ts'
import { API_HOST } from './stage.ts'

/** Most cases wait for nothing; some for bytes that never come. */
const AT_ONCE = 24
/** Numbers of five digits, so that all bodies are as long as each other. */
const FIRST_NUMBER = 10_000
const ROLES = 3

type Role = 1 | 2 | 3
type Reading = { readonly role: Role; readonly body: string; readonly book: string }
type Run = { readonly number: number; readonly exchange: Exchange }

export type Ways = { readonly edge: Way; readonly direct: Way }

export type Verdicts = {
  readonly cases: number
  readonly refusedByEdge: number
  readonly refusedByGateway: number
  readonly readAlike: number
}

export async function smuggle(options: {
  readonly cases: readonly Case[]
  readonly ways: Ways
  readonly keys: readonly [string, string]
  readonly vendor: Vendor
  /** Who paid for the request with so many output tokens. */
  payers(): Promise<ReadonlyMap<number, string>>
  /** Called between the two: when the edge has seen everything, and the gateway alone nothing. */
  onEdgeDone(): Promise<void>
}): Promise<Verdicts> {
  const { cases, vendor, ways, keys } = options
  const behind = await sendAll(cases, ways.edge, keys, FIRST_NUMBER)
  await options.onEdgeDone()
  const alone = await sendAll(cases, ways.direct, keys, FIRST_NUMBER + ROLES * cases.length)
  const seenOf = readingsOf(vendor, await options.payers())
  const sideOf = (run: Run | undefined): Side => {
    hold(run !== undefined, 'every case was sent')
    return { run, seen: seenOf(run) }
  }
  const counts = { refusedByEdge: 0, refusedByGateway: 0, readAlike: 0 }
  for (const [i, { name }] of cases.entries()) {
    counts[judge(name, sideOf(behind[i]), sideOf(alone[i]))] += 1
  }
  return { cases: cases.length, ...counts }
}

async function sendAll(
  cases: readonly Case[],
  way: Way,
  keys: readonly [string, string],
  firstNumber: number,
): Promise<Run[]> {
  const runs: Run[] = []
  const queue = cases.entries()
  const worker = async () => {
    for (const [i, one] of queue) runs[i] = await send(one, way, firstNumber + ROLES * i, keys)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return runs
}

async function send(one: Case, way: Way, number: number, [key, otherKey]: readonly string[]) {
  const words: Words = {
    key: key as string,
    otherKey: otherKey as string,
    mark: (role) => markOf(number, role),
    body: (role) => bodyOf(number, role),
  }
  const end = bodyOf(number, 3)
  const last = [
    `POST /v1/messages?${markOf(number, 3)} HTTP/1.1`,
    `Host: ${API_HOST}`,
    'Content-Type: application/json',
    `X-Api-Key: ${key}`,
    `Content-Length: ${end.length}`,
    'Connection: close',
  ]
  const text = `${one.bytes(words)}${last.join('\r\n')}\r\n\r\n${end}`
  return { number, exchange: await way(Buffer.from(text, 'latin1')) }
}

function markOf(number: number, role: Role): string {
  return `mark=${number}.${role}`
}

function bodyOf(number: number, role: Role): string {
  const content = `[[reply: text 1]] [[fault: usage-output=${number + role - 1}]]`
  const messages = [{ role: 'user', content }]
  return JSON.stringify({ model: 'model-large', max_tokens: 32_000, messages })
}

/** What the vendor was asked, in order, by the number of the run. */
function readingsOf(vendor: Vendor, books: ReadonlyMap<number, string>) {
  const byNumber = new Map<number, Reading[]>()
  for (const { url, body } of vendor.requests) {
    const [, number = '', role = ''] = /mark=(\d+)\.(\d)/.exec(url) ?? []
    const text = body?.toString('latin1') ?? ''
    const paid = Number(/usage-output=(\d+)/.exec(text)?.[1])
    const readings = byNumber.get(Number(number)) ?? []
    readings.push({
      role: Number(role) as Role,
      body: text.replace(/usage-output=\d+/, ''),
      book: books.get(paid) ?? '',
    })
    byNumber.set(Number(number), readings)
  }
  // The gateway works on the requests of a connection side by side, so their order says nothing.
  return (run: Run): Reading[] =>
    (byNumber.get(run.number) ?? []).sort((one, other) => one.role - other.role)
}

type Side = { readonly run: Run; readonly seen: readonly Reading[] }

function judge(name: string, edge: Side, direct: Side): keyof Omit<Verdicts, 'cases'> {
  const both = `${name}: behind the edge ${told(edge)}, alone ${told(direct)}`
  const { answers } = edge.run.exchange
  hold(edge.seen.length <= answers.length, `the edge answers whatever went past it: ${both}`)
  hold(!edge.seen.some(({ book }) => book === ''), `whatever went past it was paid: ${both}`)
  if (endsWithNo(edge)) return 'refusedByEdge'
  if (endsWithNo(direct)) return 'refusedByGateway'
  // Alone the gateway may stop sooner: some headers, such as Upgrade, go no further than the edge.
  const roles = find(direct, 3) === undefined && direct.seen.length > 0 ? [1] : [1, 2, 3]
  for (const role of roles) {
    const [one, other] = [find(edge, role), find(direct, role)]
    const isSame = JSON.stringify(one) === JSON.stringify(other)
    // An address or a host that one of them does not serve; the rest of the connection is the same.
    const isUnserved = role === 1 && (saysNo(edge) || saysNo(direct))
    hold(isSame || isUnserved, `both read alike: ${both}`)
  }
  return 'readAlike'
}

function find({ seen }: Side, role: number): Reading | undefined {
  return seen.find((one) => one.role === role)
}

function saysNo({ run, seen }: Side): boolean {
  return seen[0]?.role !== 1 && (run.exchange.answers[0]?.status ?? 0) >= 400
}

/** The connection ended with an error or without a word, and what stood behind was not read. */
function endsWithNo(side: Side): boolean {
  const { answers, isClosed } = side.run.exchange
  const last = answers.at(-1)
  if (find(side, 3) !== undefined) return false
  return last === undefined ? isClosed : last.status >= 400 || last.status === 0
}

function told({ run, seen }: Side): string {
  const statuses = run.exchange.answers.map(({ status }) => status)
  return `${seen.map(({ role, book }) => `${role} for ${book}`)} (${statuses})`
}
