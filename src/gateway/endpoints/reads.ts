// Reads of the request log and the usage for the owner of a key. They are free and paced with the
// other free calls. The key is read from the database again, as for /v1/me: a revoked key may not
// read, while the owner of a paused or empty account may.
import { isUnknownZone } from '../../platform/db/database-errors.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Authenticated, Exchange } from '../exchange.ts'
import type { Modules } from '../modules.ts'
import { invalid } from './parameters.ts'

/** Refuses: the refusals of keys.recheck and of `inReadSlot`. */
export function readAs<T>(
  caller: Authenticated,
  exchange: Exchange,
  { admission, keys }: Modules,
  read: (book: BookId) => Promise<T>,
): Promise<T> {
  return admission.inReadSlot(exchange, caller.book, async () => {
    const { book } = await keys.recheck(caller)
    return read(book)
  })
}

/** Refuses: a zone that PostgreSQL does not know. */
export async function knownZone<T>(read: () => Promise<T>): Promise<T> {
  return read().catch((error: unknown) => {
    if (!isUnknownZone(error)) throw error
    throw invalid('zone', 'This time zone is not known here')
  })
}
