// op mail: lists the e-mails that wait or that the relay refused, and sends a waiting one again at
// once; `op mail test` sends one now and shows the SMTP dialogue. It shows neither passwords nor
// the text of e-mails.
import { formatCount, formatMinute } from './desk/amounts.ts'
import { commandError, EXIT_DONE, EXIT_FAILED, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { tableOf } from './desk/table.ts'

const TROUBLED_MAX = 50
/** As many as the console shows. */
const LISTED_MAX = 100

const COLUMNS = [
  { head: 'posted, UTC' },
  { head: 'state' },
  { head: 'tries', side: 'right' },
  { head: 'kind' },
  { head: 'to' },
] as const

export async function outbox(desk: Desk): Promise<number> {
  const { mail } = desk.modules
  const { queued, oldestSeconds, failed } = await mail.stats()
  const troubled = await mail.listFailed(TROUBLED_MAX)
  const rows = troubled.map(({ postedAt, state, attempts, kind, recipient }) => [
    formatMinute(postedAt),
    state === 'failed' ? 'dead' : 'waits',
    String(attempts),
    kind,
    recipient,
  ])
  const [head = '', ...emailLines] = tableOf(COLUMNS, rows, desk.columns)
  const age = queued === 0 ? '' : `, the oldest for ${formatDuration(oldestSeconds)}`
  const failedText = `${formatCount(failed)} failed within the last day`
  desk.say({ queued, oldestSeconds: Math.round(oldestSeconds), failed, troubled }, [
    `${formatCount(queued)} e-mails are waiting${age}; ${failedText}`,
    ...(emailLines.length === 0 ? [] : [head]),
    // The relay's answer gets its own line: that is what an operator looks for.
    ...emailLines.flatMap((line, i) => [
      line,
      `    ${troubled[i]?.error ?? ''}`,
      ...(troubled[i]?.state === 'queued' ? [`    op mail retry ${troubled[i]?.id}`] : []),
    ]),
  ])
  return EXIT_DONE
}

/** The text of an e-mail that has failed for good is deleted, so only a waiting one can be sent. */
export async function retryMail(desk: Desk, id: string): Promise<number> {
  const { mail } = desk.modules
  const email = (await mail.listFailed(LISTED_MAX)).find((one) => one.id === id)
  if (email?.state !== 'queued')
    throw commandError(`no e-mail ${id} waits; op mail outbox has them`)
  return desk.act({
    plan: [
      `e-mail ${email.kind} to ${email.recipient}`,
      `  sent ${formatCount(email.attempts)} times: ${email.error}`,
      '  it is sent again now',
    ],
    async work(tx) {
      if (!(await mail.retry(tx, id)))
        throw commandError(`no e-mail ${id} waits; op mail outbox has them`)
    },
    report: () => ({ result: { letter: id }, line: `e-mail ${id} is sent again` }),
  })
}

/** Exits with 1 when the relay refused the e-mail. */
export async function testMail(desk: Desk, address: string): Promise<number> {
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) throw usageError(`${address} is no address`)
  const dialogue: string[] = []
  const code = await desk.actWithOwnTransactions({
    plan: [`a test e-mail to ${address}, past the outbox`],
    async work() {
      dialogue.push(...(await desk.modules.mail.test(address)).split('\n'))
      if (!desk.isJson) for (const line of dialogue.slice(0, -1)) desk.note(line)
    },
    report: () => ({ result: { isSent: isSent(), dialogue }, line: dialogue.at(-1) ?? '' }),
  })
  return isSent() ? code : EXIT_FAILED

  function isSent(): boolean {
    return dialogue.at(-1) === 'sent'
  }
}

function formatDuration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
