// A charge in quarantine: of a hold that the database does not know.
import { setTimeout as wait } from 'node:timers/promises'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { type BookId, newHoldId, requestIdOf } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { noTokens, tokens } from '../../src/units/tokens.ts'

/** The id of its request. */
export async function quarantineCharge(
  ledger: Pick<Ledger, 'settle' | 'quarantine'>,
  book: BookId,
  whole: number,
): Promise<string> {
  const id = newHoldId(0, Date.now())
  await ledger.settle({
    ...{ id, book, ending: 'complete', isEstimated: false, messageId: 'msg_1' },
    counts: { ...noTokens, output: tokens(whole) },
    priced: credits(whole),
  })
  // The reply may end when the charge is on disk, a moment before it is in the table.
  for (let i = 0; i < 1_000; i++) {
    if ((await ledger.quarantine.list({ limit: 1, hold: id })).length > 0) return requestIdOf(id)
    await wait(10)
  }
  throw new Error('the charge is not in quarantine after ten seconds')
}
