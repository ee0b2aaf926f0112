// The reader of the log stands still for longer than the 5 s after which a process counts as
// frozen, while requests arrive: each is answered, no process dies, and when the reader reads
// again, it gets the line of every request.
import { Pool } from 'undici'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../../stages/served/gateway.ts'
import { type Drill, ensure, percentile, sleep } from '../../support/drill.ts'
import { startLoad } from './watchers.ts'

const PROCESSES = 2
/** Their lines are more than the 200 KB that the kernel keeps for the reader. */
const CHEAP_REQUESTS = 1_000
const UNREAD_BYTES_MIN = 300_000

export const drill: Drill = async ({ isFull, say }) => {
  const stage = await createGatewayStage(10)
  const vendor = await startVendor({ requestsMax: 100_000 })
  try {
    let bytes = 0
    const serving = await stage.serve({
      GATEWAY_PROCESSES: String(PROCESSES),
      UPSTREAM_URL: vendor.url,
    })
    const { stdout } = serving.parent
    stdout?.on('data', (chunk: Buffer) => (bytes += chunk.length))
    const members = serving.members()
    const readBefore = bytes
    stdout?.pause()
    await askCheaply(serving.url, stage.keys)
    const load = startLoad(serving.url, stage.keys, 20)
    await sleep(isFull ? 15_000 : 7_000)
    await load.stop()
    const readMeanwhile = bytes - readBefore
    const failed = load.sent.filter(({ answer }) => !answer?.isWhole)
    say(`${load.sent.length} requests while nobody read, ${failed.length} of them failed`)
    ensure(failed.length === 0, `every request is answered (${failed[0]?.answer?.error})`)
    stdout?.resume()
    await serving.until('request', CHEAP_REQUESTS + load.sent.length)
    const unread = bytes - readBefore - readMeanwhile
    ensure(unread > UNREAD_BYTES_MIN, `the kernel could not keep what was logged (${unread})`)
    ensure(serving.members().join() === members.join(), 'no process was replaced')
    ensure(serving.said('a process died; starting another') === 0, 'no process died')
    ensure((await serving.stop()) === 0, 'the gateway exits with 0')
    await stage.check()
    const tookMs = load.sent.map((one) => one.tookMs)
    return {
      requests: load.sent.length,
      failed: failed.length,
      unreadBytes: unread,
      msP50: Math.round(percentile(tookMs, 0.5)),
      msMax: Math.round(Math.max(...tookMs)),
    }
  } finally {
    await vendor.close()
    await stage.end()
  }
}

/** Eight clients, each with one connection. */
async function askCheaply(url: string, keys: readonly string[]): Promise<void> {
  const pool = new Pool(url, { connections: 8, pipelining: 1 })
  const asked = Array.from({ length: CHEAP_REQUESTS }, async (_, i) => {
    const headers = { 'x-api-key': keys[i % keys.length] as string }
    const { statusCode, body } = await pool.request({ method: 'GET', path: '/v1/me', headers })
    await body.dump()
    ensure(statusCode === 200, `a cheap request is answered (${statusCode})`)
  })
  await Promise.all(asked)
  await pool.destroy()
}
