// op audit: reads the whole ledger and prints what breaks a rule, and the charges that the database
// refused, as far as this machine has them. Changes nothing.
import type { Desk } from './desk/desk.ts'
import { EXIT_DONE, EXIT_NO } from './desk/halt.ts'
import { refusedLines, refusedPlain } from './refused.ts'

/** A screenful: a fault of the schema refuses every charge. */
const REFUSED_MAX = 20

export async function audit({ rooms, say }: Desk): Promise<number> {
  const findings = await rooms.ledger.audit('all')
  const refused = await rooms.ledger.refused()
  const sum = findings.length === 0 ? 'the ledger ties out' : `${findings.length} findings`
  const lines = findings.map(({ rule, book, detail }) => `${rule}  book ${book}  ${detail}`)
  say({ findings, ...refusedPlain(refused) }, [
    ...lines,
    sum,
    ...refusedLines(refused, REFUSED_MAX),
  ])
  const isClean = findings.length === 0 && ('unseen' in refused || refused.settles.length === 0)
  return isClean ? EXIT_DONE : EXIT_NO
}
