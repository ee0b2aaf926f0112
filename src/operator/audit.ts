// op audit: checks the whole ledger and ties it to the orders, and prints what breaks a rule, the
// open findings of the settlement watch, the charges in quarantine, and the spools out of reach.
// Changes nothing.
import { EXIT_DONE, EXIT_FAILED } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { quarantineLines, rowJson } from './quarantine.ts'
import { spoolLines } from './spools.ts'

/** A screenful: if the schema is at fault, every charge is refused. */
const QUARANTINE_MAX = 20

export async function audit({ modules, say }: Desk): Promise<number> {
  const { ledger, payments } = modules
  const findings = await ledger.audit('all')
  const rows = await ledger.quarantine.list({ limit: QUARANTINE_MAX, hold: null })
  const { settles } = await ledger.quarantine.count()
  const spools = await ledger.lostSpools()
  const money = await payments.audit()
  const sum = findings.length === 0 ? 'the ledger ties out' : `${findings.length} findings`
  const lines = findings.map(({ rule, book, detail }) => `${rule}  book ${book}  ${detail}`)
  const moneyLines = money.map(({ rule, subject, detail }) => `${rule}  ${subject}  ${detail}`)
  say({ findings, money, settles, quarantine: rows.map(rowJson), spools }, [
    ...[...lines, sum, ...moneyLines],
    ...quarantineLines(rows, settles),
    ...spoolLines(spools),
  ])
  const isFine = findings.length + money.length + settles + spools.length === 0
  return isFine ? EXIT_DONE : EXIT_FAILED
}
