// Steps of tests about mandates: owners who saved a card and agreed, their top-ups, what the bank
// charged, and the e-mails they got.
import type { BookId, OrderId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { type Kopecks, kopecks } from '../../src/units/kopecks.ts'
import { pack, type TestPayments } from './payments.ts'

export type Terms = {
  readonly pack?: Pick<typeof pack, 'id' | 'priceKopecks' | 'credits'>
  readonly threshold?: number
  readonly day?: Kopecks
  readonly month?: Kopecks
}

export type MandateSteps = ReturnType<typeof createMandateSteps>

export function createMandateSteps(stage: TestPayments) {
  const { db, payments, sim } = stage

  /** Without other terms: below a million credits, five packs a day and ten a month. */
  async function agree(book: BookId, terms: Terms = {}): Promise<void> {
    const sold = terms.pack ?? pack
    const month = terms.month ?? kopecks(10n * sold.priceKopecks)
    await payments.topUps.turnOn({
      ...{ book, packId: sold.id, version: payments.topUps.consentVersion },
      ...{ priceKopecks: sold.priceKopecks, credits: sold.credits, address: '203.0.113.7' },
      threshold: credits(terms.threshold ?? 1_000_000),
      dayCeilingKopecks: terms.day ?? kopecks(5n * sold.priceKopecks),
      monthCeilingKopecks: month,
    })
  }

  /** Buys a pack by card and pays it. */
  async function purchase(book: BookId, savesMethod = false): Promise<OrderId> {
    const { id } = await stage.buy(book, { savesMethod })
    await sim('pay', { orderId: id })
    await payments.check(id)
    return id
  }

  /** Spends all but `left` credits. */
  async function spendDownTo(book: BookId, left: number): Promise<void> {
    const balance = (await stage.ledger.balance(book))?.available ?? 0n
    await stage.spend(book, (balance - credits(left)) / credits(1))
  }

  async function topUpsOf(book: BookId) {
    const orders = await payments.orders({ book, before: null, limit: 100 })
    return orders.filter(({ isTopUp }) => isTopUp)
  }

  return {
    agree,
    purchase,
    spendDownTo,
    topUpsOf,

    /** A new account that saved a card, has 500,000 credits left and agreed. */
    async owner(terms: Terms = {}): Promise<{ book: BookId; first: OrderId }> {
      const book = await stage.newBook()
      const first = await purchase(book, true)
      await spendDownTo(book, 500_000)
      await agree(book, terms)
      return { book, first }
    },

    states: async (book: BookId) => (await topUpsOf(book)).map(({ state }) => state),

    endedWhy: async (book: BookId) => (await payments.topUps.read(book)).mandate?.endedWhy,

    /** How often the bank charged for a book's top-ups, and how often it was asked to. */
    async chargesOf(book: BookId): Promise<{ paid: number; posts: number }> {
      let [paid, posts] = [0, 0]
      for (const { id } of await topUpsOf(book)) {
        const { payments: made } = await sim(`payments?orderId=${id}`, {}, 'GET')
        const { calls } = await sim(`calls?orderId=${id}&method=POST&last=1000`, {}, 'GET')
        paid += (made as object[]).length
        posts += (calls as object[]).length
      }
      return { paid, posts }
    },

    /** The texts of a book's e-mails of one kind, oldest first. */
    async emails(book: BookId, kind: string): Promise<string[]> {
      const { rows } = await db.query(
        `select body_text as text from letters where kind = $1 and recipient = $2
         order by posted_at`,
        [kind, emailOf(book)],
      )
      return (rows as { text: string }[]).map(({ text }) => text)
    },
  }
}

export const emailOf = (book: BookId): string => `${book}@example.org`
