// The rooms that commands act through, and how a command speaks.
import type { Keys } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Db } from '../platform/db.ts'
import type { Upstreams } from '../upstreams/upstreams.ts'

export type OperatorRooms = {
  readonly db: Db
  readonly ledger: Ledger
  readonly keys: Keys
  readonly upstreams: Upstreams
}

/** JSON with amounts as digits: they may be larger than a JavaScript number. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))
}
