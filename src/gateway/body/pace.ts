// Limits how many bytes of request bodies are read in a time, over all connections together, so
// that the event loop has time for everything else. Bodies that come too fast are paused; accounts
// take turns, and so do the bodies of an account, so that none waits for all bodies of another.
import type { ClientRequest } from '../../http/http.ts'
import type { BookId } from '../../platform/ids.ts'

/**
 * Without a limit one connection is read for up to 2 MiB in a turn of the event loop, and with
 * twenty bodies of 32 MiB under way the events of streams came 100 ms late.
 */
const PACE_MS = 4
/** What a body that is resumed brings at least: one read of its socket. */
const READ_BYTES = 65_536

/**
 * Bytes that the bodies of all requests may receive in PACE_MS: 128 MiB, about a gigabit, a second,
 * which takes a quarter of the event loop's time.
 */
export const BODY_BYTES_MAX = 524_288
/**
 * While the event loop is short of time, a quarter of it: a body of 32 MiB costs the loop also when
 * it is parsed, sent on and freed.
 */
export const BUSY_BODY_BYTES_MAX = 131_072
/**
 * The same for the bodies of refused requests, which are read and dropped: half as much. 64
 * connections that each pushed 32 MB at a path that does not exist took the whole event loop.
 * Reading is right and closing is not: while a client sends, a close makes its kernel discard the
 * answer, and client libraries then report a lost connection and try again.
 */
export const DISCARDED_BYTES_MAX = 262_144

type Paced = Pick<ClientRequest, 'pause' | 'resume'>

/**
 * Counts received bytes, and pauses the request if too many came within PACE_MS. Requests without a
 * `book`, which are refused, count as those of one account.
 */
export type Pace = (clientRequest: Paced, received: number, book?: BookId) => void

export function createPace(bytesMax: () => number): Pace {
  /** By account; the account whose turn is next comes first. */
  const paused = new Map<BookId | undefined, Paced[]>()
  const state = { bytes: 0, isTimed: false }

  function resumeNext(): void {
    const [next] = paused
    if (next === undefined) return
    const [book, list] = next
    list.shift()?.resume()
    paused.delete(book)
    if (list.length > 0) paused.set(book, list)
  }

  function begin(): void {
    state.bytes = 0
    for (let left = bytesMax(); left > 0; left -= READ_BYTES) resumeNext()
    state.isTimed = paused.size > 0
    if (state.isTimed) setTimeout(begin, PACE_MS)
  }

  return (clientRequest, received, book) => {
    if (!state.isTimed) setTimeout(begin, PACE_MS)
    state.isTimed = true
    state.bytes += received
    if (state.bytes < bytesMax()) return
    clientRequest.pause()
    const list = paused.get(book)
    if (list === undefined) paused.set(book, [clientRequest])
    else list.push(clientRequest)
  }
}
