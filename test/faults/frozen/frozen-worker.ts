// Frozen, killed and crashing processes of `serve` under load. Each is replaced; `/readyz` fails
// when and only when no process takes requests; a request that had not begun on a process that died
// is answered by another; counters never fall. The full form repeats it, with event loops that
// block, and with all processes frozen at once.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startVendor } from '../../../stand-ins/vendor/vendor.ts'
import { createGatewayStage, isAlive, type Serving } from '../../stages/served/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, percentile, sleep } from '../../support/drill.ts'
import {
  createCounterCheck,
  type Load,
  type Look,
  type Sent,
  startLoad,
  startLooks,
} from './watchers.ts'

const PROCESSES = 2
const SPOIL = pathToFileURL(join(import.meta.dirname, 'spoil-process.ts')).href
const NONE = 'no process takes requests\n'
/** A busy machine of CI starts a process in 30 s. */
const WAIT_MS_MAX = 90_000
/** The parent needs 5 s to call a process frozen, and a tick of its own. */
const FROZEN_MS_MAX = 6_000

type Scene = {
  readonly serving: Serving
  readonly crashFile: string
  readonly looks: Look[]
  /** Moments at which a process stopped or was killed. */
  readonly faultsMs: number[]
  readonly frozenMs: number[]
}

export const drill: Drill = async ({ isFull, say }) => {
  const stage = await createGatewayStage(10)
  const vendor = await startVendor({ requestsMax: 100_000 })
  const crashFile = join(stage.spoolDirectory, '..', `tollgate-crash-${process.pid}`)
  try {
    const serving = await stage.serve({
      GATEWAY_PROCESSES: String(PROCESSES),
      UPSTREAM_URL: vendor.url,
      NODE_OPTIONS: `--import=${SPOIL}`,
      SPOIL_CRASH: crashFile,
    })
    const scene: Scene = { serving, crashFile, looks: [], faultsMs: [], frozenMs: [] }
    const counters = createCounterCheck()
    const scrapesMs: number[] = []
    const load = startLoad(serving.url, stage.keys, isFull ? 60 : 30)
    const stopLooks = startLooks(`${serving.metricsUrl}/readyz`, 50, (look) => {
      scene.looks.push(look)
    })
    const stopScrapes = startLooks(`${serving.metricsUrl}/metrics`, 200, ({ body }, tookMs) => {
      scrapesMs.push(tookMs)
      counters.check(body)
    })
    await sleep(1_000)
    await load.answered() // the first request with a key waits for its check
    await breakEachWay(scene, say)
    for (let round = 0; isFull && round < 3; round++) {
      await load.answered()
      await freezeAll(scene, say)
      await load.answered()
      await freezeOne(scene, load, say)
      await load.answered()
      await breakEachWay(scene, say)
    }
    await sleep(500)
    await load.stop()
    await stopLooks()
    await stopScrapes()
    const begun = new Set(vendor.requests.map(({ body }) => numberOf(`${body}`)))
    const { lost, cut } = checkRequests(load.sent, scene.faultsMs, begun, isFull ? 250 : 2_000)
    const charges = await stage.charges()
    for (const { number, answer } of load.sent) {
      const count = charges.get(number)?.count ?? 0
      ensure(!answer?.isWhole || count === 1, `a complete reply is charged once (${number})`)
    }
    ensure((await serving.stop()) === 0, 'the gateway exits with 0')
    await stage.check()
    const figures = {
      requests: load.sent.length,
      lost,
      cut,
      inherited: counters.valueOf('gateway_connections_passed_on_total'),
      deaths: scene.faultsMs.length,
      frozenMsMax: Math.round(Math.max(...scene.frozenMs)),
      scrapeMsMax: Math.round(Math.max(...scrapesMs)),
      scrapeMsP50: Math.round(percentile(scrapesMs, 0.5)),
    }
    ensure(figures.inherited > 0, 'connections of dead processes were passed on')
    if (isFull) {
      ensure(figures.frozenMsMax < FROZEN_MS_MAX, `a frozen process ends (${figures.frozenMsMax})`)
      ensure(figures.scrapeMsMax < 1_000, `/metrics answers within 1 s (${figures.scrapeMsMax})`)
    }
    return figures
  } finally {
    await rm(crashFile, { force: true })
    await vendor.close()
    await stage.end()
  }
}

/** One process freezes, the other one is killed, and the first successor crashes at its start. */
async function breakEachWay(scene: Scene, say: (text: string) => void): Promise<void> {
  const { serving, crashFile, looks, faultsMs } = scene
  const [frozen = 0, killed = 0] = serving.members()
  const starts = serving.said('serving')
  const deaths = serving.said('a process died; starting another')
  const fromMs = performance.now()
  stop(scene, frozen, 'SIGSTOP')
  await sleep(1_000)
  await writeFile(crashFile, '')
  faultsMs.push(performance.now())
  process.kill(killed, 'SIGKILL')
  await serving.until('serving', starts + 1, WAIT_MS_MAX)
  const servingMs = performance.now()
  await isGone(scene, frozen, fromMs)
  // The killed process, the frozen one, and the one that crashed.
  await serving.until('a process died; starting another', deaths + 3, WAIT_MS_MAX)
  await serving.until('serving', starts + 2, WAIT_MS_MAX)
  const during = looks.filter(({ atMs }) => atMs > fromMs)
  const unready = during.filter(({ status }) => status !== 200)
  ensure(
    unready.every(({ atMs, body }) => body === NONE && atMs > fromMs + 1_000 && atMs < servingMs),
    `ready while a process takes requests (${JSON.stringify(unready.at(-1))})`,
  )
  say(`frozen, killed, crashed at its start: replaced; ${unready.length} looks found none ready`)
}

