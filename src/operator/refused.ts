// op refused: charges that the database refused. They wait as files in the spool directory of the
// machine that served them, and are sent again by themselves; an operator gives one up here.
import type { RefusedList, RefusedSettle } from '../ledger/ledger.ts'
import { holdIdOf, requestIdOf } from '../platform/ids.ts'
import { creditsText } from '../units/credits.ts'
import type { Desk } from './desk/desk.ts'
import { countShown, creditsShown, timeShown } from './desk/figures.ts'
import { absent, EXIT_DONE, mistake } from './desk/halt.ts'

export async function listRefused(desk: Desk): Promise<number> {
  const listed = await desk.rooms.ledger.refused()
  if ('unseen' in listed) throw absent(unseenLine(listed))
  desk.say(refusedPlain(listed), refusedLines(listed))
  return EXIT_DONE
}

export async function removeRefused(desk: Desk, text: string): Promise<number> {
  const hold = holdIdOf(text)
  if (hold === undefined) throw mistake(`${text} is no request id; op refused has them`)
  const { ledger } = desk.rooms
  const listed = await ledger.refused()
  if ('unseen' in listed) throw absent(unseenLine(listed))
  const settles = listed.settles.filter((one) => one.hold === hold)
  if (settles.length === 0) {
    throw absent(`no charge of ${text} was refused, by what is in ${listed.directory}`)
  }
  const sum = settles.reduce((total, { known }) => total + (known?.priced ?? 0n), 0n)
  return desk.actApart({
    plan: [
      ...settles.flatMap(settleLines),
      '  the charge is given up: it is not sent again, and its file is removed',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    again: creditsShown(sum),
    work: () => ledger.removeRefused(hold),
    // The line that stays has all that is needed to charge it after all.
    tell: () => ({
      result: { request: text, removed: settles.map(settlePlain) },
      line: [`${text}: given up`, ...settles.map(({ known }) => known?.text ?? 'damaged')].join(
        ' ',
      ),
    }),
  })
}

export function refusedLines(listed: RefusedList, max = Number.POSITIVE_INFINITY): string[] {
  if ('unseen' in listed) return [unseenLine(listed)]
  const { directory, settles } = listed
  if (settles.length === 0) return [`no refused charges in ${directory}`]
  const more = settles.length - max
  return [
    ...settles.slice(0, max).flatMap(settleLines),
    ...(more > 0 ? [`${countShown(more)} more refused charges; op refused lists them`] : []),
  ]
}

/** `refused` is null where nothing can be known. */
export function refusedPlain(listed: RefusedList) {
  const { directory: spoolDirectory } = listed
  return 'unseen' in listed
    ? { spoolDirectory, refused: null, unseen: listed.unseen }
    : { spoolDirectory, refused: listed.settles.map(settlePlain), unseen: null }
}

function unseenLine({ directory, unseen }: Extract<RefusedList, { unseen: string }>): string {
  return `refused charges are not known here, run this where serve runs: ${directory}: ${unseen}`
}

function settleLines({ hold, known }: RefusedSettle): string[] {
  const head = `refused charge ${requestIdOf(hold)}`
  if (known === undefined) return [`${head}  its file is damaged`]
  const { book, priced, ending, reason, at } = known
  return [
    `${head}  book ${book}, ${creditsShown(priced)} credits, ${ending}`,
    `  since ${timeShown(at)}: ${reason}`,
  ]
}

function settlePlain({ hold, known }: RefusedSettle) {
  const request = requestIdOf(hold)
  if (known === undefined) return { request, isDamaged: true }
  const { book, priced, ending, reason, at, text } = known
  const credits = creditsText(priced)
  return { request, isDamaged: false, book, credits, ending, reason, at, settle: text }
}
