// op import-keys: reads lines of `<book> <key>` once and stores only hashes. Prints, for each line,
// what became of it and the last four characters; a plain key is never printed.
import { createInterface } from 'node:readline'
import { jsonText, type OperatorRooms } from './rooms.ts'

/** Exit 1 when a line was refused; the others are imported all the same. */
export async function importKeys({ keys }: OperatorRooms, json: boolean): Promise<number> {
  const reports = []
  const lines = createInterface({ input: process.stdin, terminal: false })
  for await (const report of keys.importLines(lines)) {
    reports.push(report)
    if (!json) console.log(`line ${report.line}: …${report.last4} ${report.sentence}`)
  }
  const refused = reports.filter((report) => report.outcome === 'refused').length
  if (json) console.log(jsonText({ reports }))
  else console.log(`${reports.length - refused} imported, ${refused} refused`)
  return refused === 0 ? 0 : 1
}