/** Both processes stop, one by a signal, the other in a loop: nobody takes requests. */
async function freezeAll(scene: Scene, say: (text: string) => void): Promise<void> {
  const { serving, looks } = scene
  const [frozen = 0, blocked = 0] = serving.members()
  const starts = serving.said('serving')
  const fromMs = performance.now()
  stop(scene, frozen, 'SIGSTOP')
  stop(scene, blocked, 'SIGUSR2')
  await Promise.all([isGone(scene, frozen, fromMs), isGone(scene, blocked, fromMs)])
  await serving.until('serving', starts + PROCESSES, WAIT_MS_MAX)
  const unready = looks.filter(({ atMs, status }) => atMs > fromMs && status !== 200)
  ensure(unready.length > 0, 'unready when no process takes requests')
  ensure(
    unready.every(({ body }) => body === NONE),
    `the body says why (${unready[0]?.body})`,
  )
  const untilMs = fromMs + 5_000
  ensure((unready[0]?.atMs ?? Number.NaN) < untilMs, 'unready within 5 s')
  say(`all frozen: unready after ${Math.round((unready[0]?.atMs ?? 0) - fromMs)} ms, replaced`)
}

/** The other process serves: what arrives on new connections is not delayed by the frozen one. */
async function freezeOne(scene: Scene, load: Load, say: (text: string) => void): Promise<void> {
  const { serving, looks } = scene
  const [blocked = 0] = serving.members()
  const starts = serving.said('serving')
  const fromMs = performance.now()
  stop(scene, blocked, 'SIGUSR2')
  await isGone(scene, blocked, fromMs)
  const goneMs = performance.now()
  await serving.until('serving', starts + 1, WAIT_MS_MAX)
  await load.answered()
  // After 2 s the parent calls it silent; from then on it gets nothing, long before 5 s.
  const late = load.sent.filter(
    ({ isNew, atMs }) => isNew && atMs > fromMs + 3_000 && atMs < goneMs,
  )
  const slowestMs = Math.round(Math.max(...late.map(({ tookMs }) => tookMs)))
  // What the silent process gets ends with its death, which is seen up to 100 ms later. On a busy
  // machine the other process may take a second too: what was sent in the last one proves nothing.
  const caught = late.filter(
    ({ atMs, tookMs }) => atMs < goneMs - 1_000 && atMs + tookMs > goneMs - 100,
  )
  ensure(
    late.length > 0 && caught.length === 0,
    `a silent process gets none (${caught.length} of ${late.length}, the slowest ${slowestMs} ms)`,
  )
  const unready = looks.filter(({ atMs, status }) => atMs > fromMs && status !== 200)
  ensure(unready.length === 0, 'ready while one process takes requests')
  say(`one blocked: ${late.length} new connections meanwhile, the slowest ${slowestMs} ms`)
}

function stop({ faultsMs }: Scene, pid: number, signal: NodeJS.Signals): void {
  faultsMs.push(performance.now())
  process.kill(pid, signal)
}

async function isGone({ frozenMs }: Scene, pid: number, fromMs: number): Promise<void> {
  while (isAlive(pid)) {
    ensure(performance.now() - fromMs < WAIT_MS_MAX, `a frozen process is killed (${pid})`)
    await sleep(10)
  }
  frozenMs.push(performance.now() - fromMs)
}

const numberOf = (body: string) => Number(/"content":"(\d+) /.exec(body)?.[1])

/**
 * A request may fail only if it was under way on a process that stopped or died: the upstream has
 * seen it, or it was sent so shortly before that the process may have begun with it.
 */
function checkRequests(
  sent: readonly Sent[],
  faultsMs: readonly number[],
  begun: ReadonlySet<number>,
  slackMs: number,
) {
  const failed = sent.filter(({ answer }) => !answer?.isWhole)
  const lost = failed.filter(
    ({ number, atMs }) =>
      !faultsMs.some(
        (faultMs) => atMs <= faultMs && (begun.has(number) || atMs > faultMs - slackMs),
      ),
  )
  const shown = lost.map(({ number, isNew, atMs, tookMs, answer }) => {
    const faultMs = faultsMs.find((one) => one >= atMs) ?? Number.NaN
    const { status, error } = answer ?? {}
    const when = `sent ${Math.round(faultMs - atMs)} ms before a fault`
    const end = `ended after ${Math.round(tookMs)} ms`
    return `${number} ${isNew ? 'new' : 'kept'} ${status} ${error}, ${when}, ${end}`
  })
  ensure(
    lost.length === 0,
    `no request is lost that had not begun (${lost.length} of ${sent.length}: ${shown.join('; ')})`,
  )
  return { lost: lost.length, cut: failed.length }
}
