// op quarantine: charges that the database refused. The worker sends them again automatically; an
// operator can send them at once, or write one off.
import type { QuarantineRow } from '../ledger/ledger.ts'
import { type HoldId, holdIdOf, requestIdOf } from '../platform/ids.ts'
import { type Credits, credits, creditsText } from '../units/credits.ts'
import { formatCount, formatCredits, formatTime } from './desk/amounts.ts'
import { commandError, EXIT_DONE, EXIT_FAILED, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'

/** If the schema is at fault, every charge is refused: a list for a person, not a dump. */
const LIST_MAX = 200

export async function listQuarantine(desk: Desk): Promise<number> {
  const { quarantine } = desk.modules.ledger
  const rows = await quarantine.list({ limit: LIST_MAX, hold: null })
  const { settles } = await quarantine.count()
  desk.say({ settles, quarantine: rows.map(rowJson) }, quarantineLines(rows, settles))
  return EXIT_DONE
}

/** Exits with 1 when a charge was refused again. */
export async function retryQuarantine(desk: Desk, text?: string): Promise<number> {
  const { quarantine } = desk.modules.ledger
  const hold = text === undefined ? null : readRequest(text)
  const waiting = await quarantine.list({ limit: LIST_MAX, hold })
  if (waiting.length === 0) throw commandError(noneLine(text))
  const all = hold === null ? (await quarantine.count()).settles : waiting.length
  const sent = Math.min(all, quarantine.retriesMax)
  const results: { request: string; outcome: string; charged: string; writtenOff: string }[] = []
  const code = await desk.actWithOwnTransactions({
    plan: [
      ...quarantineLines(waiting, all),
      `  ${formatCount(sent)} sent to the ledger now; each is charged once at most`,
    ],
    async work() {
      for (const { row, outcome, charged } of await quarantine.retry(hold)) {
        const amount = charged ?? credits(0)
        const rest = (charged === null ? 0n : row.priced - charged) as Credits
        const sums = { charged: creditsText(amount), writtenOff: creditsText(rest) }
        results.push({ request: requestIdOf(row.hold), outcome, ...sums })
      }
    },
    report() {
      const charged = results.filter(({ outcome }) => outcome === 'charged').length
      const line = `${charged} charged, ${results.length - charged} refused again`
      return { result: { results }, line }
    },
  })
  for (const { request, outcome, charged, writtenOff } of results) {
    if (outcome !== 'charged') desk.note(`${request}: ${outcome}`)
    else if (writtenOff !== '0') {
      desk.note(`${request}: charged ${charged} credits, written off ${writtenOff}`)
    }
  }
  return results.some(({ outcome }) => outcome !== 'charged') ? EXIT_FAILED : code
}

export async function writeOffQuarantine(desk: Desk, text: string): Promise<number> {
  const { quarantine } = desk.modules.ledger
  const rows = await quarantine.list({ limit: LIST_MAX, hold: readRequest(text) })
  if (rows.length === 0) throw commandError(noneLine(text))
  const sum = rows.reduce((total, { priced }) => total + priced, 0n)
  return desk.actWithOwnTransactions({
    plan: [
      ...rows.flatMap(rowLines),
      '  the charge is written off: it is not sent again, and the customer keeps the credits',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    typeAgain: formatCredits(sum),
    async work() {
      for (const row of rows) {
        if (!(await quarantine.writeOff(row))) throw commandError(goneLine(text))
      }
    },
    // The record has everything that is needed to charge it later after all.
    report: () => ({
      result: { request: text, writtenOff: rows.map(rowJson) },
      line: [`${text}: written off`, ...rows.map(({ settle }) => settle)].join(' '),
    }),
  })
}

/** For op audit too. */
export function quarantineLines(rows: readonly QuarantineRow[], settles: number): string[] {
  if (settles === 0) return ['the quarantine is empty']
  const more = settles - rows.length
  return [
    ...rows.flatMap(rowLines),
    ...(more > 0 ? [`${formatCount(more)} more in quarantine`] : []),
  ]
}

function readRequest(text: string): HoldId {
  const hold = holdIdOf(text)
  if (hold === undefined) throw usageError(`${text} is no request id; op quarantine list has them`)
  return hold
}

function noneLine(text: string | undefined): string {
  return text === undefined ? 'the quarantine is empty' : `no charge of ${text} is in quarantine`
}

function goneLine(text: string): string {
  return `${text} left the quarantine meanwhile, so it may be charged; op find ${text} shows it`
}

function rowLines({ hold, book, priced, reason, refusedAt, attempts }: QuarantineRow): string[] {
  const tries = attempts === 0 ? '' : `, sent ${formatCount(attempts)} times since`
  return [
    `quarantined charge ${requestIdOf(hold)}  book ${book}, ${formatCredits(priced)} credits`,
    `  since ${formatTime(refusedAt)}${tries}: ${reason}`,
  ]
}

export function rowJson(row: QuarantineRow) {
  const { hold, book, priced, reason, refusedAt, triedAt, attempts, settle } = row
  const request = requestIdOf(hold)
  const credits = creditsText(priced)
  return { request, book, credits, reason, refusedAt, triedAt, attempts, settle }
}
