// Thousands of slow streams at once in one gateway process: none fails, all are charged, and the
// program prints the memory per stream. Stand-in and client are separate processes: a process may
// have 20,000 open files here, and the gateway needs two for each stream.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePorts } from '../../tools/free-port.ts'
import { createGatewayStage, type Serving } from '../stages/served/gateway.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, sleep } from '../support/drill.ts'
import { residentBytes } from './support/resident.ts'
import type { HolderNews, HolderTask } from './support/stream-holder.ts'

/** Besides streams: the database, the log, the parent, the port. */
const FILES_SPARE = 200
/** How long all streams are open at the same time. */
const TOGETHER_MS = 10_000

export const drill: Drill = async ({ isFull, say }) => {
  const streams = isFull ? 9_000 : 500
  const stage = await createGatewayStage(50)
  const [port] = await freePorts(1)
  const vendor = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../stand-ins/vendor/serve.ts'), '--port', String(port)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const holder: { child?: ChildProcess } = {}
  try {
    await once(vendor.stdout, 'data')
    const serving = await stage.serve({
      GATEWAY_PROCESSES: '1',
      UPSTREAM_URL: `http://127.0.0.1:${port}`,
      UPSTREAM_CONNECTIONS: String(streams + 100),
    })
    const [member] = serving.members()
    ensure(member !== undefined, 'one process serves')
    const files = await filesMax(member)
    ensure(files >= streams * 2 + FILES_SPARE, `the process may open enough files (${files})`)
    const before = await residentBytes(member)
    const rampMs = isFull ? 20_000 : 2_000
    const news = await holdStreams({ url: serving.url, keys: stage.keys, streams, rampMs }, holder)
    const peak = await watchPeak(member, news.open)
    say(`${streams} streams open: ${(peak / 2 ** 20).toFixed(0)} MiB resident`)
    const { whole, errors, firstError, delayP99Ms } = await news.over
    ensure(errors === 0, `no stream fails (${errors} did, the first: ${firstError})`)
    ensure(whole === streams, `every stream is complete (${whole})`)
    const settled = await settle(serving, stage, streams)
    const kibPerStream = Number(((peak - before) / streams / 1_024).toFixed(1))
    return {
      streams,
      ...settled,
      errors,
      kibPerStream,
      peakMiB: Math.round(peak / 2 ** 20),
      delayP99Ms,
    }
  } finally {
    holder.child?.kill('SIGKILL')
    vendor.kill('SIGKILL')
    await stage.end()
  }
}

/** Starts the client. `open` resolves when all streams are open, `over` with the results. */
async function holdStreams(
  task: Omit<HolderTask, 'togetherMs'>,
  holder: { child?: ChildProcess },
): Promise<{ open: Promise<unknown>; over: Promise<Extract<HolderNews, { kind: 'over' }>> }> {
  const file = join(import.meta.dirname, 'support/stream-holder.ts')
  const argument = JSON.stringify({ ...task, togetherMs: TOGETHER_MS } satisfies HolderTask)
  const child = spawn(process.execPath, [file, argument], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  holder.child = child
  const open = Promise.withResolvers<void>()
  const over = Promise.withResolvers<Extract<HolderNews, { kind: 'over' }>>()
  child.on('message', (news: HolderNews) => {
    if (news.kind === 'open') open.resolve()
    else {
      open.resolve() // some streams never opened; `news` has the first error
      over.resolve(news)
    }
  })
  child.once('exit', (code) => {
    const error = new Error(`the client ended with ${code}`)
    open.reject(error)
    over.reject(error)
  })
  over.promise.catch(() => undefined)
  return { open: open.promise, over: over.promise }
}

/** The most memory that was resident while all streams were open. */
async function watchPeak(pid: number, open: Promise<unknown>): Promise<number> {
  await open
  let peak = 0
  for (const endMs = performance.now() + TOGETHER_MS / 2; performance.now() < endMs; ) {
    peak = Math.max(peak, await residentBytes(pid))
    await sleep(200)
  }
  return peak
}

async function settle(
  serving: Serving,
  stage: Awaited<ReturnType<typeof createGatewayStage>>,
  streams: number,
) {
  ensure((await serving.stop()) === 0, 'the gateway exits with 0')
  const charges = await stage.charges()
  const charged = [...charges.values()].reduce((sum, one) => sum + one.count, 0)
  ensure(charged === streams, `each stream is charged once (${charged})`)
  const { swept } = await stage.check()
  ensure(swept === 0, `the sweep finds no open hold (${swept})`)
  return { charged }
}

async function filesMax(pid: number): Promise<number> {
  const limits = await readFile(`/proc/${pid}/limits`, 'utf8')
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1])
}
