// How long the event loop of this process was blocked: by a long computation, or because the system
// stopped the process. Meanwhile it could neither read nor write, whatever its clients did.
import { systemClock } from './clock.ts'

/** A block is measured with this error. A timer is 1 or 2 ms late on an idle machine. */
const CHECK_MS = 250

export type EventLoop = ReturnType<typeof watchEventLoop>

/** Always by the system's clock: a test that sets its clock by hand does not block the loop. */
export function watchEventLoop({ spanMs } = systemClock) {
  let blockedMs = 0
  let dueMs = spanMs() + CHECK_MS
  const lateMs = () => Math.max(0, spanMs() - dueMs)
  // `unref`: a command that builds the modules but serves nothing must be able to end.
  const timer = setInterval(() => {
    blockedMs += lateMs()
    dueMs = spanMs() + CHECK_MS
  }, CHECK_MS).unref()
  return {
    /** In total, with a block that has just ended: sockets may be read before timers run. */
    blockedMs: () => blockedMs + lateMs(),
    stop: () => clearInterval(timer),
  }
}
