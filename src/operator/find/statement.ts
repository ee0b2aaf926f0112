// op statement: the entries of a book, newest first, as a table, as CSV with all fields, or as one
// JSON object. Entries are read page by page; CSV is printed as it is read.
import type { Entry } from '../../ledger/ledger.ts'
import type { BookId } from '../../platform/ids.ts'
import { requestIdOf } from '../../platform/ids.ts'
import { creditsText } from '../../units/credits.ts'
import {
  formatCredits,
  formatMinute,
  parseCount,
  parsePeriodEnd,
  parsePeriodStart,
} from '../desk/amounts.ts'
import { EXIT_DONE } from '../desk/command-error.ts'
import { customerTitle, findCustomer } from '../desk/customer.ts'
import type { Desk } from '../desk/desk.ts'
import { tableOf } from '../desk/table.ts'

const PAGE = 1_000
/** More than a screen; --limit or --csv gives more. */
const ROWS = 50
const MOMENT = 'a day, such as 2026-11-01, or a moment, such as 2026-11-01T10:00:00Z'

const COLUMNS = [
  { head: 'when, UTC' },
  { head: 'kind' },
  { head: 'credits', side: 'right' },
  { head: 'balance', side: 'right' },
  { head: 'of' },
] as const

export async function statement(desk: Desk, text: string): Promise<number> {
  const customer = await findCustomer(desk, text)
  const from = desk.read('from', parsePeriodStart, MOMENT)
  const to = desk.read('to', parsePeriodEnd, MOMENT)
  const isCsv = desk.flag('csv')
  const isWhole = isCsv || desk.isJson
  const limit =
    desk.read('limit', parseCount, 'a whole number above 0') ?? (isWhole ? Infinity : ROWS)
  const entries = entriesOf(desk, { book: customer.book.id, from, to, limit })
  if (isCsv) {
    desk.print(FIELDS.join(','))
    for await (const entry of entries) desk.print(csvLine(entry))
    return EXIT_DONE
  }
  const list = await Array.fromAsync(entries)
  const rows = list.map((entry) => [
    formatMinute(entry.at),
    entry.kind,
    formatCredits(entry.amount),
    formatCredits(entry.balance),
    aboutOf(entry),
  ])
  desk.say(
    {
      book: customer.book.id,
      email: customer.account?.email ?? null,
      entries: list.map(entryJson),
    },
    [
      customerTitle(customer),
      ...tableOf(COLUMNS, rows, desk.columns),
      list.length < limit ? sumOf(list) : `the newest ${limit}; --limit or --csv has more`,
    ],
  )
  return EXIT_DONE
}

async function* entriesOf(
  { modules }: Desk,
  p: { book: BookId; from: Date | undefined; to: Date | undefined; limit: number },
): AsyncGenerator<Entry> {
  let beforeSeq: bigint | null = null
  let left = p.limit
  for (;;) {
    const page: Entry[] = await modules.ledger.statement({ book: p.book, beforeSeq, limit: PAGE })
    for (const entry of page) {
      if (p.to !== undefined && entry.at >= p.to) continue
      // A book's entries are in the order of their times, unless a clock was set back.
      if (left === 0 || (p.from !== undefined && entry.at < p.from)) return
      left -= 1
      yield entry
    }
    if (page.length < PAGE) return
    beforeSeq = page.at(-1)?.seq ?? null
  }
}

function aboutOf({ kind, model, ending, ref, note }: Entry): string {
  if (kind === 'charge' || kind === 'void') return `${model ?? ''} ${ending ?? ''}`.trim()
  return note || ref || ''
}

function sumOf(entries: readonly Entry[]): string {
  const sum = (isIn: (amount: bigint) => boolean) =>
    entries.reduce((all, { amount }) => (isIn(amount) ? all + amount : all), 0n)
  const [came, went] = [sum((amount) => amount > 0n), sum((amount) => amount < 0n)]
  return `${entries.length} entries: ${formatCredits(came)} in, ${formatCredits(-went)} out`
}

const FIELDS = [
  'seq',
  'at',
  'kind',
  'credits',
  'balance',
  'contra',
  'request',
  'model',
  'list',
  'ending',
  'input',
  'output',
  'cacheRead',
  'cacheWrite5m',
  'cacheWrite1h',
  'writtenOff',
  'ref',
  'note',
  'parts',
  'details',
] as const

/** An entry for scripts: amounts as exact text, the request by the id that the client received. */
function entryJson(entry: Entry): Record<(typeof FIELDS)[number], string | null> {
  const text = (value: bigint | null) => (value === null ? null : String(value))
  return {
    seq: String(entry.seq),
    at: entry.at.toISOString(),
    kind: entry.kind,
    credits: creditsText(entry.amount),
    balance: creditsText(entry.balance),
    contra: entry.contra,
    request: entry.holdId === null ? null : requestIdOf(entry.holdId),
    model: entry.model,
    list: entry.list,
    ending: entry.ending,
    input: text(entry.input),
    output: text(entry.output),
    cacheRead: text(entry.cacheRead),
    cacheWrite5m: text(entry.cacheWrite5m),
    cacheWrite1h: text(entry.cacheWrite1h),
    writtenOff: entry.writtenOff === null ? null : creditsText(entry.writtenOff),
    ref: entry.ref,
    note: entry.note,
    parts: objectText(entry.parts),
    details: objectText(entry.details),
  }
}

/** As JSON; null when it is empty. */
function objectText(object: object | null): string | null {
  if (object === null || Object.keys(object).length === 0) return null
  return JSON.stringify(object, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

function csvLine(entry: Entry): string {
  const fields = entryJson(entry)
  return FIELDS.map((field) => csvCell(fields[field] ?? '')).join(',')
}

/** RFC 4180. An apostrophe is put before text that a spreadsheet would run as a formula. */
function csvCell(text: string): string {
  const safe = /^[=@\t\r]|^[+-](?![\d.])/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
