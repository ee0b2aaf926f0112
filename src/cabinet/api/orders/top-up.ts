// Automatic top-ups that an owner sets: which pack, below what balance, how much in a day and in a
// month; and their history. The payments module records the mandate.
import { z } from 'zod'
import type { Payments } from '../../../payments/payments.ts'
import type { Db } from '../../../platform/db/db.ts'
import type { BookId } from '../../../platform/ids.ts'
import { credits } from '../../../units/credits.ts'
import { kopecks } from '../../../units/kopecks.ts'
import type * as contract from '../../contract/guards.ts'
import { CabinetRefusal } from '../../refusals.ts'
import { creditsOf, timeOf } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'

export type TopUpRouteOptions = {
  readonly db: Db
  readonly payments: Pick<Payments, 'topUps'>
}

/** Each mandate adds a row that stays until the account is erased, and sends an e-mail. */
const AGREE_ALLOWANCE = { max: 20, seconds: 3_600 }
const END_ALLOWANCE = { max: 60, seconds: 3_600 }

type TopUpRoute =
  | 'GET /api/top-up'
  | 'GET /api/top-up/history'
  | 'POST /api/top-up'
  | 'POST /api/top-up/notice'
  | 'POST /api/top-up/off'
  | 'POST /api/top-up/forget'

export function topUpRoutes({ db, payments }: TopUpRouteOptions): RouteTable<TopUpRoute> {
  const { topUps } = payments

  async function answer(book: BookId): Promise<contract.TopUp> {
    const { method, mandate, daySpent, monthSpent, hasAdvanceNotice } = await topUps.read(book)
    return {
      isOffered: topUps.isOffered,
      consentVersion: topUps.consentVersion,
      method:
        method === undefined ? null : { title: method.title, savedAt: timeOf(method.savedAt) },
      mandate: mandate === undefined ? null : mandateOf(mandate),
      dayKopecks: String(daySpent),
      monthKopecks: String(monthSpent),
      hasAdvanceNotice,
      noticeHours: topUps.noticeHours,
    }
  }

  return {
    'GET /api/top-up': { session: 'required', run: ({ session }) => answer(session.book) },

    'GET /api/top-up/history': {
      session: 'required',
      async run({ session }): Promise<contract.TopUpHistory> {
        const { mandates, charges } = await topUps.history(session.book)
        return { mandates: mandates.map(mandateOf), charges: charges.map(chargeOf) }
      },
    },

    'POST /api/top-up': {
      session: 'open',
      action: 'top-up.agree',
      allowance: AGREE_ALLOWANCE,
      body: z.object({
        pack: z.string().max(64),
        priceKopecks: z.string().regex(/^[1-9]\d{0,12}$/),
        credits: z.string().regex(/^[1-9]\d{0,11}$/),
        threshold: z.string().regex(/^[1-9]\d{0,11}$/),
        dayCeilingKopecks: z.string().regex(/^[1-9]\d{0,12}$/),
        monthCeilingKopecks: z.string().regex(/^[1-9]\d{0,12}$/),
        consentVersion: z.string().max(40),
      }),
      async run({ session, body, address }) {
        if (body.consentVersion !== topUps.consentVersion) {
          throw new CabinetRefusal(
            'consent_unknown',
            'The text that was agreed to is not in force.',
          )
        }
        await topUps.turnOn({
          ...{ book: session.book, packId: body.pack, version: body.consentVersion, address },
          priceKopecks: kopecks(BigInt(body.priceKopecks)),
          credits: credits(BigInt(body.credits)),
          threshold: credits(BigInt(body.threshold)),
          dayCeilingKopecks: kopecks(BigInt(body.dayCeilingKopecks)),
          monthCeilingKopecks: kopecks(BigInt(body.monthCeilingKopecks)),
        })
        return answer(session.book)
      },
    },

    'POST /api/top-up/notice': {
      session: 'required',
      action: 'top-up.notice',
      allowance: END_ALLOWANCE,
      body: z.object({ hasAdvanceNotice: z.boolean() }),
      async run({ session, body }) {
        await topUps.setAdvanceNotice(session.book, body.hasAdvanceNotice)
        return answer(session.book)
      },
    },

    'POST /api/top-up/off': {
      session: 'required',
      allowance: END_ALLOWANCE,
      body: z.object({}),
      async run({ session }) {
        await topUps.turnOff(session.book)
        return answer(session.book)
      },
    },

    'POST /api/top-up/forget': {
      session: 'required',
      allowance: END_ALLOWANCE,
      body: z.object({}),
      async run({ session }) {
        await db.transaction((tx) => topUps.forget(tx, session.book))
        return answer(session.book)
      },
    },
  }
}

type History = Awaited<ReturnType<Payments['topUps']['history']>>

function mandateOf(mandate: History['mandates'][number]): contract.Mandate {
  const { endedWhy: why, endedAt } = mandate
  return {
    id: String(mandate.id),
    card: mandate.title,
    pack: mandate.packId,
    priceKopecks: String(mandate.price),
    credits: mandate.credits === null ? null : creditsOf(mandate.credits),
    threshold: creditsOf(mandate.threshold),
    dayCeilingKopecks: String(mandate.dayCeiling),
    monthCeilingKopecks: String(mandate.monthCeiling),
    givenAt: timeOf(mandate.givenAt),
    ended: why && endedAt ? { why, at: timeOf(endedAt) } : null,
  }
}

function chargeOf(charge: History['charges'][number]): contract.TopUpCharge {
  const { id, mandate, state, price, refunded, createdAt, creditedAt, chargeAfter } = charge
  return {
    ...{ order: id, state },
    mandate: mandate === null ? null : String(mandate),
    priceKopecks: String(price),
    refundedKopecks: String(refunded),
    credits: creditsOf(charge.credits),
    createdAt: timeOf(createdAt),
    creditedAt: creditedAt && timeOf(creditedAt),
    chargeAfter: chargeAfter && timeOf(chargeAfter),
  }
}
