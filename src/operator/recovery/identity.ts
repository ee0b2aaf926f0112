// op recover check: an operator types the answers of a person who claims to be the owner. Compares
// them with what we know, and keeps only which step matched. Answers are typed at a prompt: an
// option would stay in the record of acts and in the history of the shell.
import type { IdentityStep } from '../../accounts/accounts.ts'
import { isDay } from '../../platform/clock.ts'
import { type BookId, holdIdOf } from '../../platform/ids.ts'
import { parseRubles } from '../desk/amounts.ts'
import { commandError, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { openAccount } from './recovery.ts'

/** What the person says, in the order in which a conversation goes. */
const QUESTIONS: Readonly<Record<IdentityStep, string>> = {
  payment: 'Amount in roubles and day of a recent payment, such as 1300.00 2026-11-03: ',
  card: 'Last four digits of the saved card: ',
  request: 'Id of a request of the last days, req_…: ',
  key: 'The whole key in force (not shown, not stored): ',
}
const STEPS = Object.keys(QUESTIONS) as IdentityStep[]
/** Somebody who pays remembers the last purchases, not those of years ago. */
const ORDERS_MAX = 10
const DAY_MS = 86_400_000
/** A day begins at most 14 hours before that of UTC, and 12 hours after it. */
const EAST_MS_MAX = 14 * 3_600_000
const WEST_MS_MAX = 12 * 3_600_000

export async function checkIdentity(desk: Desk, text: string): Promise<number> {
  const chosen = STEPS.filter((step) => desk.flag(step))
  if (chosen.length === 0) {
    throw usageError(`name what to compare: ${STEPS.map((step) => `--${step}`).join(' ')}`)
  }
  // Lines of a pipe could be answers to other questions, and five wrong ones end the day.
  if (!desk.isInteractive) {
    throw commandError('answers are typed at a prompt: this needs a terminal')
  }
  const { account, book } = await openAccount(desk, text)
  const { recovery } = desk.modules.accounts
  await recovery.requireTries(account)
  const checks: { step: IdentityStep; isMatched: boolean }[] = []
  for (const step of chosen) {
    const ask = step === 'key' ? desk.askHidden : desk.ask
    const said = await ask(QUESTIONS[step])
    if (said === undefined) throw commandError('the input ended; nothing was compared or counted')
    // The person did not say it: that is no wrong answer.
    if (said.trim() === '') continue
    checks.push({ step, isMatched: await compare[step](desk, book, said.trim()) })
  }
  if (checks.length === 0) throw commandError('nothing was typed; nothing was compared or counted')
  return desk.actWithoutAsking({
    work: () => desk.modules.db.transaction((tx) => recovery.recordIdentity(tx, account, checks)),
    report: () => ({
      result: { account, checks },
      line: checks
        .map(({ step, isMatched }) => `${step} ${isMatched ? 'matches' : 'does not match'}`)
        .join(', '),
    }),
  })
}

const compare: Readonly<
  Record<IdentityStep, (desk: Desk, book: BookId, said: string) => Promise<boolean>>
> = {
  async payment({ modules }, book, said) {
    const [amount = '', day = ''] = said.split(/\s+/)
    const kopecks = parseRubles(amount)
    const { orders } = modules.payments
    const bought = await orders({ book, before: null, limit: ORDERS_MAX })
    return bought.some(
      ({ priceKopecks, creditedAt }) =>
        priceKopecks === kopecks && creditedAt !== null && isOnDay(creditedAt, day),
    )
  },
  async card({ modules }, book, said) {
    const method = await modules.payments.topUps.method(book)
    return /^\d{4}$/.test(said) && method?.title.endsWith(said) === true
  },
  async request({ modules }, book, said) {
    const hold = holdIdOf(said)
    return hold !== undefined && (await modules.ledger.request(hold))?.book === book
  },
  async key({ modules }, book, said) {
    const caller = await modules.keys.verify(said, 'op').catch(() => undefined)
    return caller?.book === book
  },
}

/** A person names the day of their own time zone: 1:00 in Moscow is 22:00 UTC the day before. */
function isOnDay(at: Date, day: string): boolean {
  if (!isDay(day)) return false
  const beginMs = Date.parse(day)
  const atMs = at.getTime()
  return atMs >= beginMs - EAST_MS_MAX && atMs < beginMs + DAY_MS + WEST_MS_MAX
}
