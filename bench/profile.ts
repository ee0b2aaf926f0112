// Where our gateway's CPU time goes: the real `serve` under Node's sampling profiler while plain
// requests run at full load, and again while 300 paced streams are open. Prints the functions with
// the most time of their own, and the time of each file or package. It has no gates.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../tools/free-port.ts'
import { tempRoot } from '../tools/postgres-binaries.ts'
import type { Bench } from './measure.ts'
import { rounded } from './measure.ts'
import { largeBody, type RequestFiles, smallBody, writeRequests } from './relay-requests.ts'
import { createGround, startRelay } from './relay-servers.ts'
import { compileTools, type Load, leaveRelayCore } from './relay-tools.ts'

const ACCOUNTS = 1_000
const TOP = 25
/** Shows functions that take microseconds; the profiler itself then uses a few percent. */
const INTERVAL_US = 250
const PACED = { paceMs: 20, events: 100 }

type Profile = {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { functionName: string; url: string; lineNumber: number }
  }[]
  readonly startTime: number
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** A period by the machine's monotonic clock, in microseconds. */
type Window = { readonly name: string; fromUs: number; toUs: number }

export const bench: Bench = async ({ isFull, say }) => {
  await leaveRelayCore()
  const folder = await mkdtemp(join(tempRoot(), 'tollgate-profile-'))
  const ended: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    const tools = await compileTools(folder)
    const stubPort = await freePort()
    const stub = await tools.startStub(stubPort)
    ended.push(stub.stop)
    const ground = await createGround(folder, stubPort, ACCOUNTS)
    ended.push(ground.end)
    const directory = join(folder, 'profiles')
    const flags = ['--cpu-prof', `--cpu-prof-dir=${directory}`]
    const ours = await startRelay('ours', ground, [...flags, `--cpu-prof-interval=${INTERVAL_US}`])
    ended.push(ours.stop)
    const { keys } = ground
    const requests = (name: string, body: string, pace?: typeof PACED) =>
      writeRequests(folder, name, { body, keys, ...(pace === undefined ? {} : { pace }) })
    const load = (files: RequestFiles, plan: Partial<Load>) =>
      tools.load({
        mode: 'closed',
        port: ours.port,
        files,
        connections: 64,
        rate: 10_000,
        warm: 1,
        seconds: isFull ? 20 : 8,
        watched: [],
        ...plan,
      })
    const small = await requests('small', smallBody(false))
    await load(small, { connections: 32, seconds: 6 }) // every key is verified by then
    const windows: Window[] = []
    const watch = async (name: string, files: RequestFiles, plan: Partial<Load> = {}) => {
      const window = { name, fromUs: 0, toUs: 0 }
      const onBegin = () => {
        window.fromUs = nowUs()
      }
      const loaded = await load(files, { ...plan, onBegin })
      window.toUs = nowUs()
      windows.push(window)
      if (loaded.errors > 0) throw new Error(`${loaded.errors} errors: ${loaded.error}`)
    }
    await watch('plain', small)
    await watch('plain, 46 KB', await requests('large', largeBody()))
    const paced = await requests('paced', smallBody(true), PACED)
    const streams = { mode: 'streams', connections: 300, rate: 300, warm: 2.5 } as const
    await watch('streams', paced, { ...streams, events: PACED.events })
    await ours.stop()
    const profile = await servingProfile(directory)
    const figures = Object.assign({}, ...windows.map((window) => report(profile, window, say)))
    return { figures: rounded(figures), failed: [] }
  } finally {
    for (const end of ended.reverse()) await end()
  }
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

/** Picks the largest profile: the fleet's parent writes one too, which is far smaller. */
async function servingProfile(directory: string): Promise<Profile> {
  const texts = await Promise.all(
    (await readdir(directory)).map((name) => readFile(join(directory, name), 'utf8')),
  )
  const largest = texts.sort((a, b) => b.length - a.length)[0]
  if (largest === undefined) throw new Error('the gateway left no profile')
  return JSON.parse(largest) as Profile
}

function report(profile: Profile, window: Window, say: (text: string) => void) {
  const frames = new Map(profile.nodes.map((node) => [node.id, node.callFrame]))
  const functions = new Map<string, number>()
  const groups = new Map<string, number>()
  const add = (map: Map<string, number>, key: string, us: number) =>
    map.set(key, (map.get(key) ?? 0) + us)
  let atUs = profile.startTime
  let busyUs = 0
  for (const [i, id] of profile.samples.entries()) {
    const spentUs = profile.timeDeltas[i + 1] ?? 0
    atUs += profile.timeDeltas[i] ?? 0
    const frame = frames.get(id)
    if (atUs < window.fromUs || atUs > window.toUs || frame === undefined) continue
    if (frame.functionName === '(idle)') continue
    const place = placeOf(frame.url)
    const name = frame.functionName || '(anonymous)'
    busyUs += spentUs
    add(functions, `${name}  ${place}${place === '' ? '' : `:${frame.lineNumber + 1}`}`, spentUs)
    add(groups, place === '' ? name : groupOf(place), spentUs)
  }
  const top = (map: Map<string, number>, count: number) =>
    [...map].sort((a, b) => b[1] - a[1]).slice(0, count)
  const percent = (us: number) => `${((us / busyUs) * 100).toFixed(1).padStart(5)} %  `
  say(`\n${window.name}: own time by function, of ${(busyUs / 1e6).toFixed(2)} s busy`)
  for (const [key, us] of top(functions, TOP)) say(percent(us) + key)
  say(`${window.name}: by file or package`)
  for (const [key, us] of top(groups, TOP)) say(percent(us) + key)
  const share = (us: number) => (us / busyUs) * 100
  return Object.fromEntries(
    top(groups, TOP).map(([key, us]) => [`${window.name}: ${key}`, share(us)]),
  )
}

/** A file of ours, a package's file, or a part of Node. */
function placeOf(url: string): string {
  const inPackage = url.split('/node_modules/').at(-1)
  if (url.includes('/node_modules/') && inPackage !== undefined) return inPackage
  const ours = url.indexOf('/src/')
  return ours === -1 ? url : url.slice(ours + 1)
}

function groupOf(place: string): string {
  if (place.startsWith('src/') || place.startsWith('node:')) return place
  const parts = place.split('/')
  return parts.slice(0, place.startsWith('@') ? 2 : 1).join('/')
}
