// Who gets the e-mail about a month, and how an owner switches it off: in the settings, or by the
// link in each of these e-mails, without signing in. The link can do nothing else.
import type { Db, Tx } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import type { Session } from '../sessions.ts'
import * as queries from './queries.ts'

/** As many as one query reads in a few milliseconds. */
const PAGE_OWNERS = 500

export function createSummaryOwners(db: Db) {
  return {
    /** The owners who wait for the summary of a month, a page after another. */
    async *waiting(month: string): AsyncGenerator<queries.SummaryOwner> {
      let after = ''
      for (;;) {
        const page = await queries.summaryOwnerList(db, { after, month, limit: PAGE_OWNERS })
        yield* page
        const last = page.at(-1)
        if (last === undefined || page.length < PAGE_OWNERS) return
        after = last.account
      }
    },

    /**
     * Stores that the month is summarised. Returns the code of the link that switches the e-mail
     * off; undefined when another process was first, or the owner has switched it off or has
     * another address by now, which the next run tells.
     */
    async take(
      tx: Tx,
      { account, email }: Pick<queries.SummaryOwner, 'account' | 'email'>,
      month: string,
    ): Promise<string | undefined> {
      const newCode = randomText(24)
      const code = await queries.summarySet(tx, { account, email, month, newCode })
      return code && `${account}.${code}`
    },

    isOn: ({ account }: Pick<Session, 'account'>): Promise<boolean> =>
      queries.summaryIsOn(db, account),

    set: ({ account }: Pick<Session, 'account'>, isOn: boolean): Promise<void> =>
      queries.summarySwitch(db, { account, isOn }),

    /** False when the code is wrong. May be repeated. */
    async unsubscribe(text: string): Promise<boolean> {
      const [account = '', code = ''] = text.split('.')
      return code !== '' && queries.summaryOffByCode(db, { account, code })
    },
  }
}

export type SummaryOwners = ReturnType<typeof createSummaryOwners>
