// The provider's clock: it runs like the real one and can be moved forward. Tasks that are due
// later (the end of a payer's term, the next attempt of a notice) wait here; moving the clock runs
// them in order, each moment finished before the next begins, so a day of repeats takes
// milliseconds.

type Task = { dueMs: number; order: number; run: (() => unknown) | null }

// Longer waits are cut into pieces: a Node timer overflows after 24.8 days.
const timerMsMax = 3_600_000
// Fewer canceled tasks are not worth a cleanup.
const deadMax = 1000

export function createClock() {
  const heap: Task[] = []
  const running = new Set<Promise<unknown>>()
  let order = 0
  /** Canceled tasks that are still in the heap. */
  let deadCount = 0
  let offsetMs = 0
  /** The moment shown while the clock is being moved; null while it runs by itself. */
  let turnedMs: number | null = null
  let turning: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let isStopped = false

  const natural = () => Date.now() + offsetMs
  const now = () => turnedMs ?? natural()

  function start(task: Task): void {
    const { run } = task
    task.run = null
    if (run === null) return
    const attempt = async () => run()
    const done = attempt().catch((error: unknown) => console.error('bank stand-in:', error))
    running.add(done)
    void done.then(() => running.delete(done))
  }

  function startDue(untilMs: number): void {
    for (let next = heap[0]; next !== undefined && next.dueMs <= untilMs; next = heap[0]) {
      pop(heap)
      if (next.run === null) deadCount -= 1
      start(next)
    }
  }

  function arm(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const next = heap[0]
    if (next === undefined || isStopped || turnedMs !== null) return
    const waitMs = Math.min(Math.max(next.dueMs - natural(), 0), timerMsMax)
    timer = setTimeout(() => {
      startDue(now())
      arm()
    }, waitMs)
    timer.unref()
  }

  // Most payments are paid long before their hour ends; hours of load would fill the heap with
  // them.
  function dropDead(): void {
    if (deadCount < deadMax || deadCount < heap.length / 2) return
    const alive = heap.filter(({ run }) => run !== null)
    heap.length = 0
    deadCount = 0
    for (const task of alive) push(heap, task)
  }

  async function turn(ms: number): Promise<void> {
    const targetMs = now() + ms
    turnedMs = now()
    for (let next = heap[0]; next !== undefined && next.dueMs <= targetMs; next = heap[0]) {
      turnedMs = Math.max(turnedMs, next.dueMs)
      startDue(turnedMs)
      await idle()
      if (isStopped) return
    }
    // However long the receivers took, the clock shows at least what was asked for.
    offsetMs = Math.max(offsetMs, targetMs - Date.now())
    turnedMs = null
    arm()
  }

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running)
  }

  return {
    now,

    /** Runs the task once the clock reaches the moment; returns a function that cancels it. */
    at(dueMs: number, run: () => unknown): () => void {
      const task: Task = { dueMs, order, run }
      order += 1
      push(heap, task)
      if (heap[0] === task) arm()
      return () => {
        if (task.run === null) return
        task.run = null
        deadCount += 1
        dropDead()
      }
    },

    /** Moves the clock forward and waits for everything that falls due on the way. */
    advance(ms: number): Promise<void> {
      turning = turning.then(() => turn(ms))
      return turning
    },

    /** Waits until everything due by now has been done. */
    async settle(): Promise<void> {
      await turning
      for (startDue(now()); running.size > 0; startDue(now())) await idle()
      arm()
    },

    /** Deletes the waiting tasks; the time stays. */
    clear(): void {
      heap.length = 0
      deadCount = 0
      arm()
    },

    stop(): void {
      isStopped = true
      heap.length = 0
      if (timer !== null) clearTimeout(timer)
    },
  }
}

export type Clock = ReturnType<typeof createClock>

function isBefore(a: Task, b: Task): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order)
}

function push(heap: Task[], task: Task): void {
  let at = heap.push(task) - 1
  while (at > 0) {
    const up = (at - 1) >> 1
    const parent = heap[up]
    if (parent === undefined || !isBefore(task, parent)) break
    heap[at] = parent
    at = up
  }
  heap[at] = task
}

function pop(heap: Task[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    const left = heap[2 * at + 1]
    const right = heap[2 * at + 2]
    if (left === undefined) break
    const isRight = right !== undefined && isBefore(right, left)
    const child = isRight ? right : left
    if (!isBefore(child, last)) break
    heap[at] = child
    at = 2 * at + (isRight ? 2 : 1)
  }
  heap[at] = last
}
