// op upstreams: what all processes see of the upstreams, and the operator's word on them. A change
// is kept in the database with who made it; every process takes it up within two seconds, and
// requests under way go on.
import { userInfo } from 'node:os'
import type { UpstreamLine, Upstreams } from '../upstreams/upstreams.ts'
import { confirm } from './confirm.ts'
import { jsonText, type OperatorRooms } from './rooms.ts'

/** A mistake in what was typed, as commander's own. */
const EXIT_USAGE = 2
/** A share among equals; larger numbers say nothing more. */
const WEIGHT_MAX = 1_000_000

export async function listUpstreams({ upstreams }: OperatorRooms, json: boolean): Promise<number> {
  const lines = await upstreams.overview()
  if (json) console.log(jsonText({ upstreams: lines }))
  else for (const row of table(lines)) console.log(row)
  return 0
}

export type Change =
  | { readonly verb: 'drain' | 'undrain' }
  | { readonly verb: 'weight'; readonly weight: string }

/** Exit 1 when it was not confirmed, 2 for a name or a weight that there is not. */
export async function changeUpstream(
  { upstreams }: OperatorRooms,
  json: boolean,
  asked: { readonly name: string; readonly change: Change; readonly isYes: boolean },
): Promise<number> {
  const { name, change } = asked
  const lines = await upstreams.overview()
  const mine = lines.find((line) => line.upstream === name && line.isConfigured)
  if (mine === undefined) {
    const names = new Set(lines.flatMap((line) => (line.isConfigured ? [line.upstream] : [])))
    console.error(`there is no upstream ${name}; there are: ${[...names].join(', ')}`)
    return EXIT_USAGE
  }
  const next = settingOf(change)
  if (next === undefined) {
    console.error(`a weight is a whole number from 0 to ${WEIGHT_MAX}`)
    return EXIT_USAGE
  }
  if (isAlready(mine, next)) return say(json, { name, isChanged: false }, `${name} is so already`)
  if (!(await confirm(planOf(lines, mine, next), asked.isYes))) {
    return say(json, { name, isChanged: false }, 'nothing was changed', 1)
  }
  await upstreams.change({ name, ...next, by: userInfo().username })
  return say(json, { name, isChanged: true, ...next }, 'done; every process knows in two seconds')
}

type Setting = Omit<Parameters<Upstreams['change']>[0], 'name' | 'by'>

/** Null leaves a member as it is; undefined: the weight is none. */
function settingOf(change: Change): Setting | undefined {
  if (change.verb !== 'weight') return { weight: null, isDrained: change.verb === 'drain' }
  const weight = /^\d{1,7}$/.test(change.weight) ? Number(change.weight) : Number.NaN
  return weight <= WEIGHT_MAX ? { weight, isDrained: null } : undefined
}

function isAlready(mine: UpstreamLine, { weight, isDrained }: Setting): boolean {
  return weight === null ? mine.isDrained === isDrained : mine.weight === weight
}

function planOf(
  lines: readonly UpstreamLine[],
  mine: UpstreamLine,
  { weight, isDrained }: Setting,
): string[] {
  const own = lines.filter((line) => line.upstream === mine.upstream)
  const underWay = own.reduce((sum, line) => sum + line.underWay, 0)
  const plan = [`${mine.upstream}, ${own.length} credentials, ${underWay} requests under way`]
  if (mine.changedBy !== null) plan.push(`  last changed by ${mine.changedBy}, ${mine.changedAt}`)
  if (weight !== null) plan.push(`  its weight becomes ${weight}; now it is ${mine.weight}`)
  if (isDrained === false) plan.push('  it gets new requests again')
  if (isDrained !== true && weight !== 0) return plan
  if (isDrained === true) plan.push('  it gets no new request; those under way go on')
  const others = lines.filter(
    (line) => line.upstream !== mine.upstream && line.weight > 0 && !line.isDrained,
  )
  const names = [...new Set(others.map((line) => line.upstream))]
  if (names.length > 0) plan.push(`  in use remain: ${names.join(', ')}`)
  else plan.push('  NO OTHER IS IN USE: every request will be refused with 529')
  return plan
}

function say(json: boolean, result: object, sentence: string, code = 0): number {
  console.log(json ? jsonText(result) : sentence)
  return code
}

const HEAD = [
  'target',
  'state',
  'under way',
  'succeeded',
  'failed',
  'weight',
  'drained',
  'processes',
]

function table(lines: readonly UpstreamLine[]): string[] {
  const rows = lines.map((line) => [
    line.target,
    line.isConfigured ? line.state : `${line.state}, not configured here`,
    ...[line.underWay, line.succeeded, line.failed, line.weight].map(String),
    line.isDrained ? 'yes' : 'no',
    String(line.processes),
  ])
  const all = [HEAD, ...rows]
  const widthOf = (column: number) => Math.max(...all.map((row) => row[column]?.length ?? 0))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widthOf(column)))
      .join('  ')
      .trimEnd(),
  )
}
