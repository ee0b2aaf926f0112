// Reads that take seconds, of a month, a figure's rows, a dispute's file or a vendor's request id,
// wait in turn, so that they leave connections of the pool to signing in, alarms and commands.

/** The pool has 8 connections by default; Today and the alarms use some of the rest. */
const AT_ONCE_MAX = 3

export function createInTurn(max = AT_ONCE_MAX) {
  const state = { free: max }
  const queue: (() => void)[] = []
  /** Under the name of what they read. */
  const notBegun = new Map<string, Promise<unknown>>()

  async function begin(): Promise<void> {
    if (state.free > 0) state.free -= 1
    else await new Promise<void>((resolve) => queue.push(resolve))
  }

  function leave(): void {
    const next = queue.shift()
    if (next === undefined) state.free += 1
    else next()
  }

  /**
   * Shares a reading of the same name that has not begun, so that a page which is opened again and
   * again waits once. One that has begun may be older than what the person has just done.
   */
  return function inTurn<T>(name: string, read: () => Promise<T>): Promise<T> {
    const waiting = notBegun.get(name)
    // Safe: a name begins with its route, and each route reads one thing.
    if (waiting !== undefined) return waiting as Promise<T>
    const found = begin()
      .then(() => {
        notBegun.delete(name)
        return read()
      })
      .finally(leave)
    notBegun.set(name, found)
    return found
  }
}

export type InTurn = ReturnType<typeof createInTurn>
