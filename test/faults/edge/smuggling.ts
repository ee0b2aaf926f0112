// Sends each case through the edge and directly to the gateway, followed by a plain request on the
// same connection. Then compares what reached the vendor: either the edge or the gateway refused
// the case, or both read the same requests, with the same bodies, for the same accounts. The
// gateway behind the edge must read no request that the edge did not read.
import type { Vendor } from '../../../stand-ins/vendor/vendor.ts'
import { ensure } from '../../support/drill.ts'
import type { Case, CaseContext } from './cases.ts'
import type { Exchange, Way } from './raw.ts'
import { API_HOST } from './stage.ts'

/** Many at once, because in some cases the server waits for bytes that never come. */
const AT_ONCE = 24
/** Numbers have five digits, so that all bodies have the same length. */
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
  /** The book that paid, by the output tokens of the request. */
  payers(): Promise<ReadonlyMap<number, string>>
  /** Called after all cases went through the edge and before the first goes to the gateway. */
  onEdgeDone(): Promise<void>
}): Promise<Verdicts> {
  const { cases, vendor, ways, keys } = options
  const throughEdge = await sendAll(cases, ways.edge, keys, FIRST_NUMBER)
  await options.onEdgeDone()
  const direct = await sendAll(cases, ways.direct, keys, FIRST_NUMBER + ROLES * cases.length)
  const seenOf = readingsOf(vendor, await options.payers())
  const sideOf = (run: Run | undefined): Side => {
    ensure(run !== undefined, 'every case was sent')
    return { run, seen: seenOf(run) }
  }
  const counts = { refusedByEdge: 0, refusedByGateway: 0, readAlike: 0 }
  for (const [i, { name }] of cases.entries()) {
    counts[judge(name, sideOf(throughEdge[i]), sideOf(direct[i]))] += 1
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
  const context: CaseContext = {
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
  const text = `${one.bytes(context)}${last.join('\r\n')}\r\n\r\n${end}`
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

/** The requests that the vendor received, by the number of the run. */
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
  // The gateway handles the requests of a connection concurrently, so their order means nothing.
  return (run: Run): Reading[] =>
    (byNumber.get(run.number) ?? []).sort((one, other) => one.role - other.role)
}

type Side = { readonly run: Run; readonly seen: readonly Reading[] }

function judge(name: string, edge: Side, direct: Side): keyof Omit<Verdicts, 'cases'> {
  const both = `${name}: through the edge ${describe(edge)}, directly ${describe(direct)}`
  const { answers } = edge.run.exchange
  ensure(
    edge.seen.length <= answers.length,
    `the edge answers every request that it passed on: ${both}`,
  )
  ensure(
    !edge.seen.some(({ book }) => book === ''),
    `every request that the edge passed on was charged: ${both}`,
  )
  if (endsRefused(edge)) return 'refusedByEdge'
  if (endsRefused(direct)) return 'refusedByGateway'
  // Without the edge the gateway may stop sooner: the edge removes headers such as Upgrade.
  const roles = find(direct, 3) === undefined && direct.seen.length > 0 ? [1] : [1, 2, 3]
  for (const role of roles) {
    const [one, other] = [find(edge, role), find(direct, role)]
    const isSame = JSON.stringify(one) === JSON.stringify(other)
    // One of them may not serve this path or host; the later requests must still be the same.
    const isUnserved = role === 1 && (isFirstRefused(edge) || isFirstRefused(direct))
    ensure(isSame || isUnserved, `edge and gateway read the same requests: ${both}`)
  }
  return 'readAlike'
}

function find({ seen }: Side, role: number): Reading | undefined {
  return seen.find((one) => one.role === role)
}

function isFirstRefused({ run, seen }: Side): boolean {
  return seen[0]?.role !== 1 && (run.exchange.answers[0]?.status ?? 0) >= 400
}

/** The connection ended with an error or without an answer, and request 3 was not read. */
function endsRefused(side: Side): boolean {
  const { answers, isClosed } = side.run.exchange
  const last = answers.at(-1)
  if (find(side, 3) !== undefined) return false
  return last === undefined ? isClosed : last.status >= 400 || last.status === 0
}

function describe({ run, seen }: Side): string {
  const statuses = run.exchange.answers.map(({ status }) => status)
  return `${seen.map(({ role, book }) => `${role} for ${book}`)} (${statuses})`
}
