// op import-keys: reads lines of `<book> <key>` once and stores only hashes. Prints, for each line,
// what became of it and the last four characters; a plain key is never printed.
import type { Desk } from './desk/desk.ts'
import { EXIT_NO } from './desk/halt.ts'

/** Exit 1 when a line was refused; the others are imported all the same. */
export async function importKeys(desk: Desk): Promise<number> {
  const reports: { readonly outcome: string }[] = []
  const refused = () => reports.filter(({ outcome }) => outcome === 'refused').length
  const code = await desk.begin({
    async work() {
      for await (const report of desk.rooms.keys.importLines(desk.lines())) {
        reports.push(report)
        const key = report.last4 === null ? '' : `…${report.last4} `
        if (!desk.isJson) desk.print(`line ${report.line}: ${key}${report.sentence}`)
      }
    },
    tell: () => ({
      result: { reports },
      line: `${reports.length - refused()} imported, ${refused()} refused`,
    }),
  })
  return refused() === 0 ? code : EXIT_NO
}
