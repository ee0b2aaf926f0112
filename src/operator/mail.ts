// op mail: what waits in the outbox and what the relay would not take; and a letter that is sent
// now, with all that both sides say. Neither passwords nor letters are shown.
import type { Desk } from './desk/desk.ts'
import { countShown, minuteShown } from './desk/figures.ts'
import { EXIT_DONE, EXIT_NO, mistake } from './desk/halt.ts'
import { tableOf } from './desk/table.ts'

const TROUBLED_MAX = 50

const COLUMNS = [
  { head: 'posted, UTC' },
  { head: 'state' },
  { head: 'tries', side: 'right' },
  { head: 'kind' },
  { head: 'to' },
] as const

export async function outbox(desk: Desk): Promise<number> {
  const { mail } = desk.rooms
  const { queued, oldestSeconds, failed } = await mail.stats()
  const troubled = await mail.troubled(TROUBLED_MAX)
  const rows = troubled.map(({ postedAt, state, attempts, kind, recipient }) => [
    minuteShown(postedAt),
    state === 'failed' ? 'dead' : 'waits',
    String(attempts),
    kind,
    recipient,
  ])
  const [head = '', ...letters] = tableOf(COLUMNS, rows, desk.columns)
  const age = queued === 0 ? '' : `, the oldest for ${spanShown(oldestSeconds)}`
  desk.say({ queued, oldestSeconds: Math.round(oldestSeconds), failed, troubled }, [
    `${countShown(queued)} letters wait${age}; ${countShown(failed)} died within the last day`,
    ...(letters.length === 0 ? [] : [head]),
    // What the relay said is what somebody looks for: it has a line of its own.
    ...letters.flatMap((line, i) => [line, `    ${troubled[i]?.error ?? ''}`]),
  ])
  return EXIT_DONE
}

/** Exit 1 when the relay would not take it. */
export async function testMail(desk: Desk, address: string): Promise<number> {
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) throw mistake(`${address} is no address`)
  const said: string[] = []
  const code = await desk.actApart({
    plan: [`a test letter to ${address}, past the outbox`],
    async work() {
      said.push(...(await desk.rooms.mail.test(address)).split('\n'))
      if (!desk.isJson) for (const line of said.slice(0, -1)) desk.note(line)
    },
    tell: () => ({ result: { isSent: isSent(), dialogue: said }, line: said.at(-1) ?? '' }),
  })
  return isSent() ? code : EXIT_NO

  function isSent(): boolean {
    return said.at(-1) === 'sent'
  }
}

function spanShown(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
