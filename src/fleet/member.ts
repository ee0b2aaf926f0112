// A process of a fleet, as it deals with its parent: takes connections, marks those that are busy,
// beats, reports its metrics, and drains when the parent says so.
import type { Socket } from 'node:net'
import type { GivenConnection } from '../http/http.ts'
import type { MetricSnapshot } from '../platform/metrics/fleet-metrics.ts'
import { markOf, NOT_KEPT } from './marks.ts'
import type { ParentMessage, ProcessHealth, ProcessMessage } from './messages.ts'

/** The parent compares it with its own ticks, see processes.ts. */
const BEAT_MS = 500

export type Serving = {
  /** Only for a parent that does not pass connections on, see older-parent.ts. */
  listen(): Promise<unknown>
  take(connection: GivenConnection): void
  health(): ProcessHealth
  metrics(): Promise<readonly MetricSnapshot[]>
}

export function createMember() {
  const drained = Promise.withResolvers<void>()
  const state: { serving: Serving | undefined; taken: number; closed: number[] } = {
    serving: undefined,
    taken: 0,
    closed: [],
  }

  function report(): void {
    if (state.taken === 0 && state.closed.length === 0) return
    send({ kind: 'connections', taken: state.taken, closed: state.closed })
    state.taken = 0
    state.closed = []
  }

  /** Without a socket, when the process has no free file descriptor for it. */
  function take(
    serving: Serving,
    slot: number,
    socket: Socket | undefined,
    isInherited: boolean,
  ): void {
    setImmediate(report)
    state.taken += 1
    if (socket === undefined) {
      if (slot !== NOT_KEPT) state.closed.push(slot)
      return
    }
    if (slot === NOT_KEPT) {
      serving.take({ socket, isInherited, setBusy: () => undefined, setIdle: () => undefined })
      return
    }
    const mark = markOf(slot)
    socket.on('close', () => {
      mark.setBusy() // the parent's copy must not go to another process
      state.closed.push(slot)
      setImmediate(report)
    })
    serving.take({ socket, isInherited, ...mark })
  }

  async function reportMetrics(round: number): Promise<void> {
    const metrics = (await state.serving?.metrics()) ?? []
    await new Promise<void>((resolve) => send({ kind: 'metrics', round, metrics }, resolve))
  }

  process.on('message', (message: ParentMessage, socket?: Socket) => {
    const { serving } = state
    if (message.kind === 'drain') drained.resolve()
    else if (message.kind === 'metrics') void reportMetrics(message.round)
    else if (serving !== undefined) {
      take(serving, message.slot, socket, message.isInherited)
    }
  })
  return {
    /** Resolves when the process should drain. */
    drained: drained.promise,
    /** From now on the parent passes connections to it. */
    async serve(serving: Serving): Promise<void> {
      state.serving = serving
      send({ kind: 'ready' })
      setInterval(() => send({ kind: 'beat', health: serving.health() }), BEAT_MS).unref()
    },
    /** The last report, so that the parent's sums have all that the process counted. */
    leave: () => reportMetrics(0),
  }
}

/** A process whose parent has died ends at once: node:cluster ends it. */
function send(message: ProcessMessage, onSent: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, undefined, undefined, onSent)
  else onSent()
}
