// Postings: the rare entries of a book (purchase, refund, correction), each written once per kind
// and reference, in the caller's transaction. A repeated call returns the result of the first.
import { Fault } from '../platform/assert.ts'
import type { Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { Contra, CreditKind, PostingResult } from './queries.ts'
import * as queries from './queries.ts'
import { postRefusal } from './refusals.ts'

/**
 * Adds credits once per (kind, ref), in the caller's transaction. Pays debt first. Only the owner
 * of the database may: programs credit by an order, a redemption or an operator's act.
 */
export async function credit(
  tx: Tx,
  p: {
    book: BookId
    kind: CreditKind
    ref: string
    amount: Credits
    contra: Contra
    note: string
  },
) {
  return resultOf(await queries.creditPost(tx, p), `${p.kind} ${p.ref}`)
}

/** Credits that an operator gives, never refunded; once per ref, which begins with `op `. */
export async function gift(
  tx: Tx,
  p: { book: BookId; ref: string; amount: Credits; note: string },
) {
  return resultOf(await queries.giftPost(tx, p), `gift ${p.ref}`)
}

/** Takes `amount` out of the unspent part of a lot, for a refund; once per ref. */
export async function refund(
  tx: Tx,
  p: { book: BookId; lot: bigint; ref: string; amount: Credits; note: string },
) {
  return resultOf(await queries.refundPost(tx, p), `refund ${p.ref}`)
}

/** Gives back what a canceled refund had taken; pays debt first; once per ref. */
export async function reverseRefund(
  tx: Tx,
  p: { book: BookId; lot: bigint; ref: string; note: string },
) {
  return resultOf(await queries.refundReversePost(tx, p), `reversal of refund ${p.ref}`)
}

/** Takes `amount` from what is available, and adds what is missing to the debt; once per ref. */
export async function forceDebit(
  tx: Tx,
  p: {
    book: BookId
    lot: bigint | null
    ref: string
    amount: Credits
    contra: Contra
    note: string
  },
) {
  const row = await queries.forcedDebitPost(tx, p)
  return { ...resultOf(row, `forced debit ${p.ref}`), debt: row.debt as Credits }
}

/** An operator's correction, up or down; at most what is available is taken; once per ref. */
export async function adjust(
  tx: Tx,
  p: { book: BookId; ref: string; amount: Credits; contra: Contra; note: string },
) {
  const row =
    p.amount > 0n
      ? await queries.adjustUpPost(tx, p)
      : await queries.adjustDownPost(tx, { ...p, amount: -p.amount as Credits })
  return resultOf(row, `adjust ${p.ref}`)
}

function resultOf(row: PostingResult, what: string) {
  switch (row.outcome) {
    case 'posted':
    case 'repeated':
      return {
        isRepeat: row.outcome === 'repeated',
        seq: row.seq as bigint,
        available: row.available as Credits,
      }
    case 'exceeds_available':
      throw postRefusal('adjust_exceeds_available', 'More than the account has available.', {
        what,
      })
    case 'exceeds_unspent':
      throw postRefusal('refund_exceeds_unspent', 'More than the unspent part of the pack.', {
        what,
      })
    case 'book_unknown':
      throw postRefusal('book_unknown', 'There is no such account.', { what })
    default:
      throw new Fault(`${what} answered ${row.outcome}`)
  }
}
