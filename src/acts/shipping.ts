// Sends new acts to the copy, in order and at least once. What the copy itself says that it has
// decides where the next run begins. For a copy that cannot be read, this process remembers what it
// has sent: the mark in the database decides only its first run, because a thief of the worker's
// database password can move it. The mark also shows that a copy lost something.
import type { Clock } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import { lineOf, type Mark, START } from './chain.ts'
import type { Copy } from './copies/port.ts'
import { actListChained, copyLock, copyStore } from './queries.ts'
import { type ActFinding, verifyMark } from './verify.ts'

/** At 1 KiB each, one call of the copy is half a MiB. */
const PAGE = 500
/** A transaction is open meanwhile; the rest waits for the next run. */
const RUN_MS_MAX = 15_000

export type Shipped = {
  readonly sent: number
  /** What kept the run from sending, or what it saw. */
  readonly findings: readonly ActFinding[]
}

export function createShipping(options: {
  readonly db: Db
  readonly clock: Clock
  readonly copy: Copy
  readonly name: string
}) {
  const { db, clock, copy, name } = options
  const memory = { sent: undefined as Mark | undefined }

  /** Where to begin, and a finding if the copy has less than was sent to it. */
  async function startOf(mark: Mark): Promise<{ from: Mark; findings: ActFinding[] }> {
    const last = await copy.last()
    if (last === 'unreadable') {
      const { sent = mark } = memory
      // Another worker may have moved the mark: its acts are sent twice.
      return { from: sent.number < mark.number ? sent : mark, findings: [] }
    }
    const from = last ?? START
    if (from.number >= mark.number) return { from, findings: [] }
    const detail = `act ${mark.number} was sent to it, and it ends with act ${from.number}`
    return { from, findings: [{ rule: 'copy_shorter', subject: 'the copy', detail }] }
  }

  async function sendAfter(tx: Tx, from: Mark): Promise<{ sent: number; last: Mark }> {
    const beganMs = clock.spanMs()
    let sent = 0
    let last = from
    while (clock.spanMs() - beganMs < RUN_MS_MAX) {
      const page = await actListChained(tx, { after: last.number, limit: PAGE })
      if (page.length > 0) await copy.append(page.map(lineOf))
      sent += page.length
      last = page.at(-1) ?? last
      if (page.length < PAGE) break
    }
    return { sent, last }
  }

  return {
    /**
     * One run. Sends nothing while another process sends, or while the database contradicts the
     * copy: a person must look first, and what the copy has is not to be buried.
     */
    run(): Promise<Shipped> {
      return db.transaction(async (tx) => {
        const mark = await copyLock(tx, name)
        if (mark === undefined) return { sent: 0, findings: [] }
        const { from, findings } = await startOf(mark)
        const contradictions = await verifyMark(tx, from, 'the copy')
        if (contradictions.length > 0) return { sent: 0, findings: contradictions }
        const { sent, last } = await sendAfter(tx, from)
        memory.sent = last
        if (last.number !== mark.number) await copyStore(tx, name, last)
        return { sent, findings }
      })
    },
  }
}

export type Shipping = ReturnType<typeof createShipping>
