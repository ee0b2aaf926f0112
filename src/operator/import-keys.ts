// op import-keys: reads lines of `<book> <key>` and stores only hashes. Prints the outcome and the
// key's last four characters for each line, never the whole key.
import { EXIT_FAILED } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'

/** Exits with 1 when a line was refused; the other lines are imported. */
export async function importKeys(desk: Desk): Promise<number> {
  const reports: { readonly outcome: string }[] = []
  const refused = () => reports.filter(({ outcome }) => outcome === 'refused').length
  const code = await desk.actWithoutAsking({
    async work() {
      for await (const report of desk.modules.keys.importLines(desk.lines())) {
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
}
