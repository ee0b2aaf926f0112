// Tests of the charge log: what is written is read again, files are kept for their days, and a disk
// that is full or gone costs lines, not charges.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mountSmallDisk, unmountSmallDisk } from '../../../test/support/small-disk.ts'
import { systemClock } from '../../platform/clock.ts'
import { type BookId, newHoldId } from '../../platform/ids.ts'
import { createLog } from '../../platform/log.ts'
import { credits } from '../../units/credits.ts'
import { ONE } from '../../units/price.ts'
import { noTokens } from '../../units/tokens.ts'
import { createChargeLog } from './charge-log.ts'
import { type LoggedPart, readLogged } from './read.ts'

const book = 7n as BookId
const log = createLog({ level: 'silent' })
const price = { input: ONE, coefficient: ONE, cacheRead: ONE, cacheWrite5m: ONE, cacheWrite1h: ONE }
let directory: string
const now = { ms: Date.now() }
const clock = { ...systemClock, nowMs: () => now.ms }

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-charges-'))
  now.ms = Date.now()
})
afterEach(async () => {
  unmountSmallDisk(directory)
  await rm(directory, { recursive: true, force: true })
})

const logOf = (days = 2) => createChargeLog({ directory, owner: 'a1', days, clock, log })

function settle(tariff: number) {
  return {
    ...{ id: newHoldId(0, now.ms), book, tariff, priced: credits(30), counts: noTokens },
    ...({ ending: 'complete', isEstimated: false, messageId: 'msg_1' } as const),
    caller: { key: 'key_1', fence: 0n },
  }
}

async function read(): Promise<LoggedPart> {
  const all: LoggedPart = { charges: [], fences: [], damaged: 0 }
  let damaged = 0
  for await (const part of readLogged([directory], 0)) {
    all.charges.push(...part.charges)
    all.fences.push(...part.fences)
    damaged += part.damaged
  }
  return { ...all, damaged }
}

test('a charge is read again with its amount, its caller and its price list', async () => {
  const charges = logOf()
  const model = { catalogueVersion: 3, model: 'm', lists: [{ name: '', price }] }
  charges.tariffsKnown(model, new Map([['', 12]]))
  const input = settle(12)
  charges.charged(input, credits(20))
  charges.fenceRaised(book, 5n)
  await charges.close()
  const { charges: found, fences } = await read()
  const tariff = { catalogueVersion: 3, model: 'm', list: '', price }
  assert.deepEqual(found, [{ input, charged: credits(20), tariff }])
  assert.deepEqual(
    fences.map(({ fence }) => fence),
    [0n, 5n],
  )
})

test('each day has a file that explains its tariffs, and old days are removed', async () => {
  const charges = logOf(2)
  charges.tariffsKnown(
    { catalogueVersion: 3, model: 'm', lists: [{ name: '', price }] },
    new Map([['', 12]]),
  )
  for (let day = 0; day < 5; day++) {
    charges.charged(settle(12), credits(1))
    await charges.flush()
    now.ms += 86_400_000
  }
  await charges.close()
  assert.equal((await readdir(directory)).length, 3)
  const { charges: found } = await read()
  assert.deepEqual(
    found.map(({ tariff }) => tariff?.catalogueVersion),
    [3, 3, 3],
  )
})

test('on a full disk lines are lost and counted, and later ones are written again', async (t) => {
  const disk = mountSmallDisk(t, directory)
  if (disk === undefined) return
  const charges = logOf()
  charges.charged(settle(1), credits(1))
  await charges.flush()
  await disk.fill()
  charges.charged(settle(1), credits(2))
  await charges.flush()
  assert.equal(charges.lost(), 1)
  await disk.free()
  charges.charged(settle(1), credits(3))
  await charges.close()
  const { charges: found, damaged } = await read()
  assert.deepEqual(
    found.map(({ charged }) => charged),
    [credits(1), credits(3)],
  )
  assert.deepEqual([charges.lost(), damaged], [1, 0])
})

test('a directory that cannot be written loses lines without an error', async () => {
  const file = join(directory, 'file')
  await writeFile(file, '')
  const charges = createChargeLog({ directory: file, owner: 'a1', days: 2, clock, log })
  charges.charged(settle(1), credits(1))
  await charges.close()
  assert.equal(charges.lost(), 1)
})

test('only its own user can read the log, whatever the umask', async () => {
  const umask = process.umask(0)
  try {
    const charges = logOf()
    charges.charged(settle(1), credits(1))
    await charges.close()
    const [name = ''] = await readdir(directory)
    assert.equal((await stat(join(directory, name))).mode & 0o777, 0o600)
  } finally {
    process.umask(umask)
  }
})

test('many lines that waited for a disk are written in parts, with requests between', async () => {
  const charges = logOf()
  for (let i = 0; i < 20_000; i++) charges.charged(settle(1), credits(1))
  const beginMs = performance.now()
  const pause = { longestMs: 0, lastMs: beginMs }
  const written = charges.flush().then(() => true)
  while (!(await Promise.race([written, nextTurn(false)]))) {
    const nowMs = performance.now()
    pause.longestMs = Math.max(pause.longestMs, nowMs - pause.lastMs)
    pause.lastMs = nowMs
  }
  const allMs = performance.now() - beginMs
  assert.ok(pause.longestMs < allMs / 3, `${pause.longestMs} of ${allMs} ms`)
  await charges.close()
  assert.equal((await read()).charges.length, 20_000)
})
