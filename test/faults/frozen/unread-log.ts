// The reader of the log stands still for longer than the 5 s after which a process counts as frozen,
// while requests arrive: each is answered, no process dies, and when the reader reads again, it gets
// the line of every request.
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../../stages/served/gateway.ts'
import { type Drill, ensure, percentile, sleep } from '../../support/drill.ts'
import { startLoad } from './watchers.ts'

const PROCESSES = 2
/** Above the 200 KB that the kernel keeps for the reader. */
const UNREAD_BYTES_MIN = 400_000

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
    const load = startLoad(serving.url, stage.keys, 100)
    await sleep(isFull ? 15_000 : 8_000)
    await load.answered()
    const readMeanwhile = bytes - readBefore
    await load.stop()
    const failed = load.sent.filter(({ answer }) => !answer?.isWhole)
    say(`${load.sent.length} requests while nobody read, ${failed.length} of them failed`)
    ensure(failed.length === 0, `every request is answered (${failed[0]?.answer?.error})`)
    stdout?.resume()
    await serving.until('request', load.sent.length)
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
