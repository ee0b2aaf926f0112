// A drain reaches its time limit while streams run: it cuts them. Each is free, its entry and its
// line of the request log say that it was drained, with bytes and time, and no client sees an end
// that looks complete. Clients that left before pay; replies that end within the limit are whole.
import { Agent } from 'undici'
import { holdIdOf } from '../../../src/platform/ids.ts'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { type Answer, call } from '../support/gateway-caller.ts'

const DRAIN_SECONDS = 1
/** After the limit: the last settlements, and the end of the processes. */
const EXIT_MS_MAX = 8_000

type Entry = {
  readonly hold: string
  readonly ending: string
  readonly amount: string
  readonly bytes: number | null
  readonly ms: number | null
  readonly isStream: boolean | null
}
type LogLine = { readonly [member: string]: unknown }

export const drill: Drill = async ({ isFull, say }) => {
  const streams = isFull ? 200 : 40
  const others = isFull ? 20 : 5
  const stage = await createGatewayStage(10)
  const vendor = await startVendor({ requestsMax: 10_000 })
  const agent = new Agent({ connections: null })
  const leavers = new Agent({ connections: null })
  const log = new Map<string, LogLine>()
  try {
    const env = {
      ...{
        GATEWAY_PROCESSES: isFull ? '2' : '1',
        UPSTREAM_URL: vendor.url,
        UPSTREAM_CONNECTIONS: '1024',
      },
      ...{ GATEWAY_DRAIN_SECONDS: String(DRAIN_SECONDS), GATEWAY_DRAIN_IDLE_SECONDS: '0' },
    }
    const serving = await stage.serve(env, undefined, (line) => {
      if (line.msg === 'request') log.set(String(line.request), line)
    })
    let number = 0
    let begun = 0
    const begin = () => {
      begun += 1
    }
    const ask = (by: Agent, count: number, isStream: boolean, reply: string, fault: string) =>
      Array.from({ length: count }, (_, i) => {
        number += 1
        const key = stage.keys[i % stage.keys.length] as string
        return call(by, serving.url, { number, key, isStream, reply, fault }, begin)
      })
    const cut = ask(agent, streams, true, 'text 4000', 'pace-ms=100')
    const plain = ask(agent, others, false, 'text 4', 'headers-ms=forever')
    const left = ask(leavers, others, true, 'text 40', 'silence-after=9')
    await vendor.until((all) => all.length >= streams + 2 * others, 60_000)
    for (let i = 0; i < 3_000 && begun < streams + others; i++) await sleep(10)
    await leavers.destroy()
    const whole = ask(agent, others, true, 'text 4', 'pace-ms=20')
    await vendor.until((all) => all.length >= streams + 3 * others, 60_000)
    const fromMs = performance.now()
    ensure((await serving.stop()) === 0, 'the gateway exits with 0')
    const exitMs = performance.now() - fromMs
    const answers = { cut: await Promise.all(cut), whole: await Promise.all(whole) }
    await Promise.all([...plain, ...left])
    const entries = await readEntries(stage)
    judgeCut(answers.cut, entries, log)
    judgeOthers(answers.whole, entries, { streams, others }, log)
    const { swept } = await stage.check()
    ensure(swept === 0, `the drain leaves no open hold (${swept})`)
    say(`${streams} streams were cut, exit after ${Math.round(exitMs)} ms`)
    const limitMs = DRAIN_SECONDS * 1_000 + EXIT_MS_MAX
    if (isFull) ensure(exitMs < limitMs, `the gateway exits after its limit (${exitMs} ms)`)
    const drained = [...entries.values()].filter(({ ending }) => ending === 'drained').length
    return { streams, drained, left: others, whole: others, exitMs: Math.round(exitMs) }
  } finally {
    await agent.destroy()
    await vendor.close()
    await stage.end()
  }
}

async function readEntries(stage: Awaited<ReturnType<typeof createGatewayStage>>) {
  const { rows } = await stage.database.db.query(
    `select hold_id as hold, ending::text as ending, amount::text as amount, bytes_out as bytes,
       total_ms as ms, streamed as "isStream"
     from entries where kind in ('charge', 'void')`,
  )
  return new Map((rows as Entry[]).map((row) => [row.hold, row]))
}

function judgeCut(
  cut: readonly Answer[],
  entries: ReadonlyMap<string, Entry>,
  log: ReadonlyMap<string, LogLine>,
): void {
  for (const { requestId, status, isWhole, error } of cut) {
    ensure(status === 200 && !isWhole, `a cut stream had begun and has no end (${status})`)
    ensure(!/^error event/.test(error ?? ''), `it is not reported as a failure (${error})`)
    const entry = entries.get(holdIdOf(requestId) ?? '')
    ensure(entry?.ending === 'drained', `the entry says drained (${entry?.ending})`)
    ensure(entry.amount === '0', `a drained stream is free (${entry.amount})`)
    ensure((entry.bytes ?? 0) > 0 && (entry.ms ?? 0) > 0, 'the entry has bytes and time')
    const line = log.get(requestId)
    ensure(line?.ending === 'drained', `the log says drained (${line?.ending})`)
    ensure(Number(line.bytesOut) > 0 && Number(line.totalMs) > 0, 'the log has bytes and time')
  }
}

function judgeOthers(
  whole: readonly Answer[],
  entries: ReadonlyMap<string, Entry>,
  { streams, others }: { streams: number; others: number },
  log: ReadonlyMap<string, LogLine>,
): void {
  for (const { requestId, isWhole, error } of whole) {
    ensure(isWhole, `a reply that ends within the limit is whole (${error})`)
    const ending = entries.get(holdIdOf(requestId) ?? '')?.ending
    ensure(ending === 'complete', `and charged as complete (${ending})`)
  }
  const all = [...entries.values()]
  const left = all.filter(({ ending }) => ending === 'client_left')
  ensure(left.length === others, `clients that left pay as such (${left.length} of ${others})`)
  ensure(
    left.every(({ amount }) => BigInt(amount) < 0n),
    'they are charged for what was generated',
  )
  const waiting = all.filter(({ ending, isStream }) => ending === 'drained' && isStream === false)
  ensure(waiting.length === others, `plain requests are drained, too (${waiting.length})`)
  ensure(entries.size === streams + 3 * others, `each request has one entry (${entries.size})`)
  for (const ending of ['drained', 'client_left', 'complete']) {
    const inLog = [...log.values()].filter((line) => line.ending === ending).length
    const inLedger = all.filter((entry) => entry.ending === ending).length
    ensure(inLog === inLedger, `log and ledger agree on ${ending} (${inLog}, ${inLedger})`)
  }
}
