// The only file of the payment model that knows how mandates are called: giving, ending, and
// whether one lives.
import type { Payments } from '../../../src/payments/payments.ts'
import type { Db } from '../../../src/platform/db/db.ts'
import type { BookId } from '../../../src/platform/ids.ts'
import { type Credits, micro } from '../../../src/units/credits.ts'
import { type Kopecks, kopecks } from '../../../src/units/kopecks.ts'
import type { Mandate } from '../../support/payment-model.ts'

/** SQL: whether the book `b` has a living mandate. */
export const MANDATES_ON =
  'exists (select from mandates m where m.book_id = b.id and m.ended_at is null)'

/** The owner agrees to these terms. Refuses as the product does. */
export async function agree(
  { topUps }: Payments,
  book: BookId,
  packId: string,
  mandate: Mandate,
): Promise<void> {
  await topUps.turnOn({
    ...{ book, packId, version: topUps.consentVersion, address: '203.0.113.7' },
    priceKopecks: kopecks(mandate.price) as Kopecks,
    credits: micro(mandate.credits) as Credits,
    threshold: micro(mandate.threshold) as Credits,
    // The model knows one ceiling; the day's allows as much.
    dayCeilingKopecks: kopecks(mandate.ceiling) as Kopecks,
    monthCeilingKopecks: kopecks(mandate.ceiling) as Kopecks,
  })
}

export async function endMandate({ topUps }: Payments, book: BookId): Promise<void> {
  await topUps.turnOff(book)
}

export async function forgetCard(db: Db, { topUps }: Payments, book: BookId): Promise<void> {
  await db.transaction((tx) => topUps.forget(tx, book))
}

/** SQL: a planted bug, by which a mandate that its owner has ended lives on. */
export const MANDATE_SURVIVES = {
  plant: `create function planted_mandate() returns trigger language plpgsql as $$ begin
    if new.ended_why = 'owner' then return null; end if;
    return new;
  end $$;
  create trigger planted_mandate before update on mandates
    for each row execute function planted_mandate()`,
  undo: 'drop function planted_mandate cascade',
}
