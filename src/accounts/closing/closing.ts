// Closing an account, and the copy of all data that an owner may ask for. Data that the law
// requires stays until the term after the closing is over; then erasure/ erases the personal data.
// The ledger's rows stay: they name a book and no person.
import type { Dependencies } from '../dependencies.ts'
import type { Owner } from '../erasure/erasure.ts'
import { accountAddresses } from '../erasure/queries.ts'
import { requireProofs, type Session } from '../sessions.ts'
import type { ClosingHooks } from './hooks.ts'
import { jsonParts } from './json-parts.ts'
import { createClosingProcess } from './process.ts'
import * as closingQueries from './queries.ts'

/** Rows per run of the job; the next run takes the rest. */
const SWEEP_MAX = 10_000
/** The life of the cookie that names a browser. */
const DEVICE_DAYS = 400
/** People whose link has expired write to support within a week; then nobody misses the row. */
const REGISTRATION_DAYS = 7

export function createClosing(dependencies: Dependencies, hooks: ClosingHooks) {
  const { db } = dependencies

  /** The last member says that nothing is missing: a file that was cut off lacks it. */
  async function* exportOf(owner: Owner): AsyncGenerator<string> {
    const own = await closingQueries.accountExport(db, owner.account)
    const addressed = { ...owner, addresses: await accountAddresses(db, owner.account) }
    const others = Object.entries(hooks.exports).map(
      ([name, read]) => [name, () => read(addressed)] as const,
    )
    yield* jsonParts({ ...own, ...Object.fromEntries(others), isWhole: true })
    yield '\n'
  }

  return {
    /** How an account is closed; process.ts. */
    closings: createClosingProcess(dependencies, hooks),

    /**
     * Everything we hold about the owner, as parts of a JSON file. Refuses: session_missing,
     * step_up_needed.
     */
    copy(session: Session | undefined): AsyncGenerator<string> {
      const { account, book } = requireProofs(session, 'account.export')
      return exportOf({ account, book })
    },

    /** For operators: the same, also of a closed account. */
    export: exportOf,

    /** A job of every few minutes: deletes expired sessions, codes and counts. May be repeated. */
    async sweep(): Promise<number> {
      return closingQueries.expiredDelete(db, {
        max: SWEEP_MAX,
        deviceDays: DEVICE_DAYS,
        registrationDays: REGISTRATION_DAYS,
      })
    },
  }
}
