// Compares what can carry requests to an upstream, our own client and undici, each alone in a
// process on one core, with the upstream on another: CPU time per plain request and per event of a
// stream, over plain HTTP, TLS and HTTP/2. The turns are interleaved; figures are medians, ratios
// are medians of the turns' ratios. Gate: our own client is kept while it needs at most 0.75 of
// undici's CPU time over TLS (decision 0038).
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tempRoot } from '../../tools/postgres-binaries.ts'
import { type Bench, median, rounded } from '../measure.ts'
import { leaveRelayCore, RELAY_CORE } from '../relay-tools.ts'

const run = promisify(execFile)
const PACE_MS = 20
const TURNS = 5
const RATIO_MAX = 0.75

const columns = [
  ['direct', 'plain'],
  ['undici', 'plain'],
  ['direct', 'tls'],
  ['undici', 'tls'],
  ['undici', 'http2'],
] as const

export const bench: Bench = async ({ isFull, say }) => {
  await leaveRelayCore()
  const folder = await mkdtemp(join(tempRoot(), 'tollgate-transport-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await run('openssl', ['req', ...kind, '-days', '2', '-keyout', key, '-out', cert, ...subject])
  const upstream = fork(join(import.meta.dirname, 'upstream.ts'), [key, cert, String(PACE_MS)])
  try {
    const [ports] = (await once(upstream, 'message')) as [Record<string, number>]
    const samples = new Map<string, number[]>()
    const turn = async (carrier: string, over: string, events: number) => {
      const plan = {
        carrier,
        url: `${over === 'plain' ? 'http' : 'https'}://localhost:${ports[over]}`,
        http2: over === 'http2',
        ca: cert,
        connections: events > 0 ? 100 : 64,
        events,
        warmMs: 1_500,
        ms: isFull ? 6_000 : 3_000,
      }
      const program = [process.execPath, join(import.meta.dirname, 'client.ts')]
      const { stdout } = await run('taskset', ['-c', RELAY_CORE, ...program, JSON.stringify(plan)])
      const seen = JSON.parse(stdout) as Record<'us' | 'requests' | 'events' | 'failed', number>
      if (seen.failed > 0) throw new Error(`${carrier} ${over}: ${seen.failed} failed`)
      const per = seen.us / (events > 0 ? seen.events : seen.requests)
      const name = `${carrier} ${over} ${events > 0 ? 'event' : 'request'}`
      samples.set(name, [...(samples.get(name) ?? []), per])
      say(`${name}: ${per.toFixed(1)} µs (${Math.round(events > 0 ? seen.events : seen.requests)})`)
    }
    for (let i = 0; i < TURNS; i++) {
      for (const events of [0, 100]) {
        for (const [carrier, over] of columns) await turn(carrier, over, events)
      }
    }
    const figures = Object.fromEntries([...samples].map(([name, list]) => [name, median(list)]))
    for (const what of ['request', 'event']) {
      for (const over of ['plain', 'tls']) {
        const undici = samples.get(`undici ${over} ${what}`) ?? []
        const direct = samples.get(`direct ${over} ${what}`) ?? []
        const ratios = direct.map((us, i) => us / (undici[i] ?? Number.NaN))
        figures[`direct / undici ${over} ${what}`] = median(ratios)
      }
    }
    for (const [name, value] of Object.entries(figures))
      say(`${name.padEnd(32)} ${value.toFixed(2)}`)
    const failed = ['request', 'event']
      .map((what) => `direct / undici tls ${what}`)
      .filter((name) => !((figures[name] ?? Number.NaN) <= RATIO_MAX))
      .map((name) => `${name} is ${figures[name]}, its gate is ${RATIO_MAX}`)
    return { figures: rounded(figures), failed: isFull ? failed : [] }
  } finally {
    upstream.disconnect()
    await rm(folder, { recursive: true, force: true })
  }
}
