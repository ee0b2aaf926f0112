// Ties orders and the ledger's purchase postings: every posting has a credited order with the same
// book, credits and entry, and every credited order has its posting; a new one has a shop that is
// configured, and sold a pack of its catalogue. Each minute what is new since the last run is
// compared, each night everything.
import { setTimeout as pause } from 'node:timers/promises'
import type { Ledger, Posting } from '../../ledger/ledger.ts'
import { dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { BuyInput } from '../order/order.ts'
import type { Providers } from '../providers.ts'
import { type Findings, type Found, packRule, shopRule, tieRules } from './findings.ts'
import {
  checkFind,
  checkStore,
  findingDeleteOld,
  findingListOpen,
  orderListByIds,
  orderListCredited,
  type SoldOrder,
  timeNow,
} from './queries.ts'

/** The name of the check in payment_checks; the numbers behind the alarms read it. */
const NAME = 'ties'
/** About 20 ms of reading. */
const PAGE_ROWS = 1_000
/**
 * A row gets its time before its transaction commits. No transaction of ours lasts longer, so a row
 * that was not visible in one run is read by the next.
 */
const OVERLAP_MS = 600_000
/** Findings that one run lists: more have one cause. */
const FINDINGS_MAX = 1_000
/** A quarter of a year is enough to see what was found before. */
const FINDING_DAYS = 90
/** Between pages of the whole check: it must not keep a core of the database busy. */
const WHOLE_PAUSE_MS = 20
const BEGINNING = dateAt(0)

/** What concerns an order alone, and is asked only while it is new. */
const orderRules = [shopRule, packRule] as const

export type TieOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'postings'>
  readonly findings: Findings
  readonly providers: Pick<Providers, 'of'>
  /** A pack of one version of the catalogue; undefined if that did not sell it. */
  packSold(
    version: number,
    id: string,
  ): Promise<
    (Pick<BuyInput['pack'], 'credits' | 'priceKopecks'> & { readonly title?: string }) | undefined
  >
}

export function createTies(options: TieOptions) {
  const { db, findings, providers } = options
  const { postings } = options.ledger

  async function compareRefs(refs: readonly string[]): Promise<Found[]> {
    const [posted, orders] = [await postings.find('purchase', refs), await orderListByIds(db, refs)]
    const byRef = new Map(posted.map((one) => [one.ref, one]))
    const byId = new Map<string, SoldOrder>(orders.map((one) => [one.id, one]))
    return refs.flatMap((ref) => foundOf(byRef.get(ref), byId.get(ref)))
  }

  /** What is strange about the credited orders among these: their shop, and what they sold. */
  async function strangeOrders(refs: readonly string[]): Promise<Found[]> {
    const found: Found[] = []
    for (const order of await orderListByIds(db, refs)) {
      if (order.creditedAt === null) continue
      const { id: subject, book, credits, price, provider, shop, catalogueVersion, packId } = order
      const what = `book ${book}: ${creditsText(credits)} credits for ${rublesText(price)} RUB`
      if (providers.of(order) === undefined) {
        const detail = `${what}, paid to ${provider} ${shop}`
        found.push({ rule: shopRule, subject, detail, provider: null })
      }
      const pack = await options.packSold(catalogueVersion, packId)
      if (pack?.credits !== credits || pack.priceKopecks !== price) {
        const detail = `${what}, not as pack ${packId} of catalogue ${catalogueVersion}`
        found.push({ rule: packRule, subject, detail, provider: null })
      }
    }
    return found
  }

  /** Compares both tables from a time on, page by page. */
  async function compareFrom(
    since: Date,
    onPage: (refs: readonly string[], found: readonly Found[]) => Promise<void>,
  ): Promise<void> {
    const lists = [
      (time: string, after: string) =>
        postings.list({ kind: 'purchase', since: time, after, limit: PAGE_ROWS }),
      (time: string, after: string) =>
        orderListCredited(db, { since: time, after, limit: PAGE_ROWS }),
    ]
    for (const list of lists) {
      let rows: readonly { ref: string; time: string }[] = await list(since.toISOString(), '')
      while (rows.length > 0) {
        const refs = rows.map(({ ref }) => ref)
        await onPage(refs, await compareRefs(refs))
        const last = rows.at(-1)
        if (rows.length < PAGE_ROWS || last === undefined) break
        rows = await list(last.time, last.ref)
      }
    }
  }

  return {
    /** The job of each minute: what was posted or credited since the last run. */
    async tieNew(): Promise<void> {
      const now = await timeNow(db)
      const mark = await checkFind(db, NAME)
      // A mark of the future was stored before the clock was set back: it says nothing.
      const isKnown = mark !== undefined && mark <= now
      const since = isKnown ? dateAt(mark.getTime() - OVERLAP_MS) : BEGINNING
      await compareFrom(since, async (refs, found) =>
        findings.open([...found, ...(await strangeOrders(refs))]),
      )
      const subjectsOf = async (rules: readonly string[]) =>
        (await findingListOpen(db, rules, FINDINGS_MAX)).map(({ subject }) => subject)
      const tied = await subjectsOf(tieRules)
      await findings.clear(tieRules, tied, await compareRefs(tied))
      const strange = await subjectsOf(orderRules)
      await findings.clear(orderRules, strange, await strangeOrders(strange))
      await checkStore(db, NAME, now)
    },

    /** The job of each night: everything. It also deletes findings that are long gone. */
    async tieAll(): Promise<void> {
      await compareFrom(BEGINNING, async (refs, found) => {
        await findings.clear(tieRules, refs, found)
        await findings.open(found)
        await pause(WHOLE_PAUSE_MS)
      })
      await findingDeleteOld(db, FINDING_DAYS)
    },

    /** Everything, for an operator. Changes nothing. */
    async checkTies(): Promise<Found[]> {
      // A posting and its order may be read twice, with the same result.
      const all = new Map<string, Found>()
      await compareFrom(BEGINNING, async (_, found) => {
        for (const one of found) all.set(`${one.rule} ${one.subject}`, one)
      })
      return [...all.values()].slice(0, FINDINGS_MAX)
    },
  }
}

function foundOf(posting: Posting | undefined, order: SoldOrder | undefined): Found[] {
  const found = (rule: Found['rule'], subject: string, detail: string): Found[] => [
    { rule, subject, detail, provider: null },
  ]
  if (posting === undefined) {
    if (order === undefined || order.creditedAt === null) return []
    return found(
      'order_without_posting',
      order.id,
      `book ${order.book}: ${creditsText(order.credits)} credits are not in the ledger`,
    )
  }
  const what = `book ${posting.book}: ${creditsText(posting.amount)} credits`
  if (order === undefined)
    return found('posting_without_order', posting.ref, `${what} were sold by no order`)
  if (order.creditedAt === null)
    return found('posting_of_uncredited_order', posting.ref, `${what}, but the order is unpaid`)
  const [sold, posted] = [
    [order.book, order.credits, order.lot],
    [posting.book, posting.amount, posting.seq],
  ].map((values) => values.join(' '))
  if (sold === posted) return []
  const detail = `book, credits and entry: the order has ${sold}, the ledger ${posted}`
  return found('posting_differs', posting.ref, detail)
}
