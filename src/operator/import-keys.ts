// op import-keys: reads lines of `<whom> <key>` and stores only hashes. Prints the outcome and the
// key's last four characters for each line, never the whole key.
import type { AccountId, BookId } from '../platform/ids.ts'
import { EXIT_FAILED } from './desk/command-error.ts'
import { isBookNumber } from './desk/customer.ts'
import type { Desk } from './desk/desk.ts'

/** Exits with 1 when a line was refused; the other lines are imported. */
export async function importKeys(desk: Desk): Promise<number> {
  const reports: { readonly outcome: string }[] = []
  const refused = () => reports.filter(({ outcome }) => outcome === 'refused').length
  const code = await desk.actWithoutAsking({
    async work() {
      for await (const report of desk.modules.keys.importLines(desk.lines(), ownBook)) {
        reports.push(report)
        const key = report.last4 === null ? '' : `…${report.last4} `
        if (!desk.isJson) desk.say({}, [`line ${report.line}: ${key}${report.sentence}`])
      }
    },
    report: () => ({
      result: { reports },
      line: `${reports.length - refused()} imported, ${refused()} refused`,
    }),
  })
  return refused() === 0 ? code : EXIT_FAILED

  /** By the whole e-mail address of an open account, its id, or the number of its book. */
  async function ownBook(owner: string): Promise<BookId | undefined> {
    const { accounts } = desk.modules
    if (isBookNumber(owner)) return BigInt(owner) as BookId
    const isAddress = owner.includes('@')
    return (await (isAddress ? accounts.findByEmail(owner) : accounts.find(owner as AccountId)))
      ?.book
  }
}
