// Two containers share one spool directory, and their processes have equal process numbers. Each
// round freezes the database until charges are in both spools, kills both processes, and starts two
// new ones. Every charge is stored once: none is stranded in a file that looks as if its process
// lived, and none is lost because a living process's file was taken for a dead one's.
import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import type { Drill } from '../../support/drill.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { createStage, type Writer } from './ledger.ts'

/** A namespace of process numbers, as a container has: its first process is number 1. */
const NAMESPACE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child=SIGKILL']

export const drill: Drill = async ({ isFull, seed, say }) => {
  const rounds = isFull ? 20 : 2
  const canUnshare = spawnSync(NAMESPACE[0] ?? '', [...NAMESPACE.slice(1), 'true']).status === 0
  if (!canUnshare) say('this machine has no process namespaces: the process numbers differ')
  const stage = await createStage(20)
  try {
    let spooled = 0
    for (let round = 0; round < rounds; round++) {
      const writers = [0, 1].map((i) =>
        stage.startWriter(
          { seed: seed + 2 * round + i, loops: 8, servedMsMax: 50, spoolAfterMs: 300 },
          canUnshare ? NAMESPACE : [],
        ),
      )
      await Promise.all(writers.map((writer) => writer.ready))
      await sleep(300)
      stage.kill('SIGSTOP')
      await sleep(1_500)
      for (const writer of writers) writer.child.kill('SIGKILL')
      await Promise.all(writers.map((writer) => writer.ended))
      stage.kill('SIGCONT')
      spooled += writers.reduce((sum, writer) => sum + countSpooled(writer), 0)
    }
    say(`${rounds} rounds: ${spooled} charges were in the spools of killed processes`)
    ensure(spooled > 0, 'charges were in spools when the processes were killed')
    const checked = await stage.check()
    const left = (await readdir(stage.base.spoolDirectory)).filter((name) => /spool$/.test(name))
    ensure(left.length === 0, `no spool file is stranded: ${left}`)
    return { rounds, isNumberEqual: String(canUnshare), spooled, ...checked }
  } finally {
    await stage.end()
  }
}

function countSpooled({ lines }: Writer): number {
  return lines.filter(({ what }) => what === 'spooled').length
}
