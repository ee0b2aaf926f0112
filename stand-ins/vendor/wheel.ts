// One timer for all paced streams: tasks wait in slots of one millisecond and a single interval
// empties them. Ten thousand streams then cost one timer and one map, and the interval runs only
// while a task waits.

export type Task = { wake: (() => void) | null }

export function createWheel() {
  const slots = new Map<number, Task[]>()
  let interval: NodeJS.Timeout | null = null
  let nextSlot = 0

  const now = () => Math.floor(performance.now())

  function turn(): void {
    // A late interval catches up slot by slot, so order is kept under load.
    for (const last = now(); nextSlot <= last; nextSlot += 1) {
      const due = slots.get(nextSlot)
      slots.delete(nextSlot)
      for (const task of due ?? []) task.wake?.()
    }
    if (slots.size === 0) stop()
  }

  function stop(): void {
    if (interval !== null) clearInterval(interval)
    interval = null
  }

  return {
    /** Wakes once, not before that many milliseconds; clear `wake` to cancel. */
    after(ms: number, wake: () => void): Task {
      const task: Task = { wake }
      if (interval === null) {
        nextSlot = now()
        interval = setInterval(turn, 1)
      }
      const slot = now() + Math.max(1, Math.ceil(ms))
      const waiting = slots.get(slot)
      if (waiting === undefined) slots.set(slot, [task])
      else waiting.push(task)
      return task
    },

    /** Deletes every task when the server stops. */
    stop(): void {
      slots.clear()
      stop()
    },
  }
}

export type Wheel = ReturnType<typeof createWheel>
