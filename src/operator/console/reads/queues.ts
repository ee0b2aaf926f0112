// What waits for a person: payments that differ from their orders, open disputes, orders that hang,
// failed receipts, charges that the database refused, e-mails that the relay refused, registrations
// without confirmation, signals; and the two reads that belong to them: a dispute's file for the
// bank, and the rows of a figure.
import { z } from 'zod'
import { isDay } from '../../../platform/clock.ts'
import { requestIdOf } from '../../../platform/ids.ts'
import { CommandError } from '../../desk/command-error.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import { collectEvidence, evidenceFileName } from '../../evidence/facts.ts'
import { evidencePage } from '../../evidence/page.ts'
import { LANGUAGES } from '../../evidence/words.ts'
import { findWaiting } from '../../registrations/find-waiting.ts'
import type * as contract from '../contract/queues.ts'
import { ConsoleRefusal } from '../refusals.ts'
import type { RouteTable } from '../routes.ts'
import { creditsOf, timeOf, timeOrNull } from './amounts.ts'
import type { InTurn } from './in-turn.ts'
import { recordRead } from './record-read.ts'
import { signalLines } from './signals.ts'

/** A page for a person, not a dump: if more wait, something is broken as a whole. */
const SHOWN_MAX = 100
const ROWS_PAGE = 50
/** Enough to see what happens to e-mails now; the search finds the others. */
const REGISTRATIONS_MAX = 20

type QueueRoute = 'GET /api/queues' | 'GET /api/disputes/:id/evidence' | 'GET /api/figures/:name'

export function queueRoutes(modules: OperatorModules, inTurn: InTurn): RouteTable<QueueRoute> {
  const { staff } = modules
  return {
    'GET /api/queues': {
      access: 'payments.read',
      async run(visit) {
        await recordRead(staff, visit, 'queues')
        return readQueues(modules)
      },
    },

    'GET /api/disputes/:id/evidence': {
      access: 'customers.read',
      query: z.object({ language: z.enum(LANGUAGES) }),
      async run(visit) {
        const { id } = visit.params
        await recordRead(staff, visit, `disputes evidence ${id}`)
        const read = inTurn(`evidence ${id}`, () => collectEvidence(modules, id))
        const evidence = await read.catch(refuseUnknown)
        const { language } = visit.query
        return {
          name: evidenceFileName(evidence, language),
          html: evidencePage(evidence, language),
        }
      },
    },

    'GET /api/figures/:name': {
      // The rows are orders and requests of customers.
      access: 'customers.read',
      query: z.object({
        day: z.string().refine(isDay).optional(),
        before: z.string().regex(CURSOR).optional(),
      }),
      async run(visit) {
        const { day = null, before = null } = visit.query
        const { name } = visit.params
        await recordRead(staff, visit, `figures ${name}`)
        return inTurn(`figures ${JSON.stringify([name, day, before])}`, () =>
          figureRows(modules, { name, day, before }),
        )
      },
    },
  }
}

/** An offset, an amount and a book, or an id and a time, as the reports write them. */
const CURSOR = /^(?:\d{1,9}|-?\d{1,19} \d{1,19}|[\w-]{1,100} [\d :.+-]{10,40})$/

function refuseUnknown(error: unknown): never {
  if (!(error instanceof CommandError)) throw error
  throw new ConsoleRefusal('thing_unknown', error.message)
}

async function figureRows(
  { reports }: Pick<OperatorModules, 'reports'>,
  p: { readonly name: string; readonly day: string | null; readonly before: string | null },
): Promise<contract.FigureRows> {
  const found = await reports.dayRows({ ...p, limit: ROWS_PAGE })
  if (found === undefined) {
    throw new ConsoleRefusal('thing_unknown', 'There is no such figure, or it has no rows.')
  }
  const { name, kind, day, timeZone, count, total, next } = found
  return {
    ...{ name, kind, day, timeZone, next, count: String(count) },
    unit: found.unit === 'tenths of a percent' ? 'tenths' : found.unit,
    total: total === null ? null : String(total),
    rows: found.rows.map(({ id, book, text, state, at, amount }) => ({
      ...{ id, text, state, amount: String(amount) },
      book: book === null ? null : String(book),
      at: kind === 'book' ? null : timeOf(at),
    })),
  }
}

async function readQueues(
  modules: Pick<OperatorModules, 'payments' | 'ledger' | 'mail' | 'clock' | 'accounts'>,
): Promise<contract.Queues> {
  const { payments, ledger, mail, clock } = modules
  const [reviews, disputes, stuck, receipts, quarantine, letters, signals, waiting] =
    await Promise.all([
      payments.reviewQueue(),
      payments.disputes(),
      payments.stuckOrders(),
      payments.failedReceipts(),
      ledger.quarantine.list({ limit: SHOWN_MAX, hold: null }),
      mail.listFailed(SHOWN_MAX),
      signalLines(modules),
      findWaiting(modules, { text: null, limit: REGISTRATIONS_MAX }),
    ])
  return {
    reviews: reviews.slice(0, SHOWN_MAX).map((one) => ({
      ...{ id: String(one.id), order: one.order, reason: one.reason, detail: one.detail },
      ...{ hasMoney: one.hasMoney, openedAt: timeOf(one.openedAt) },
      amountKopecks: one.amount === null ? null : String(one.amount),
    })),
    disputes: disputes
      .filter(({ state }) => state === 'opened')
      .slice(0, SHOWN_MAX)
      .map(({ id, order, amount, reserved, openedAt, answerBy }) => ({
        ...{ id, order, amountKopecks: String(amount), reserved: creditsOf(reserved) },
        ...{ openedAt: timeOf(openedAt), answerBy: timeOf(answerBy) },
        isOverdue: answerBy.getTime() <= clock.nowMs(),
      })),
    stuckOrders: stuck.map(({ id, book, state, packTitle, price, createdAt, paidAt }) => ({
      ...{ id, book: String(book), state, pack: packTitle, priceKopecks: String(price) },
      ...{ createdAt: timeOf(createdAt), paidAt: timeOrNull(paidAt) },
    })),
    receipts: receipts.map(({ book, amount, creditedAt, againAt, ...receipt }) => ({
      ...{ ...receipt, book: String(book), amountKopecks: String(amount) },
      ...{ creditedAt: timeOf(creditedAt), againAt: timeOrNull(againAt) },
    })),
    quarantine: quarantine.map(({ hold, reason, priced }) => ({
      ...{ request: requestIdOf(hold), reason, priced: creditsOf(priced) },
    })),
    letters: letters.map(({ id, kind, recipient, state, attempts, error, postedAt }) => ({
      ...{ id, kind, recipient, state, attempts, error, postedAt: timeOf(postedAt) },
    })),
    registrations: waiting.map(({ id, email, invitedBy, isExpired, createdAt, letter }) => ({
      ...{ id, email, isInvited: invitedBy !== null, isExpired, createdAt: timeOf(createdAt) },
      letter: letter && { state: letter.state, error: letter.error },
    })),
    signals,
  }
}
