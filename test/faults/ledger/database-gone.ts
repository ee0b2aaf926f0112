// The database is killed under load, and later hangs (SIGSTOP). Running replies end with their
// charge in the spool, new requests wait and are then refused, and everything continues by itself
// when the database is back. If a process dies meanwhile, another one stores the charges of its
// spool.
import type { Drill } from '../../support/drill.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { createStage, type Line } from './ledger.ts'

type Stage = Awaited<ReturnType<typeof createStage>>

export const drill: Drill = async ({ isFull, seed, say }) => {
  // The short form shortens all limits and keeps their ratios.
  const limits = isFull
    ? { goneMs: 60_000, hungMs: 20_000, holdWaitMs: 30_000, spoolAfterMs: 10_000 }
    : { goneMs: 9_000, hungMs: 9_000, holdWaitMs: 5_000, spoolAfterMs: 2_000 }
  const stage = await createStage(50)
  try {
    const task = { ...limits, loops: 64, servedMsMax: 1_500, seed }
    const gone = await away(stage, task, limits.goneMs, say, {
      name: 'gone',
      leave: () => stage.kill('SIGKILL'),
      comeBack: () => stage.restart(),
    })
    const hung = await away(stage, { ...task, seed: seed + 1 }, limits.hungMs, say, {
      name: 'hung',
      leave: () => stage.kill('SIGSTOP'),
      comeBack: async () => stage.kill('SIGCONT'),
    })
    const orphaned = await orphan(stage, { ...task, seed: seed + 2 }, limits.spoolAfterMs)
    say(`${orphaned} settles were left in the spool of a killed process`)
    const checked = await stage.check()
    return { ...gone, ...hung, orphaned, ...checked }
  } finally {
    await stage.end()
  }
}

async function away(
  stage: Stage,
  task: { seed: number; loops: number; holdWaitMs: number; spoolAfterMs: number },
  awayMs: number,
  say: (text: string) => void,
  how: { name: string; leave(): void; comeBack(): Promise<void> },
) {
  const writer = stage.startWriter(task)
  await writer.ready
  await sleep(2_000)
  const leftMs = stage.nowMs()
  how.leave()
  await sleep(awayMs)
  await how.comeBack()
  const backMs = stage.nowMs()
  const isSince = (line: Line, ms: number) => line.atMs > ms
  const deadline = performance.now() + 20_000
  const granted = () => writer.lines.find((line) => line.what === 'held' && isSince(line, backMs))
  while (granted() === undefined && performance.now() < deadline) await sleep(20)
  const recoveredMs = (granted()?.atMs ?? Number.NaN) - backMs
  await sleep(2_000)
  writer.child.kill('SIGTERM')
  await writer.ended

  const during = writer.lines.filter((line) => isSince(line, leftMs) && line.atMs < backMs)
  const spooled = during.filter((line) => line.what === 'spooled')
  const refused = during.filter((line) => line.what === 'refused')
  // Answers that the database had sent may still arrive; a second later no hold is granted.
  const admitted = during.filter((line) => line.what === 'held' && isSince(line, leftMs + 1_000))
  say(
    `${how.name}: ${spooled.length} spooled, ${refused.length} refused, back in ${recoveredMs} ms`,
  )
  ensure(spooled.length > 0, `${how.name}: charges go to the spool`)
  ensure(
    spooled.every((line) => line.ms < task.spoolAfterMs + 3_000),
    `${how.name}: a reply ends soon after ledger.spoolAfterMs`,
  )
  // If the outage is shorter than requests wait, none is refused.
  const isWaitedOut = awayMs < task.holdWaitMs
  ensure(
    isWaitedOut ? refused.length === 0 : refused.length > 0,
    `${how.name}: requests that wait too long are refused, and no others (${refused.length})`,
  )
  ensure(
    refused.every((line) => line.id === 'ledger_unavailable' && line.ms >= task.holdWaitMs - 500),
    `${how.name}: they wait their full time and get our own refusal`,
  )
  ensure(admitted.length === 0, `${how.name}: no request is admitted without the database`)
  ensure(recoveredMs < 10_000, `${how.name}: requests are admitted again by themselves`)
  return {
    [`${how.name}Spooled`]: spooled.length,
    [`${how.name}Refused`]: refused.length,
    [`${how.name}RecoveredMs`]: Math.round(recoveredMs),
  }
}

/** Kills the process while its charges are only on disk. */
async function orphan(
  stage: Stage,
  task: { seed: number; spoolAfterMs: number },
  spoolAfterMs: number,
): Promise<number> {
  const writer = stage.startWriter(task)
  await writer.ready
  await sleep(2_000)
  stage.kill('SIGKILL')
  await sleep(spoolAfterMs + 2_000)
  writer.child.kill('SIGKILL')
  await writer.ended
  await stage.restart()
  const spooled = writer.lines.filter((line) => line.what === 'spooled').length
  ensure(spooled > 0, 'a killed process leaves settles in its spool')
  return spooled
}
