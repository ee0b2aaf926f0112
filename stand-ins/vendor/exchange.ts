// The context of one request: the shared parts of the server, the client's key, and the response
// writer.
import type { IncomingMessage } from 'node:http'
import type { Bill } from './bill.ts'
import type { Cache } from './cache.ts'
import type { Faults } from './faults.ts'
import type { Ids } from './ids.ts'
import type { Models } from './models.ts'
import type { Modes } from './modes.ts'
import type { Outlet } from './outlet.ts'
import type { Received, RequestRecord } from './record.ts'
import type { Wheel } from './wheel.ts'

/** Built once per server. */
export type Parts = {
  readonly keys: readonly string[]
  readonly models: Models
  readonly cache: Cache
  readonly ids: Ids
  readonly modes: Modes
  readonly record: RequestRecord
  readonly bill: Bill
  /** The credential of reports. */
  readonly reportKey: string
  readonly wheel: Wheel
}

/** Built once per request. */
export type Exchange = {
  readonly request: IncomingMessage
  readonly received: Received
  readonly requestId: string
  readonly url: URL
  /** The body as JSON; undefined when there is none or it is not JSON. */
  readonly body: unknown
  /** The upstream key that was accepted; null before or without one. */
  readonly key: string | null
  readonly faults: Faults
  /** Reply words, from the header, the text or the mode; null when none were given. */
  readonly replyWords: readonly string[] | null
  readonly outlet: Outlet
  /** Notifies waiters that the record changed. */
  readonly touch: () => void
}
