// What the upstream of slow-reader sends: the beginning of a recording and then nothing, or bytes
// without end. A request names its script in a header that the gateway forwards.
import type { Socket } from 'node:net'
import { sleep } from '../../support/drill.ts'
import { chunkOf, headOf, type RawRequest } from '../../support/raw-upstream.ts'

/** The gateway forwards all `anthropic-` headers. */
export const SCRIPT_HEADER = 'anthropic-script'

/** The kernel buffers of two connections hold a few megabytes. */
const POURED_BYTES_MAX = 64_000_000
const BEGINNING = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1",',
  '"usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
].join('')
const PADDING = `event: padding\ndata: {"type":"padding","x":"${'x'.repeat(16_000)}"}\n\n`

export function createScripts() {
  const byName = new Map<string, (socket: Socket) => void>()
  return {
    serve(socket: Socket, { headers }: RawRequest): void {
      const name = headers.get(SCRIPT_HEADER) ?? ''
      byName.get(name)?.(socket)
      byName.delete(name)
    },

    /**
     * Sends the first bytes, or not even the headers; `sent` resolves when they have left. `goOn`
     * sends the rest.
     */
    send(name: string, first: Buffer | undefined, rest: Buffer) {
      const sent = Promise.withResolvers<void>()
      const state: { socket?: Socket } = {}
      byName.set(name, (socket) => {
        state.socket = socket
        if (first === undefined) sent.resolve()
        else {
          socket.write(headOf(200, 'text/event-stream'))
          if (first.length === 0) sent.resolve()
          else socket.write(chunkOf(first), () => sent.resolve())
        }
      })
      return {
        sent: sent.promise,
        goOn(): void {
          if (first === undefined) state.socket?.write(headOf(200, 'text/event-stream'))
          if (rest.length > 0) state.socket?.write(chunkOf(rest))
        },
      }
    },

    /** Begins a stream and sends for as long as the gateway reads. */
    pour(name: string) {
      const begun = Promise.withResolvers<void>()
      const state: { socket?: Socket; bytes: number; isOver: boolean } = { bytes: 0, isOver: false }
      const chunk = chunkOf(PADDING)
      const more = () => {
        while (!state.isOver && state.bytes < POURED_BYTES_MAX) {
          state.bytes += chunk.length
          if (state.socket?.write(chunk) === false) {
            state.socket.once('drain', more)
            return
          }
        }
      }
      byName.set(name, (socket) => {
        state.socket = socket
        socket.write(headOf(200, 'text/event-stream'))
        socket.write(chunkOf(BEGINNING))
        more()
        begun.resolve()
      })
      return {
        begun: begun.promise,
        /** Resolves when nothing has been written for 300 ms: the gateway waits for its client. */
        async stands(): Promise<void> {
          for (let before = -1; state.bytes !== before; ) {
            before = state.bytes
            await sleep(300)
          }
        },
        /** Closes the connection, as an upstream does whose peer does not read. */
        giveUp(): void {
          state.isOver = true
          state.socket?.end()
        },
      }
    },
  }
}
