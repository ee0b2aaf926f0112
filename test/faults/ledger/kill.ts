// Kills writer processes with SIGKILL under load, and then PostgreSQL. Afterwards the ledger has
// every acknowledged settle exactly once, every hold is closed, and the audit finds nothing.
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { createStage } from './ledger.ts'

export const drill: Drill = async ({ isFull, seed, say }) => {
  const writerKills = isFull ? 100 : 10
  const databaseKills = isFull ? 10 : 3
  const draw = random(seed)
  const stage = await createStage(20)
  try {
    // Two writers at a time: one keeps up the load while the other is killed and replaced.
    await Promise.all(
      [0, 1].map(async (lane) => {
        for (let i = 0; i < writerKills / 2; i++) {
          const writer = stage.startWriter({ seed: seed + lane * 1000 + i })
          await writer.ready
          await sleep(100 + draw() * 500)
          writer.child.kill('SIGKILL')
          await writer.ended
        }
      }),
    )
    const afterWriters = stage.acknowledged.length
    ensure(afterWriters > writerKills * 20, `writers were under load (${afterWriters} settles)`)
    say(`${writerKills} writers killed, ${afterWriters} settles acknowledged`)

    const writer = stage.startWriter({ seed: seed + 5000 })
    await writer.ready
    for (let i = 0; i < databaseKills; i++) {
      const before = stage.acknowledged.length
      await sleep(300 + draw() * 700)
      stage.kill('SIGKILL')
      await stage.restart()
      const deadline = performance.now() + 20_000
      while (stage.acknowledged.length < before + 200 && performance.now() < deadline)
        await sleep(50)
      ensure(
        stage.acknowledged.length >= before + 200,
        'the writer continues after the database is back',
      )
    }
    const more = stage.acknowledged.length - afterWriters
    say(`PostgreSQL killed ${databaseKills} times, ${more} more settles`)
    writer.child.kill('SIGTERM')
    await writer.ended
    return { writerKills, databaseKills, ...(await stage.check()) }
  } finally {
    await stage.end()
  }
}
