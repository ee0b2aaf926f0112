// Automatic top-ups that an owner sets: which pack, below what balance, how much in a month. The
// payments module records the agreement.
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

/** Each agreement adds a row that is never deleted, and sends an e-mail. */
const AGREE_ALLOWANCE = { max: 20, seconds: 3_600 }
const END_ALLOWANCE = { max: 60, seconds: 3_600 }

export function topUpRoutes({
  db,
  payments,
}: TopUpRouteOptions): RouteTable<
  'GET /api/top-up' | 'POST /api/top-up' | 'POST /api/top-up/off' | 'POST /api/top-up/forget'
> {
  const { topUps } = payments

  async function answer(book: BookId): Promise<contract.TopUp> {
    const { method, agreement, monthKopecks } = await topUps.read(book)
    const { stoppedWhy: why, stoppedAt } = agreement ?? {}
    return {
      isOffered: topUps.isOffered,
      consentVersion: topUps.consentVersion,
      method:
        method === undefined ? null : { title: method.title, savedAt: timeOf(method.savedAt) },
      isOn: agreement?.isOn ?? false,
      settings:
        agreement === undefined
          ? null
          : {
              pack: agreement.packId,
              priceKopecks: String(agreement.price),
              credits: agreement.credits === null ? null : creditsOf(agreement.credits),
              threshold: creditsOf(agreement.threshold),
              ceilingKopecks: String(agreement.ceiling),
              agreedAt: timeOf(agreement.givenAt),
            },
      monthKopecks: String(monthKopecks),
      stopped: why && stoppedAt ? { why, at: timeOf(stoppedAt) } : null,
    }
  }

  return {
    'GET /api/top-up': { session: 'required', run: ({ session }) => answer(session.book) },

    'POST /api/top-up': {
      session: 'fresh',
      allowance: AGREE_ALLOWANCE,
      body: z.object({
        pack: z.string().max(64),
        priceKopecks: z.string().regex(/^[1-9]\d{0,12}$/),
        credits: z.string().regex(/^[1-9]\d{0,11}$/),
        threshold: z.string().regex(/^[1-9]\d{0,11}$/),
        ceilingKopecks: z.string().regex(/^[1-9]\d{0,12}$/),
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
          ceilingKopecks: kopecks(BigInt(body.ceilingKopecks)),
        })
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
