// One turn of the transport benchmark, in a process of its own: sends requests through one carrier
// and prints the CPU time that this process used for each request, or each event.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createDirectCarrier } from '../../src/upstreams/transport/direct-carrier.ts'
import { createUndiciCarrier } from '../../src/upstreams/transport/undici-carrier.ts'
import { bytesTotal } from '../../src/wire/edit.ts'
import { smallBody } from '../relay-requests.ts'
import { EVENT } from './event.ts'

type Plan = {
  readonly carrier: 'direct' | 'undici'
  readonly url: string
  readonly http2: boolean
  readonly ca: string
  readonly connections: number
  /** 0: plain replies, one after the other on each connection. */
  readonly events: number
  readonly warmMs: number
  readonly ms: number
}

const HEADERS = [
  ...['x-api-key', 'key-of-the-upstream'],
  ...['content-type', 'application/json', 'accept-encoding', 'identity'],
  ...['anthropic-version', '2023-06-01', 'accept', 'application/json'],
  ...['user-agent', 'Library/JS 1.8.0'],
]

async function run(plan: Plan) {
  const options = {
    url: plan.url,
    ca: readFileSync(plan.ca, 'utf8'),
    http2: plan.http2,
    connectTimeoutMs: 10_000,
    idleTimeoutMs: 60_000,
    keepAliveMs: 30_000,
    connectionMaxAgeMs: 300_000,
    spanMs: () => performance.now(),
  }
  const carrier =
    plan.carrier === 'direct'
      ? createDirectCarrier(options)
      : createUndiciCarrier(plan.url, options)
  const body = [Buffer.from(smallBody(plan.events > 0))]
  const counts = { requests: 0, bytes: 0, failed: 0 }
  const request = {
    path: plan.events > 0 ? `/v1/messages?events=${plan.events}` : '/v1/messages',
    headers: HEADERS,
    body,
    bodyBytes: bytesTotal(body),
    headersTimeoutMs: 60_000,
    isRepeated: false,
  }
  const begin = (): void => {
    carrier.send(request, {
      sent: () => undefined,
      head: (status) => void (status === 200 || counts.failed++),
      data(chunk) {
        counts.bytes += chunk.length
      },
      end() {
        counts.requests++
        queueMicrotask(begin)
      },
      fail(error) {
        counts.failed++
        console.error(error)
      },
    })
  }
  for (let i = 0; i < plan.connections; i++) {
    begin()
    if (i % 64 === 63) await delay(20)
  }
  await delay(plan.warmMs)
  const before = { ...counts, cpu: process.cpuUsage() }
  await delay(plan.ms)
  const cpu = process.cpuUsage(before.cpu)
  const us = cpu.user + cpu.system
  const requests = counts.requests - before.requests
  const events = (counts.bytes - before.bytes) / EVENT.length
  console.log(JSON.stringify({ us, requests, events, failed: counts.failed }))
  process.exit(0)
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? '{}') as Plan)
