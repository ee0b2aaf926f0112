// A process of a fleet, as it deals with its parent: takes connections, marks those that are busy,
// beats, reports its metrics, and drains when the parent says so.
import type { Socket } from 'node:net'
import type { GivenConnection } from '../http/http.ts'
import type { MetricSnapshot } from '../platform/metrics/fleet-metrics.ts'
import { markOf } from './marks.ts'
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

/** Node's wrapper of a message with a socket. */
type InternalMessage = { readonly cmd: string; readonly msg: { readonly slot: number } }

export function createMember() {
  const drained = Promise.withResolvers<void>()
  const state: { serving: Serving | undefined; isReportDue: boolean } = {
    serving: undefined,
    isReportDue: false,
  }
  const counts = { taken: 0, closed: [] as number[], unreceived: [] as number[] }

  /** Many changes in one turn of the event loop make one message. */
  function reportSoon(): void {
    if (state.isReportDue) return
    state.isReportDue = true
    setImmediate(() => {
      state.isReportDue = false
      send({ kind: 'connections', ...counts })
      Object.assign(counts, { taken: 0, closed: [], unreceived: [] })
    })
  }

  /** Without a socket, when the client had closed the connection before the parent sent it. */
  function take(
    serving: Serving,
    slot: number,
    socket: Socket | undefined,
    isInherited: boolean,
  ): void {
    counts.taken += 1
    reportSoon()
    if (socket === undefined) {
      counts.closed.push(slot)
      return
    }
    const mark = markOf(slot)
    socket.on('close', () => {
      mark.setBusy() // the parent's copy must not go to another process
      counts.closed.push(slot)
      reportSoon()
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
  // When no file descriptor is free, Linux drops the socket and delivers the message. Node then
  // emits only this event, which it does not document; a test keeps watch.
  process.on('internalMessage', ({ cmd, msg }: InternalMessage, handle?: object) => {
    if (cmd !== 'NODE_HANDLE' || (handle !== undefined && handle !== null)) return
    counts.unreceived.push(msg.slot)
    reportSoon()
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
    /** It has not started yet, because the database does not answer. */
    reportWait: () =>
      send({ kind: 'beat', health: { isDatabaseAway: true, areUpstreamsAway: false } }),
    /** The last report, so that the parent's sums have all that the process counted. */
    leave: () => reportMetrics(0),
  }
}

/** A process whose parent has died ends at once: node:cluster ends it. */
function send(message: ProcessMessage, onSent: () => void = () => undefined): void {
  if (process.connected) process.send?.(message, undefined, undefined, onSent)
  else onSent()
}
