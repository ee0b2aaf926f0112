// op registrations: people who registered or were invited and have not confirmed, with what became
// of their e-mails. Support can send the e-mail again, or delete a registration. Expired ones are
// listed for a week.
import { formatCount, formatMinute, parseCount } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { tableOf } from '../desk/table.ts'
import { findWaiting, type SeenRegistration } from './find-waiting.ts'

const COLUMNS = [
  { head: 'registration' },
  { head: 'age', side: 'right' },
  { head: 'state' },
  { head: 'letter' },
  { head: 'e-mail' },
] as const

/** More than a screen is a wave of bots; the search narrows it. */
const LISTED = 50

export async function listRegistrations(desk: Desk, text?: string): Promise<number> {
  const limit = desk.read('limit', parseCount, 'a whole number above 0') ?? LISTED
  const found = await findWaiting(desk.modules, { text: text ?? null, limit })
  const rows = found.map((one) => [one.id, ageOf(one), stateOf(one), letterOf(one), one.email])
  const [head = '', ...lines] = tableOf(COLUMNS, rows, desk.columns)
  desk.say({ registrations: found }, [
    ...(found.length === 0 ? ['no registration waits'] : [head]),
    // The relay's answer gets its own line: that is what support looks for.
    ...lines.flatMap((line, i) => [line, ...answerLines(found[i])]),
  ])
  return EXIT_DONE
}

export async function resendRegistration(desk: Desk, text: string): Promise<number> {
  const one = await requireOne(desk, text)
  const { id, email, language } = one
  return desk.act({
    plan: [
      titleOf(one),
      `  the e-mail is sent again, in ${language === 'ru' ? 'Russian' : 'English'}`,
      '  its link is new; the link before stops',
    ],
    async work(tx) {
      const isSent = await desk.modules.accounts.registrations.sendAgain(tx, id)
      if (!isSent) throw commandError(`${id} does not wait any more`)
    },
    report: () => ({ result: { registration: id }, line: `${email} gets a new link` }),
  })
}

export async function deleteRegistration(desk: Desk, text: string): Promise<number> {
  const one = await requireOne(desk, text)
  const { id, email } = one
  return desk.act({
    plan: [
      titleOf(one),
      '  it is deleted and its link stops; the person may register again',
      `  reason: ${desk.text('reason') ?? ''}`,
    ],
    async work(tx) {
      const isGone = await desk.modules.accounts.registrations.remove(tx, id)
      if (!isGone) throw commandError(`${id} does not wait any more`)
    },
    report: () => ({ result: { registration: id }, line: `the registration of ${email} is gone` }),
  })
}

/** The newest one of a whole address, or the one of an id. */
async function requireOne(desk: Desk, text: string): Promise<SeenRegistration> {
  const found = await findWaiting(desk.modules, { text, limit: 50 })
  const exact = found.find(({ id, email }) => id === text || email === text.trim().toLowerCase())
  if (exact === undefined) throw commandError(`no registration of ${text} waits`)
  return exact
}

export function registrationLines(one: SeenRegistration): string[] {
  return [
    titleOf(one),
    `  ${stateOf(one)}; its e-mail: ${letterOf(one)}`,
    ...answerLines(one),
    `    op registrations resend ${one.id}`,
  ]
}

function titleOf({ id, email, invitedBy, createdAt }: SeenRegistration): string {
  const what = invitedBy === null ? 'registration' : `invitation by ${invitedBy},`
  return `${what} ${id} of ${email}, ${formatMinute(createdAt)} UTC, not confirmed`
}

function ageOf({ ageHours }: SeenRegistration): string {
  if (ageHours < 48) return `${formatCount(ageHours)} h`
  return `${formatCount(Math.floor(ageHours / 24))} days`
}

function stateOf({ isExpired, invitedBy }: SeenRegistration): string {
  if (isExpired) return 'expired'
  return invitedBy === null ? 'waits' : 'invited'
}

function letterOf({ letter }: SeenRegistration): string {
  if (letter === null) return 'not kept'
  return letter.state === 'queued' && letter.error !== null ? 'refused for now' : letter.state
}

function answerLines(one: SeenRegistration | undefined): string[] {
  const error = one?.letter?.error ?? null
  return error === null ? [] : [`    ${error}`]
}
