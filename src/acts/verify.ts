// Reads the chain of acts and says where it is broken. Each act is checked against the one before,
// so one change is one finding: the check goes on from the digest that is stored.
import type { Executor } from '../platform/db/db.ts'
import { digestOf, isSameMark, type Mark, START } from './chain.ts'
import { actCountUnchained, actListChained, chainEnd, digestFind } from './queries.ts'

export const actRules = [
  'act_erased',
  'act_altered',
  'act_added',
  'chain_end_wrong',
  'chain_rewritten',
  'copy_shorter',
  'rows_changed',
  'table_replaced',
  'table_rewritten',
  'function_added',
  'definition_changed',
  'trigger_disabled',
  'trigger_missing',
] as const

export type ActRule = (typeof actRules)[number]

export type ActFinding = {
  readonly rule: ActRule
  readonly subject: string
  readonly detail: string
}

/** Some MB in memory. */
const PAGE = 2_000
/** More have one cause, and a person reads the first ones. */
const FINDINGS_MAX = 100

/**
 * Checks the acts after a mark, or all of them, up to the recorded end. Within a snapshot, so that
 * the end belongs to the acts. `last` is the newest act that was read.
 */
export async function verifyChain(
  tx: Executor,
  from: Mark = START,
): Promise<{ readonly last: Mark; readonly findings: ActFinding[] }> {
  const findings: ActFinding[] = []
  const report = (rule: ActRule, subject: string, detail: string) => {
    if (findings.length < FINDINGS_MAX) findings.push({ rule, subject, detail })
  }
  let last = from
  for (;;) {
    const page = await actListChained(tx, { after: last.number, limit: PAGE })
    for (const act of page) {
      const expected = last.number + 1n
      if (act.number < expected) {
        report('act_added', `act ${act.number}`, 'a second act has this number')
        continue
      }
      if (act.number > expected) {
        const absent = act.number - expected
        const what = absent === 1n ? 'it is' : `it and the next ${absent - 1n} are`
        report('act_erased', `act ${expected}`, `${what} absent, act ${act.number} exists`)
      } else if (!digestOf(last.digest, act).equals(act.digest)) {
        const before = last.number === 0n ? '' : `, or act ${last.number} before it,`
        report('act_altered', `act ${act.number}`, `it${before} is not as it was recorded`)
      }
      last = act
    }
    if (page.length < PAGE) break
  }
  const unchained = await actCountUnchained(tx)
  if (unchained > 0) report('act_added', 'acts without a number', `there are ${unchained}`)
  const end = await chainEnd(tx)
  if (end === undefined) {
    report('chain_end_wrong', 'the end of the chain', 'its row in act_chain is absent')
  } else if (last.number < end.number) {
    const detail = `the newest is act ${last.number}, and act ${end.number} was recorded`
    report('act_erased', `act ${last.number + 1n}`, detail)
  } else if (!isSameMark(last, end)) {
    const detail = `act_chain says act ${end.number}, the newest is act ${last.number}`
    report('chain_end_wrong', 'the end of the chain', detail)
  }
  return { last: { number: last.number, digest: last.digest }, findings }
}

/** Whether the database still has an act as it was seen before, by us or by a copy. */
export async function verifyMark(
  tx: Executor,
  mark: Mark | undefined,
  seenBy: string,
): Promise<ActFinding[]> {
  if (mark === undefined || mark.number === 0n) return []
  const digest = await digestFind(tx, mark.number)
  const subject = `act ${mark.number}`
  if (digest === undefined) {
    return [{ rule: 'act_erased', subject, detail: `${seenBy} has it, the database does not` }]
  }
  if (digest.equals(mark.digest)) return []
  const detail = `it, or an act before it, differs from what ${seenBy} has`
  return [{ rule: 'chain_rewritten', subject, detail }]
}
