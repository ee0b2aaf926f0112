// GET /api/statement: every entry of a period as a CSV file, oldest first. It is read and sent page
// by page, as fast as the client reads, so a year with millions of entries takes little memory.
// Entries written after the start are not in it.
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { Accounts, Session } from '../../../accounts/accounts.ts'
import type { Entry, EntryKind, Ledger } from '../../../ledger/ledger.ts'
import { assert } from '../../../platform/assert.ts'
import { dayText } from '../../../platform/clock.ts'
import { requestIdOf } from '../../../platform/ids.ts'
import { createLocalTime } from '../../../platform/local-time.ts'
import type { Plugin } from '../../../platform/server/plugin.ts'
import { type Credits, creditsText } from '../../../units/credits.ts'
import { headersOf, requireAllowance, validate } from '../routes.ts'
import { daysAfter, type Period, periodFields, periodOf } from '../usage/period.ts'
import type { UsageReads } from '../usage/reads.ts'
import { chargeColumns } from './charge-text.ts'
import { BYTE_ORDER_MARK, csvLine, type Field } from './csv.ts'
import { type StatementWords, statementWords } from './words.ts'

const LIMITS = { defaultDays: 30, maxDays: 366 }
/** An entry is 200 bytes of CSV; a page is half a megabyte. */
const ENTRIES_PAGE = 2_000
/** A statement of a year may read millions of entries. */
const STATEMENT_ALLOWANCE = { max: 30, seconds: 3_600 }
/** Kinds whose notes are meant for the owner; other notes are the operator's own. */
const KINDS_WITH_NOTE: readonly EntryKind[] = ['purchase', 'promo', 'void']

export type StatementOptions = {
  readonly accounts: Pick<Accounts, 'session' | 'requireSession' | 'attempt'>
  readonly ledger: Pick<Ledger, 'usage' | 'balance'>
  readonly reads: UsageReads
}

export function statementPlugin({ accounts, ledger, reads }: StatementOptions): Plugin {
  const query = z.object(periodFields)

  async function* lines(
    { book, language }: Session,
    period: Period,
    untilSeq: bigint,
  ): AsyncGenerator<string> {
    const words = statementWords[language]
    const timeText = createLocalTime(period.zone)
    yield BYTE_ORDER_MARK + csvLine(words.columns)
    const { from, to } = await ledger.usage.period(period)
    assert(from !== null && to !== null, 'a period begins and ends')
    const last = await ledger.usage.lastDay({ book, from, to, day: dayText(to.getTime() - 1) })
    for (let day = dayText(from.getTime()); day <= last; day = daysAfter(day, 1)) {
      let afterSeq = 0n
      for (;;) {
        const dayQuery = { book, day, afterSeq, untilSeq, from, to, limit: ENTRIES_PAGE }
        const page = await reads.inTurn(book, () => ledger.usage.entriesOfDay(dayQuery))
        if (page.length > 0) yield page.map((one) => lineOf(one, words, timeText)).join('')
        if (page.length < ENTRIES_PAGE) break
        afterSeq = page.at(-1)?.seq ?? untilSeq
      }
    }
  }

  return (app) => {
    app.get('/api/statement', { exposeHeadRoute: false }, async (request, reply) => {
      const session = accounts.requireSession(await accounts.session(headersOf(request)))
      const sent = validate(query, request.query)
      const withZone = { ...sent, zone: sent.zone ?? session.zone ?? undefined }
      const period = await periodOf(ledger.usage, withZone, LIMITS)
      await requireAllowance(accounts, 'GET /api/statement', session, STATEMENT_ALLOWANCE)
      const book = await ledger.balance(session.book)
      assert(book, `the account's book ${session.book} is not there`)
      for (const cookie of session.cookies) reply.header('set-cookie', cookie)
      const name = `statement-${period.from}-${period.to}.csv`
      return reply
        .header('content-disposition', `attachment; filename="${name}"`)
        .type('text/csv; charset=utf-8')
        .send(Readable.from(lines(session, period, book.seq), { objectMode: false }))
    })
  }
}

function lineOf(entry: Entry, words: StatementWords, timeText: (at: Date) => string): string {
  const { prices, others } = chargeColumns(entry, words)
  return csvLine([
    { number: entry.seq },
    timeText(entry.at),
    words.kinds[entry.kind],
    amount(entry.amount),
    amount(entry.balance),
    entry.model,
    entry.holdId === null ? null : requestIdOf(entry.holdId),
    count(entry.input),
    count(entry.output),
    count(entry.cacheRead),
    count(entry.cacheWrite5m),
    count(entry.cacheWrite1h),
    amount(entry.priced),
    amount(entry.writtenOff),
    entry.ending === null ? null : words.endings[entry.ending],
    entry.isEstimated ? words.yes : null,
    entry.kind === 'charge' ? count(entry.catalogueVersion) : null,
    entry.ref,
    KINDS_WITH_NOTE.includes(entry.kind) ? entry.note : null,
    entry.messageId,
    prices,
    others,
  ])
}

function amount(credits: Credits | null): Field {
  return credits === null ? null : { number: creditsText(credits) }
}

function count(number: bigint | number | null): Field {
  return number === null ? null : { number: String(number) }
}
