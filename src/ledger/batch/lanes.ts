// Lanes: the operations of a book that another transaction has locked, or whose page is damaged,
// wait in a queue of their own and use connections reserved for lanes, so that all other books
// continue. This file decides which lane is next; dispatch.ts sends its batch.
import { createBackoff } from './backoff.ts'
import type { Connection } from './connection.ts'
import type { AnyOperation, Lane } from './queue.ts'

export type Lanes = ReturnType<typeof createLanes>

export function createLanes(connections: readonly Connection[]) {
  const lanes = new Set<Lane>()
  const idle = [...connections]

  return {
    /** Moves operations into the lanes of their books. Returns these lanes. */
    join(batch: readonly AnyOperation[]): ReadonlySet<Lane> {
      const joined = new Set<Lane>()
      for (const operation of batch) {
        const { book } = operation
        book.lane ??= { book, waiting: [], isActive: false, backoff: createBackoff() }
        book.lane.waiting.push(operation)
        lanes.add(book.lane)
        joined.add(book.lane)
      }
      return joined
    },

    /** An inactive lane and an idle connection for it; undefined when either is missing. */
    next(): { readonly lane: Lane; readonly connection: Connection } | undefined {
      if (idle.length === 0) return undefined
      for (const lane of lanes) {
        if (lane.isActive) continue
        lane.isActive = true
        // Move it to the end, so that many locked books share few lane connections fairly.
        lanes.delete(lane)
        lanes.add(lane)
        return { lane, connection: idle.pop() as Connection }
      }
      return undefined
    },

    /** The lane may send again; without operations it is removed from its book. */
    resume(lane: Lane): void {
      lane.isActive = false
      if (lane.waiting.length > 0) return
      lanes.delete(lane)
      lane.book.lane = undefined
    },

    release(connection: Connection): void {
      idle.push(connection)
    },

    isEmpty: () => lanes.size === 0,
    *operations(): Iterable<AnyOperation> {
      for (const lane of lanes) yield* lane.waiting
    },
  }
}
