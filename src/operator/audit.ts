// op audit: checks the whole ledger and ties it to the orders, verifies the chain of acts, and
// prints what breaks a rule, the open findings of the settlement watch, the charges in quarantine,
// and the spools out of reach. Changes nothing.
import type { Acts } from '../acts/acts.ts'
import { formatCount } from './desk/amounts.ts'
import { EXIT_DONE, EXIT_FAILED } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { quarantineLines, rowJson } from './quarantine.ts'
import { spoolLines } from './spools.ts'

/** A screenful: if the schema is at fault, every charge is refused. */
const QUARANTINE_MAX = 20

export async function audit({ modules, say }: Desk): Promise<number> {
  const { ledger, payments, acts } = modules
  const findings = await ledger.audit('all')
  const rows = await ledger.quarantine.list({ limit: QUARANTINE_MAX, hold: null })
  const { settles } = await ledger.quarantine.count()
  const spools = await ledger.lostSpools()
  const money = await payments.audit()
  const chain = await acts.audit()
  const sum = findings.length === 0 ? 'the ledger ties out' : `${findings.length} findings`
  const lines = findings.map(({ rule, book, detail }) => `${rule}  book ${book}  ${detail}`)
  const otherLines = [...money, ...chain.findings].map(
    ({ rule, subject, detail }) => `${rule}  ${subject}  ${detail}`,
  )
  const { copiedTo, copyUnread } = chain
  const copy = { copiedTo, copyUnread }
  const json = { findings, money, acts: chain.findings, copy, settles }
  say({ ...json, quarantine: rows.map(rowJson), spools }, [
    ...[...lines, sum, ...otherLines, actsLine(chain)],
    ...quarantineLines(rows, settles),
    ...spoolLines(spools),
  ])
  const broken = findings.length + money.length + chain.findings.length
  const isFine = broken + settles + spools.length === 0
  return isFine ? EXIT_DONE : EXIT_FAILED
}

/** Without the copy, acts that the owner of the database wrote anew would look as recorded. */
function actsLine({ acts, findings, copiedTo, copyUnread }: Awaited<ReturnType<Acts['audit']>>) {
  const state = findings.length === 0 ? 'as they were recorded' : 'tampered with'
  const compared =
    copiedTo === null
      ? `the copy was not read: ${copyUnread}`
      : `compared with the copy up to act ${formatCount(copiedTo)}`
  return `operators’ acts: ${formatCount(acts)}, ${state}; ${compared}`
}
