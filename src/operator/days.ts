// op days: the days that left the ledger. The worker retires days by itself; an operator sees
// which, exports a day before its turn, and loads an exported one beside the ledger.
import type { Day } from '../ledger/ledger.ts'
import { formatCount, isDay } from './desk/amounts.ts'
import { commandError, EXIT_DONE, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { tableOf } from './desk/table.ts'

const COLUMNS = [
  { head: 'day, UTC' },
  { head: 'state' },
  { head: 'entries', side: 'right' },
  { head: 'unverified', side: 'right' },
  { head: 'folder' },
] as const

export async function listDays(desk: Desk): Promise<number> {
  const { ledger } = desk.modules
  const days = await ledger.days.list()
  const ahead = await ledger.partitionDaysAhead()
  const rows = days.map(({ day, state, rows, unverified, folder }) => [
    ...[day, state, rows === null ? 'unknown' : formatCount(rows), formatCount(unverified)],
    folder ?? '',
  ])
  desk.say({ daysAhead: ahead, days }, [
    `partitions exist for ${formatCount(ahead)} days from today on`,
    ...(days.length === 0 ? ['no day has left the ledger'] : tableOf(COLUMNS, rows, desk.columns)),
  ])
  return EXIT_DONE
}

export async function exportDay(desk: Desk, text: string): Promise<number> {
  const { ledger } = desk.modules
  const day = await findDay(desk, text)
  if (day.state === 'dropped') return checkExported(desk, day)
  const directory = ledger.days.directory()
  if (directory === undefined) throw commandError('ledger.exportDirectory is not set')
  if (day.state === 'checkpointed') {
    throw commandError(`${text} is still being detached; the worker tries again each hour`)
  }
  const isRepeated = day.state === 'exported'
  return desk.actWithOwnTransactions({
    plan: isRepeated
      ? [`${text}: is in ${day.folder}; the files are compared with its table again`]
      : [`${text}: is written to ${directory}; the worker drops its table afterwards`],
    async work() {
      if (await ledger.days.export(day)) return (await ledger.days.find(text)) ?? day
      throw commandError('the worker exports days at this moment; try again in a minute')
    },
    report: (done) => exportReport(done, isRepeated),
  })
}

/** The table of the day is dropped, so its files can only be compared with the ledger's record. */
async function checkExported(desk: Desk, day: Day): Promise<number> {
  await desk.modules.ledger.days.verify(day)
  const { result, line } = exportReport(day, true)
  desk.say(result, [line])
  return EXIT_DONE
}

function exportReport({ day, rows, folder, digest }: Day, isRepeated: boolean) {
  const line = `${day}: ${formatCount(rows ?? 0n)} entries are in ${folder}`
  return { result: { day, rows, folder, digest }, line: isRepeated ? `${line}, as before` : line }
}

export async function restoreDay(desk: Desk, text: string): Promise<number> {
  const { ledger } = desk.modules
  const day = await findDay(desk, text)
  if (day.folder === null) throw commandError(`${text} was not exported; its table is there`)
  return desk.actWithOwnTransactions({
    plan: [
      `${text}: is loaded from ${day.folder} into a table of its own, for reading`,
      '  the ledger does not change; drop the table when you are done',
    ],
    work: () => ledger.days.restore(text),
    report: ({ table, rows }) => ({
      result: { day: text, table, rows },
      line: `${text}: ${formatCount(rows)} entries are in the table ${table}`,
    }),
  })
}

async function findDay(desk: Desk, text: string): Promise<Day> {
  if (!isDay(text)) throw usageError(`${text} is no day, such as 2026-11-15`)
  const day = await desk.modules.ledger.days.find(text)
  if (day === undefined) throw commandError(`${text} has not left the ledger; op days has those`)
  return day
}
