// Trials: a new account gets a few promo credits when its e-mail address is confirmed, if the
// operator has switched that on. Once for an address ever, some for a network and a day, and at
// most a sum of credits for a day. Never refundable, as all promo credits. They open the way to
// a key.
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { siteOf } from '../../platform/networks.ts'
import { type Credits, credits } from '../../units/credits.ts'
import type { Digests } from '../digests.ts'
import type { PaymentMetrics } from '../metrics.ts'
import * as queries from './queries.ts'

/** The section `trial` of the settings; amounts in whole credits. */
export type TrialSettings = {
  /** 0: nobody gets a trial. */
  readonly credits: number
  readonly perNetworkDay: number
  readonly creditsPerDay: number
}

export function createTrials(options: {
  readonly db: Db
  readonly trial: TrialSettings
  readonly digests: Pick<Digests, 'address' | 'network'>
  readonly metrics: Pick<PaymentMetrics, 'countTrial'>
  hasPurchased(book: BookId): Promise<boolean>
}) {
  const { db, trial, digests, metrics } = options
  return {
    /** Whether a book may have a key: after a purchase, or with a trial. */
    async mayHaveKey(book: BookId): Promise<boolean> {
      if (await options.hasPurchased(book)) return true
      return (await queries.trialFind(db, book)) !== undefined
    },

    /** The trial that a book got. */
    trial: (book: BookId): Promise<queries.Trial | undefined> => queries.trialFind(db, book),

    /** A daily job. Forgets the networks of days before yesterday. */
    forget: (): Promise<void> => queries.trialNetworksForget(db),

    /** What a new account may get; null while trials are off. */
    offeredTrial: trial.credits === 0 ? null : credits(trial.credits),

    /**
     * Grants the trial of a new account, in the transaction that makes it and as its last
     * statement: no account exists without its credits, and no confirmation grants them twice.
     * An account that gets none is made all the same. Returns the credits; undefined: none.
     */
    async grantTrial(
      tx: Tx,
      p: { readonly book: BookId; readonly email: string; readonly address: string },
    ): Promise<Credits | undefined> {
      if (trial.credits === 0) return undefined
      const amount = credits(trial.credits)
      const outcome = await queries.trialGrant(tx, {
        book: p.book,
        addressDigest: digests.address(p.email),
        networkDigest: digests.network(siteOf(p.address)),
        credits: amount,
        perNetworkDay: trial.perNetworkDay,
        creditsPerDay: credits(trial.creditsPerDay),
      })
      metrics.countTrial(outcome)
      return outcome === 'granted' ? amount : undefined
    },
  }
}

export type Trials = ReturnType<typeof createTrials>
