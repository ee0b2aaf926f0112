// The planted bug of the failover: with asynchronous replication, and with the primary's WAL held
// back from its standbys, a failover loses what was acknowledged, and the comparison says so.
import { ensure, sleep } from '../../support/drill.ts'
import type { Stage } from '../cluster/stage.ts'
import { type LoadSize, startLoad } from './load.ts'
import { compare } from './record.ts'

const ASYNCHRONOUS_MS_MAX = 30_000
const CALM_MS = 2_000
/** Below wal_sender_timeout, so that the standbys stay connected. */
const HELD_BACK_MS = 5_000
const ADMITTED_MS_MAX = 60_000
/** Charges of an earlier load are stored in milliseconds; here some never are. */
const COMPARED_MS = 8_000

/** Returns how many acknowledged requests were lost. The stage's ledger is wrong afterwards. */
export async function loseAcknowledged(
  stage: Stage,
  size: LoadSize,
  draw: () => number,
  lastNumber: number,
): Promise<number> {
  const { cluster } = stage
  const primary = await cluster.primary()
  await cluster.ask(primary, 'PATCH', '/config', {
    synchronous_mode: false,
    // A standby further behind is not promoted.
    maximum_lag_on_failover: 2 ** 30,
  })
  const deadline = performance.now() + ASYNCHRONOUS_MS_MAX
  while ((await cluster.members()).some(({ role }) => role.includes('quorum'))) {
    ensure(performance.now() < deadline, 'replication becomes asynchronous')
    await sleep(200)
  }
  const load = startLoad(stage, { ...size, streams: 0 }, draw, lastNumber)
  try {
    await sleep(CALM_MS)
    primary.play('wal', { kind: 'black-hole' })
    await sleep(HELD_BACK_MS)
    const killedMs = performance.now()
    await primary.kill()
    primary.heal()
    const isAdmitted = () =>
      [...load.seen.values()].some((one) => one.askedMs > killedMs && one.headMs !== undefined)
    while (!isAdmitted() && performance.now() - killedMs < ADMITTED_MS_MAX) await sleep(100)
  } finally {
    await load.stop()
  }
  const { lost } = await compare(load.seen, stage.database, COMPARED_MS)
  ensure(lost.length > 0, 'with asynchronous replication the comparison finds what was lost')
  return lost.length
}
