// op approvals: what waits for a second person. Approving runs the command as the person who asked,
// with the same arguments; its plan is made anew and must be the same.
import type { ApprovalRow } from '../../staff/staff.ts'
import { type Actor, nameInActs } from '../desk/actor.ts'
import { formatTime } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'

export async function listApprovals(desk: Desk): Promise<number> {
  const approvals = await desk.modules.staff.approvals.list()
  const lines = approvals.map(
    (one) => `${one.id}  ${one.state}  ${one.askerName} asked: op ${one.command}`,
  )
  desk.say(
    { approvals: approvals.map(approvalJson) },
    lines.length === 0 ? ['nothing was asked for'] : lines,
  )
  return EXIT_DONE
}

export async function showApproval(desk: Desk, id: string): Promise<number> {
  const found = await desk.modules.staff.approvals.find(id)
  desk.say(approvalJson(found), approvalLines(found))
  return EXIT_DONE
}

export async function approve(desk: Desk, id: string): Promise<number> {
  const { approvals } = desk.modules.staff
  const decider = requirePerson(desk)
  const found = await approvals.find(id)
  requireBoth(desk, found)
  const { askedBy: asker, askerName, askerRole } = found
  return desk.actWithOwnTransactions({
    plan: approvalLines(found),
    async work() {
      // The person who asked may have been disabled while this one read the plan.
      requireBoth(desk, await approvals.find(id))
      await approvals.decide({ id: found.id, by: decider, state: 'running', detail: '' })
      const actor: Actor = {
        kind: 'person',
        by: nameInActs({ name: askerName, id: asker }),
        osUser: desk.actor.osUser,
        role: askerRole,
        operator: asker,
        approvedBy: desk.by,
      }
      return run(desk, actor, found)
    },
    report: (printed) => ({
      result: { approval: found.id, printed },
      line: `${found.id} is approved: ${printed.join('; ')}`,
    }),
  })
}

/** The command's own act says how it ended; so does the request. */
async function run(desk: Desk, actor: Actor, found: ApprovalRow): Promise<readonly string[]> {
  const { approvals } = desk.modules.staff
  const printed = await desk.runApproved(actor, found).catch(async (error: unknown) => {
    const detail = error instanceof Error ? error.message : String(error)
    await approvals.end({ id: found.id, state: 'failed', detail })
    throw error
  })
  await approvals.end({ id: found.id, state: 'done', detail: printed.join('; ') })
  return printed
}

/** Who asked takes the request back; everybody else declines it. An interrupted one ends. */
export async function decline(desk: Desk, id: string): Promise<number> {
  const { approvals } = desk.modules.staff
  const decider = requirePerson(desk)
  const found = await approvals.find(id)
  const isOwn = found.askedBy === decider
  if (!isOwn) desk.modules.staff.requireRole(roleOf(desk), found.permission)
  const detail = desk.text('reason') ?? ''
  const end = found.state === 'interrupted' ? 'closed' : isOwn ? 'withdrawn' : 'declined'
  return desk.actWithOwnTransactions({
    plan: [...approvalLines(found), `  ${ENDS[end]}`],
    work() {
      if (end === 'closed') return approvals.close({ id: found.id, detail })
      if (end === 'withdrawn') return approvals.withdraw({ id: found.id, by: decider })
      return approvals.decide({ id: found.id, by: decider, state: 'declined', detail })
    },
    report: () => ({
      result: { approval: found.id, state: end },
      line: `${found.id} is ${end}`,
    }),
  })
}

const ENDS = {
  closed: 'it is closed and never run again; what it did stays',
  withdrawn: 'it is taken back',
  declined: 'it is declined',
}

/** Who approves needs the permission of the command; who asked must still have it. */
function requireBoth(desk: Desk, { permission, askerRole, isAskerActive, askerName }: ApprovalRow) {
  const { staff } = desk.modules
  staff.requireRole(roleOf(desk), permission)
  staff.requireRole(askerRole, permission)
  if (!isAskerActive) throw commandError(`${askerName} is no active operator any more`)
}

function requirePerson({ actor }: Desk): string {
  if (actor.operator !== null) return actor.operator
  throw commandError('a person who has signed in decides: op login')
}

function roleOf({ actor }: Desk) {
  if (actor.role !== null) return actor.role
  throw commandError('a person who has signed in decides: op login')
}

function approvalJson({ planDigest, ...row }: ApprovalRow) {
  return { ...row, planDigest: planDigest.toString('hex') }
}

const INTERRUPTED =
  '  it began and never ended: op acts says what it did; then op approvals decline closes it'

function approvalLines(row: ApprovalRow): string[] {
  const decided = row.deciderName === null ? '' : ` by ${row.deciderName}`
  return [
    `${row.id}  ${row.state}${decided}, until ${formatTime(row.endsAt)}`,
    `  ${row.askerName} (${row.askerRole}) asked at ${formatTime(row.askedAt)}: op ${row.command}`,
    ...row.plan.map((line) => `  ${line}`),
    ...(row.detail === '' ? [] : [`  ${row.detail}`]),
    ...(row.state === 'interrupted' ? [INTERRUPTED] : []),
  ]
}
