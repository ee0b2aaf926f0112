// The settlement watch: independent checks that notice when another one is blind. Orders and
// postings are tied every minute, the provider's payments and orders at each sweep and for whole
// days; what differs is a finding until a later check finds it gone.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import type { Answer, Provider, Snapshot } from '../port.ts'
import type { Providers } from '../providers.ts'
import { createCompare, foundOf, mismatchesOf, WITHOUT_ID } from './compare.ts'
import {
  backingRule,
  createFindings,
  type Found,
  packRule,
  paymentRules,
  refundRules,
  shopRule,
  tieRules,
} from './findings.ts'
import { type Finding, findingListOpen, findingTouch, refundListKnown, timeNow } from './queries.ts'
import { createReconcile } from './reconcile.ts'
import { createRefundTies } from './refund-ties.ts'
import { createTies, type TieOptions } from './ties.ts'

/** At most this many calls a minute for findings; those that waited longest come first. */
const RECHECKED_MAX = 5
/** More than a person reads one by one, and then they have one cause. */
const LISTED_MAX = 200
/** An item without an id cannot be fetched; if a list still shows it, it is found again. */
const WITHOUT_ID_MS_MAX = 25 * 3_600_000

/** What concerns only our own tables, besides orders and postings. */
const ownRules = [shopRule, packRule, backingRule]

export function createWatch(
  options: {
    readonly db: Db
    readonly log: Log
    readonly ledger: Pick<Ledger, 'postings'>
    readonly metrics: PaymentMetrics
    readonly providers: Providers
  } & Pick<TieOptions, 'packSold'>,
) {
  const { db, providers } = options
  const findings = createFindings(options)
  const compare = createCompare({ ...options, findings })
  const { reconcile, compareDays } = createReconcile({ ...options, findings, compare })
  const ties = createTies({ ...options, findings })
  const { tieRefunds } = createRefundTies({ ...options, findings })

  /** Whether a payment still differs, as far as the provider answers. */
  async function recheckPayment(
    finding: Finding,
    provider: Provider,
    reread: (provider: Provider, paymentId: string) => Promise<Answer<Snapshot>>,
  ): Promise<void> {
    const answer = await reread(provider, finding.subject)
    if (answer.kind !== 'ok' || answer.value.status !== 'succeeded') return
    const found = (await mismatchesOf(db, provider, [answer.value])).flatMap((one): Found[] =>
      foundOf(one, provider),
    )
    await findings.clear(paymentRules, [finding.subject], found)
  }

  /** Whether a refund is the same there and here; an unreadable one only has to be readable. */
  async function recheckRefund({ subject, rule }: Finding, provider: Provider): Promise<void> {
    const answer = await provider.fetchRefund(subject)
    if (answer.kind !== 'ok') return
    const { status, amount } = answer.value
    const own = (await refundListKnown(db, provider.name, [subject])).get(subject)
    const isSame = status === 'succeeded' && own !== undefined && own === amount
    if (isSame) await findings.clear(refundRules, [subject])
    else if (rule === 'refund_unreadable') await findings.clear([rule], [subject])
  }

  return {
    findings,
    compare,
    reconcile,
    compareDays,
    ...ties,
    async tieNew(): Promise<void> {
      await ties.tieNew()
      await tieRefunds()
    },

    /** Open findings; those that no check has seen for longest come first. */
    list: (limit = LISTED_MAX): Promise<Finding[]> =>
      findingListOpen(db, [...tieRules, ...ownRules, ...paymentRules, ...refundRules], limit),

    /** For an operator: orders and postings are compared now; the rest is what checks found. */
    async audit(): Promise<Pick<Finding, 'rule' | 'subject' | 'detail'>[]> {
      const rules = [...ownRules, ...paymentRules, ...refundRules]
      const open = await findingListOpen(db, rules, LISTED_MAX)
      return [...(await ties.checkTies()), ...open].map(({ rule, subject, detail }) => ({
        ...{ rule, subject, detail },
      }))
    },

    /** The job: fetches the payments and refunds of open findings, and closes what is settled. */
    async recheck(
      reread: (provider: Provider, paymentId: string) => Promise<Answer<Snapshot>>,
    ): Promise<void> {
      const rules = [...paymentRules, ...refundRules]
      const nowMs = (await timeNow(db)).getTime()
      for (const finding of await findingListOpen(db, rules, RECHECKED_MAX)) {
        await findingTouch(db, finding)
        if (finding.subject.startsWith(WITHOUT_ID)) {
          const isOver = nowMs - finding.foundAt.getTime() > WITHOUT_ID_MS_MAX
          if (isOver) await findings.clear(rules, [finding.subject])
          continue
        }
        const provider =
          finding.provider === null
            ? undefined
            : providers.of({ provider: finding.provider, shop: finding.shop })
        if (provider === undefined) continue
        if (finding.rule.startsWith('refund_')) await recheckRefund(finding, provider)
        else await recheckPayment(finding, provider, reread)
      }
    },
  }
}

export type Watch = ReturnType<typeof createWatch>
