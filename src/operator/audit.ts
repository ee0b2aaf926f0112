// op audit: reads the whole ledger and prints what breaks a rule. Changes nothing.
import type { Desk } from './desk.ts'
import { EXIT_DONE, EXIT_NO } from './halt.ts'

export async function audit({ rooms, say }: Desk): Promise<number> {
  const findings = await rooms.ledger.audit('all')
  const sum = findings.length === 0 ? 'the ledger ties out' : `${findings.length} findings`
  const lines = findings.map(({ rule, book, detail }) => `${rule}  book ${book}  ${detail}`)
  say({ findings }, [...lines, sum])
  return findings.length === 0 ? EXIT_DONE : EXIT_NO
}
