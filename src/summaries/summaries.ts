// The entry file of summaries: one e-mail a month to each owner who has used or bought something,
// with usage, purchases, tax receipts and the balance. It is no duty, so an owner can switch it off
// by a link in it. README.md has the rules.
import type { Accounts, SummaryOwner } from '../accounts/accounts.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Payments } from '../payments/payments.ts'
import { type Clock, dateAt, dayText } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import { createLocalTime } from '../platform/local-time.ts'
import type { Log } from '../platform/log.ts'
import type { EmailBrand } from '../platform/mail/email.ts'
import type { Mail } from '../platform/mail/mail.ts'
import { zoneOf } from '../platform/zone.ts'
import { micro } from '../units/credits.ts'
import { composeSummaryEmail, SUMMARY_KIND, type SummaryFacts } from './email.ts'

export type SummariesOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly mail: Pick<Mail, 'post'>
  readonly brand: EmailBrand
  readonly accounts: Pick<Accounts, 'summaries'>
  readonly ledger: Pick<Ledger, 'usage' | 'balance'>
  readonly payments: Pick<Payments, 'orders' | 'receipts' | 'lastPack'>
}

/**
 * A summary that is a week late, because no worker ran or this version is new, tells nobody
 * anything: the month is skipped.
 */
const LATE_DAYS = 7
/** The page of payments has the others; a month rarely has more than four. */
const RECEIPTS_MAX = 12
/** More orders than any account pays in a month. */
const ORDERS_MAX = 500
/** The page of usage has the others; more would push the balance off a phone's first screen. */
const MODELS_MAX = 5
const NOTHING = micro(0n)

type Month = {
  readonly first: string
  readonly last: string
  readonly from: Date
  readonly until: Date
}

export function createSummaries(options: SummariesOptions) {
  const { db, clock, log, mail, brand, ledger, payments } = options
  const { summaries: owners } = options.accounts

  /** Undefined: the month had nothing to tell. */
  async function factsOf(owner: SummaryOwner, month: Month): Promise<SummaryFacts | undefined> {
    const { book } = owner
    const isWithin = (at: Date | null) => at !== null && at >= month.from && at < month.until
    const days = { zone: zoneOf(owner.zone ?? undefined), from: month.first, to: month.last }
    const used = await ledger.usage.explore({ book, step: 'month', split: 'model', ...days })
    const orders = await payments.orders({ book, before: null, limit: ORDERS_MAX })
    const bought = orders.filter(({ creditedAt }) => isWithin(creditedAt))
    const issued = (await payments.receipts.ofBook(book)).filter(({ fiscal }) =>
      isWithin(fiscal?.registeredAt ?? null),
    )
    const { requests, free, spent } = used.whole
    if (requests === 0n && bought.length === 0 && issued.length === 0) return undefined
    return {
      month: month.first,
      requests: requests - free,
      spent,
      models: used.totals
        .filter((one) => one.key !== null && one.spent > 0n)
        .slice(0, MODELS_MAX)
        .map((one) => ({ model: one.key as string, spent: one.spent })),
      purchases: bought.map(({ priceKopecks, pack }) => ({
        price: priceKopecks,
        credits: pack.credits,
      })),
      receipts: issued.slice(0, RECEIPTS_MAX).map((one) => ({
        kind: one.kind,
        amount: one.amountKopecks,
        atMs: one.fiscal?.registeredAt.getTime() ?? 0,
      })),
      receiptsMore: Math.max(0, issued.length - RECEIPTS_MAX),
      balance: (await ledger.balance(book))?.available ?? NOTHING,
      pack: await payments.lastPack(book),
    }
  }

  async function post(owner: SummaryOwner, month: Month): Promise<boolean> {
    const facts = await factsOf(owner, month)
    return db.transaction(async (tx) => {
      const code = await owners.take(tx, owner, month.first)
      if (code === undefined || facts === undefined) return false
      const email = composeSummaryEmail(facts, { ...owner, brand, code })
      const once = `${owner.account} ${month.first}`
      await mail.post(tx, { ...email, to: owner.email, kind: SUMMARY_KIND, once })
      return true
    })
  }

  /** The month before the present one in the owner's zone; undefined when it ended long ago. */
  async function lastMonth(zone: string | null): Promise<Month | undefined> {
    const known = zoneOf(zone ?? undefined)
    const today = createLocalTime(known)(dateAt(clock.nowMs())).slice(0, 10)
    if (Number(today.slice(8)) > LATE_DAYS) return undefined
    const { first, last } = monthBefore(today)
    const { from, to } = await ledger.usage.period({ zone: known, from: first, to: last })
    if (from === null || to === null) throw new Error('a month has a first and a last day')
    return { first, last, from, until: to }
  }

  return {
    /**
     * The job: posts the summaries that are due. May be repeated, and may run in several processes.
     * Returns how many were posted.
     */
    async run(): Promise<number> {
      const today = dayText(clock.nowMs())
      // West of Greenwich the month ends up to half a day later.
      if (Number(today.slice(8)) > LATE_DAYS + 1) return 0
      let posted = 0
      for await (const owner of owners.waiting(monthBefore(today).first)) {
        try {
          const month = await lastMonth(owner.zone)
          if (month === undefined || (owner.month ?? '') >= month.first) continue
          if (await post(owner, month)) posted += 1
        } catch (error) {
          log.error({ account: owner.account, err: error }, 'a month could not be summarised')
        }
      }
      if (posted > 0) log.info({ posted }, 'summaries of the month were posted')
      return posted
    },
  }
}

export type Summaries = ReturnType<typeof createSummaries>

/** The first and the last day of the month before that of a day, such as `2026-10-01`. */
function monthBefore(day: string): { readonly first: string; readonly last: string } {
  const last = dayText(Date.parse(`${day.slice(0, 7)}-01`) - 1)
  return { first: `${last.slice(0, 7)}-01`, last }
}
