// The places in a stream at which a client leaves, and the least and the most that it then owes by
// the published rules, computed only from the bytes that the upstream had sent.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  estimatedOutput,
  eventsOf,
  priceAfterDisconnect,
  priceOf,
  type SeenEvent,
} from '../../journeys/gateway/expected-charges.ts'

const RECORDINGS = join(import.meta.dirname, '../../recordings')

export type LeaveSample = { readonly name: string; readonly bytes: Buffer }

export type Leave = {
  /** Of the recording, and the kind of byte at which the client leaves. */
  readonly name: string
  readonly where: string
  /** What the upstream sends before the client leaves; undefined: not even its headers. */
  readonly first: Buffer | undefined
  /** What it sends afterwards. */
  readonly rest: Buffer
  readonly ending: 'client_left' | 'given_up'
  /** The reply's final counts are among the bytes. */
  readonly isReported: boolean
  readonly least: bigint
  readonly most: bigint
}

const NOTHING = Buffer.alloc(0)

export async function readLeaveSamples(): Promise<LeaveSample[]> {
  const names = (await readdir(RECORDINGS)).filter((name) => name.endsWith('.sse'))
  return Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(RECORDINGS, name)) })),
  )
}

/** One leave at each kind of byte, or also every `step` bytes. `isPatient` adds waits of 10 s. */
export function leavesOf({ name, bytes }: LeaveSample, step: number, isPatient: boolean): Leave[] {
  const started = eventsEnd(bytes, 'message_start')
  const early = leavesBeforeStart(name, bytes.subarray(0, started), isPatient)
  const seen = new Set<string>()
  const later: Leave[] = []
  for (let at = started; at <= bytes.length; at += 1) {
    const where = placeOf(bytes.subarray(0, at))
    if (seen.has(where) && (at - started) % step !== 0 && at !== bytes.length) continue
    seen.add(where)
    later.push(leaveAt(name, where, bytes.subarray(0, at)))
  }
  return [...early, ...later]
}

/** The start comes after the client has left, or never. */
function leavesBeforeStart(name: string, start: Buffer, isPatient: boolean): Leave[] {
  const usage = eventsOf(start).find((event) => event.message !== undefined)?.message?.usage ?? {}
  const price = priceOf({ ...usage, output_tokens: 0 })
  const cuts: (number | undefined)[] = [undefined, 0, 9, Math.floor(start.length / 2)]
  return cuts.flatMap((at) => {
    const first = at === undefined ? undefined : start.subarray(0, at)
    const where =
      at === undefined ? 'before headers' : at === 0 ? 'after headers' : 'in message_start'
    const common = { name, first, isReported: false }
    const paid = { ending: 'client_left', least: price, most: price } as const
    const free = { ending: 'given_up', least: 0n, most: 0n } as const
    return [
      { ...common, ...paid, where, rest: start.subarray(at ?? 0) },
      ...(isPatient ? [{ ...common, ...free, where: `${where}, for good`, rest: NOTHING }] : []),
    ]
  })
}

function leaveAt(name: string, where: string, first: Buffer): Leave {
  const events = eventsOf(first)
  const isReported = events.some((event) => event.delta?.stop_reason != null)
  const least = priceAfterDisconnect(events)
  // A record that is cut counts with the payload that it had, which is less than all of its bytes.
  const tail = first.length - endOfRecords(first)
  const most = isReported ? least : least + priceOf(laterPasses(events, first, tail))
  return { name, where, first, rest: NOTHING, ending: 'client_left', isReported, least, most }
}

function endOfRecords(bytes: Buffer): number {
  const text = bytes.toString('latin1')
  const ends = [...text.matchAll(/\r?\n\r?\n/g)]
  const last = ends.at(-1)
  return last === undefined ? 0 : last.index + last[0].length
}

function eventsEnd(bytes: Buffer, type: string): number {
  const text = bytes.toString('latin1')
  const at = text.indexOf(`"type":"${type}"`)
  const end = /\r?\n\r?\n/.exec(text.slice(at))
  return at + (end === null ? 0 : end.index + end[0].length)
}

/** At most: the cut record as output, and after each tool result everything once more. */
function laterPasses(events: readonly SeenEvent[], bytes: Buffer, tail: number) {
  const results = [...bytes.toString('latin1').matchAll(/_tool_result"/g)].length
  const start = events.find((event) => event.type === 'message_start')?.message?.usage ?? {}
  const first = (start.input_tokens ?? 0) + estimatedOutput(events)
  return {
    input_tokens: results * (first + Math.ceil(bytes.length / 3)),
    cache_read_input_tokens: results * (start.cache_read_input_tokens ?? 0),
    output_tokens: Math.ceil(tail / 3),
  }
}

/** The kind of the record that was cut, or of the one that has just ended. */
function placeOf(bytes: Buffer): string {
  const end = endOfRecords(bytes)
  const tail = bytes.subarray(end).toString('latin1')
  if (tail === '') return `after ${kindOf(lastRecord(bytes, end))}`
  return /\n|"type"/.test(tail) ? `in ${kindOf(tail)}` : 'in an event line'
}

function lastRecord(bytes: Buffer, end: number): string {
  const text = bytes.subarray(0, end).toString('latin1').trimEnd()
  return text.slice(Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n')) + 1)
}

function kindOf(record: string): string {
  const delta = /"type": ?"((?:text|thinking|signature|input_json)_delta)"/.exec(record)?.[1]
  return delta ?? /(?:event: ?|"type": ?")([a-z_]+)/.exec(record)?.[1] ?? 'a comment'
}
