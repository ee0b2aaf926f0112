// Measures the requests of one account, calm and while two others, one without credits and one with
// many, each do their worst over 64 connections: every request must succeed, and in the full form
// as fast as in the calm.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import { freePorts } from '../../../tools/free-port.ts'
import { createGatewayStage, type Serving } from '../../stages/served/gateway.ts'
import { ensure, type Figures, percentile, sleep } from '../../support/drill.ts'
import { call } from './gateway-caller.ts'
import type { HogTask } from './hog.ts'

/** What the third account's 99th percentile may rise by. */
const RISE_MS_MAX = 25
const PAUSE_MS = 10
const HOG_START_MS = 2_000
/**
 * The priority of the hogs and of their vendor, which would run on other machines: here they would
 * take the processors from the gateway that is measured.
 */
const ELSEWHERE = 19
const VENDOR_KEY = 'stand-in-key-of-hogs'

export type HogKinds = HogTask['kinds']

export async function besideHogs(options: {
  readonly isFull: boolean
  readonly kinds: HogKinds
  say(text: string): void
  /** Called in the middle of each attack. */
  look?(serving: Serving): Promise<void>
}): Promise<Figures> {
  const { isFull, kinds, say, look = async () => undefined } = options
  // Calm and attack alternate, so that other load on the machine meets both.
  const rounds = isFull ? 4 : 1
  const seconds = isFull ? 15 : 4
  const calmMs = isFull ? 5_000 : 1_000
  const stage = await createGatewayStage(2, 1)
  // In processes of their own, where their work does not delay what is measured. One for each
  // model: the stand-in takes half a second to read 32 MiB, in which it answers nobody.
  const vendors = await Promise.all(['model-large', 'model-small'].map(startVendor))
  setPriority(vendors[1]?.child.pid ?? 0, ELSEWHERE)
  const agent = new Agent()
  try {
    const file = join(stage.spoolDirectory, 'upstreams.yaml')
    await writeFile(file, `upstreams:\n${vendors.map(({ entry }) => entry).join('')}`)
    const serving = await stage.serve({ GATEWAY_PROCESSES: '1', UPSTREAM_FILE: file, VENDOR_KEY })
    const [customer, rich, poor] = stage.keys as [string, string, string]
    const port = Number(new URL(serving.url).port)
    const pay = createPayer(agent, serving, customer)
    await pay(sleep(calmMs))
    const [calm, attacked]: [number[], number[]] = [[], []]
    for (let round = 1; round <= rounds; round++) {
      calm.push(...(await pay(sleep(calmMs))))
      const beginMs = Date.now() + HOG_START_MS
      const hogs = [poor, rich].map((key) => startHog({ port, key, beginMs, seconds, kinds }))
      await sleep(HOG_START_MS)
      const looked = sleep((seconds * 1_000) / 2).then(() => look(serving))
      attacked.push(...(await pay(Promise.all(hogs))))
      await looked
      const counts = await Promise.all(hogs)
      say(`round ${round}: ${counts.map((one) => JSON.stringify(one)).join(' ')}`)
    }
    ensure((await serving.stop()) === 0, 'the gateway exits with 0 afterwards')
    await stage.check()
    const figures = figuresOf(rounds * seconds, calm, attacked)
    say(JSON.stringify(figures))
    const { p99Ms, calmP99Ms } = figures
    const promise = `p99 is at most 25 ms above the calm one (${p99Ms}, calm ${calmP99Ms} ms)`
    ensure(!isFull || p99Ms <= calmP99Ms + RISE_MS_MAX, promise)
    return figures
  } finally {
    await agent.destroy()
    for (const { child } of vendors) child.kill('SIGKILL')
    await stage.end()
  }
}

function figuresOf(seconds: number, calm: readonly number[], attacked: readonly number[]) {
  const ms = (sample: readonly number[], share: number) => Math.round(percentile(sample, share))
  return {
    seconds,
    requests: attacked.length,
    calmP50Ms: ms(calm, 0.5),
    p50Ms: ms(attacked, 0.5),
    calmP99Ms: ms(calm, 0.99),
    p99Ms: ms(attacked, 0.99),
    mostMs: ms(attacked, 1),
  }
}

async function startVendor(model: string) {
  const [port] = await freePorts(1)
  const file = join(import.meta.dirname, '../../../stand-ins/vendor/serve.ts')
  const child = spawn(process.execPath, [file, '--port', String(port), '--key', VENDOR_KEY], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const entry = `  - name: ${model}
    url: http://127.0.0.1:${port}
    models: [${model}]
    keys: [env:VENDOR_KEY]
`
  return { child, entry }
}

/** Resolves with the counts of the hog's answers. */
async function startHog(task: HogTask): Promise<Record<string, number>> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'hog.ts'), JSON.stringify(task)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  setPriority(child.pid ?? 0, ELSEWHERE)
  const output: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
  await once(child, 'close')
  return JSON.parse(output.join('')) as Record<string, number>
}

/** Sends one message after the other until the promise settles; each must succeed. */
function createPayer(agent: Agent, { url }: Serving, key: string) {
  const numbers = { last: 0 }
  return async (until: Promise<unknown>): Promise<number[]> => {
    const tookMs: number[] = []
    const state = { isOver: false }
    void until.finally(() => {
      state.isOver = true
    })
    while (!state.isOver) {
      numbers.last += 1
      const isStream = numbers.last % 2 === 0
      const fromMs = performance.now()
      const answer = await call(agent, url, { number: numbers.last, key, isStream })
      tookMs.push(performance.now() - fromMs)
      ensure(answer.isWhole, `every request of the third account succeeds (${answer.error})`)
      await sleep(PAUSE_MS)
    }
    return tookMs
  }
}
