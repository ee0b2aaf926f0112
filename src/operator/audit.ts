// op audit: reads the whole ledger and prints what breaks a rule. Changes nothing.
import { jsonText, type OperatorRooms } from './rooms.ts'

export async function audit({ ledger }: OperatorRooms, json: boolean): Promise<number> {
  const findings = await ledger.audit('all')
  if (json) {
    console.log(jsonText({ findings }))
  } else {
    for (const { rule, book, detail } of findings) console.log(`${rule}  book ${book}  ${detail}`)
    console.log(findings.length === 0 ? 'the ledger ties out' : `${findings.length} findings`)
  }
  return findings.length === 0 ? 0 : 1
}
