// Reads the charge logs and the spools of directories, in parts: a busy day has gigabytes.
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { dateAt } from '../../platform/clock.ts'
import type { Credits } from '../../units/credits.ts'
import type { SettleInput } from '../calls.ts'
import { settleFromText } from '../settle-text.ts'
import { parseName, readLines } from '../spool/files.ts'
import type { Tariff } from '../tariff-queries.ts'
import { dayOfFile, ownerOfFile } from './charge-log.ts'
import { type FenceLine, lineFromText } from './lines.ts'

/** A charge that was acknowledged. */
export type LoggedCharge = {
  readonly input: SettleInput
  readonly charged: Credits
  /** What its tariff number meant; undefined when no line of its directory says so. */
  readonly tariff: Required<Tariff> | undefined
}

export type LoggedPart = {
  readonly charges: LoggedCharge[]
  readonly fences: Pick<FenceLine, 'book' | 'fence' | 'atMs'>[]
  /** Lines that cannot be read. */
  readonly damaged: number
}

/** By number. */
type Tariffs = Map<number, Required<Tariff>>

const CHUNK_BYTES = 1 << 20
const NEWLINE = 10

/** The settles that operators wrote off at `sinceMs` or later. Reads all logs. */
export async function readWriteOffs(
  directories: readonly string[],
  sinceMs: number,
): Promise<Set<string>> {
  const found = new Set<string>()
  for (const directory of directories) {
    for (const name of await logsSince(directory, sinceMs)) {
      for await (const { texts } of linesOf(join(directory, name))) {
        for (const text of texts.filter((one) => one.startsWith('["write-off"'))) {
          const one = readable(text, lineFromText, { damaged: 0 })
          if (one?.what === 'write-off' && one.atMs >= sinceMs) found.add(one.settle)
        }
      }
    }
  }
  return found
}

/** What was logged at `sinceMs` or later, and everything in spools. */
export async function* readLogged(
  directories: readonly string[],
  sinceMs: number,
): AsyncGenerator<LoggedPart> {
  for (const directory of directories) {
    // A spool's lines do not say what their tariffs mean; the logs beside it do.
    const tariffs: Tariffs = new Map()
    for (const name of await logsSince(directory, sinceMs)) {
      yield* readLog(join(directory, name), sinceMs, tariffs)
    }
    for (const name of (await readdir(directory)).sort()) {
      if (parseName(name) !== undefined) yield* readSpool(join(directory, name), tariffs)
    }
  }
}

async function logsSince(directory: string, sinceMs: number): Promise<string[]> {
  const sinceDay = dateAt(sinceMs).toISOString().slice(0, 10)
  const names = (await readdir(directory)).sort()
  return names.filter((name) => (dayOfFile(name) ?? '') >= sinceDay)
}

/** The processes of which these directories have a charge log. */
export async function listOwners(directories: readonly string[]): Promise<string[]> {
  const names = await Promise.all(directories.map((directory) => readdir(directory)))
  return names.flat().flatMap((name) => ownerOfFile(name) ?? [])
}

async function* readLog(
  file: string,
  sinceMs: number,
  tariffs: Tariffs,
): AsyncGenerator<LoggedPart> {
  for await (const { texts, damaged } of linesOf(file)) {
    const part = { charges: [] as LoggedCharge[], fences: [] as LoggedPart['fences'], damaged }
    for (const text of texts) {
      const one = readable(text, lineFromText, part)
      if (one?.what === 'tariff') tariffs.set(one.id, one.tariff)
      else if (one !== undefined && one.atMs >= sinceMs) {
        if (one.what === 'fence') part.fences.push(one)
        else if (one.what === 'charge') {
          const { input, charged, atMs } = one
          const { tariff = -1, caller } = input
          part.charges.push({ input, charged, tariff: tariffs.get(tariff) })
          if (caller !== undefined)
            part.fences.push({ book: input.book, fence: caller.fence, atMs })
        }
      }
    }
    yield part
  }
}

async function* readSpool(file: string, tariffs: Tariffs): AsyncGenerator<LoggedPart> {
  for await (const { texts, damaged } of linesOf(file)) {
    const part = { charges: [] as LoggedCharge[], fences: [], damaged }
    for (const text of texts) {
      const input = readable(text, settleFromText, part)
      if (input === undefined) continue
      const tariff = tariffs.get(input.tariff ?? -1)
      part.charges.push({ input, charged: input.priced, tariff })
    }
    yield part
  }
}

function readable<T>(text: string, read: (text: string) => T, part: { damaged: number }) {
  try {
    return read(text)
  } catch {
    part.damaged += 1
    return undefined
  }
}

async function* linesOf(file: string): AsyncGenerator<{ texts: string[]; damaged: number }> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    const bytes = Buffer.concat([rest, chunk as Buffer])
    const end = bytes.lastIndexOf(NEWLINE) + 1
    rest = bytes.subarray(end)
    const { texts, damaged } = readLines(bytes.subarray(0, end))
    yield { texts, damaged: damaged.length }
  }
}
