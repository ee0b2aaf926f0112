// What the end of an order means for top-ups, in the transaction that ends it: a card that its
// payer left with us is kept, a top-up that was paid is told, one that was declined is the last.
import type { Tx } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Brand, Mailer } from './letters.ts'
import type { Order } from './order.ts'
import type { Snapshot } from './port.ts'
import { topUpLetter } from './top-up-letters.ts'
import { methodKeep, topUpStop } from './top-up-queries.ts'

export function createTopUpEndings(options: {
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
}) {
  const { mail, brand, log } = options

  return {
    /** The payer agreed, and the provider keeps the method. May be repeated. */
    async saved(tx: Tx, order: Order, { savedMethod, provider }: Snapshot): Promise<void> {
      if (savedMethod === null) return
      const { book, method } = order
      const { id: methodId, title } = savedMethod
      await methodKeep(tx, { book, provider, method, methodId, title })
    },

    async credited(tx: Tx, order: Order): Promise<void> {
      const { price, credits } = order
      const notice = { kind: 'top-up-credited', facts: { price, credits } } as const
      await mail.post(tx, topUpLetter(notice, order, brand, order.id))
    },

    /** Off at the first no of the bank: a card that is charged in vain again and again is worse. */
    async declined(tx: Tx, order: Order): Promise<void> {
      await topUpStop(tx, order.book, 'declined')
      const notice = { kind: 'top-up-declined', facts: { price: order.price } } as const
      await mail.post(tx, topUpLetter(notice, order, brand, order.id))
      log.info({ order: order.id }, 'a top-up was declined and is off')
    },
  }
}

export type TopUpEndings = ReturnType<typeof createTopUpEndings>
