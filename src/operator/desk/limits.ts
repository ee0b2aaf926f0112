// What stands between a confirmed plan and its act: a second person above a limit of the settings,
// and what an operator may move on a day. Neither holds while there is no operator, nor for a
// command that runs by --break-glass.
import type { Tx } from '../../platform/db/db.ts'
import type { ApprovalNeed, Approved, AskedCommand, DayAmount, Staff } from '../../staff/staff.ts'
import type { Actor } from './actor.ts'

export type LimitsOptions = {
  readonly staff: Staff
  readonly actor: Actor
  readonly command: string
  /** The command as another person would run it. */
  readonly request: AskedCommand
  /** What another person has approved: the plan must still be the same. */
  readonly approved?: Approved
}

/** The plan of an action, and what of it may need a second person. */
export type LimitedPlan = {
  readonly plan: readonly string[]
  /** Above a limit of the settings, another person must approve it. */
  readonly needs?: ApprovalNeed
  /** The lines that must be the same when it is approved; absent: the plan. */
  readonly compared?: readonly string[]
}

export function createLimits({ staff, actor, command, request, approved }: LimitsOptions) {
  return {
    /**
     * The request that waits now, if a second person is needed; undefined when the action may go
     * on. Refuses: approval_changed.
     */
    async waitForApproval({ plan, compared = plan, needs }: LimitedPlan) {
      if (approved !== undefined) staff.approvals.requireSame(approved, { plan, compared })
      const { operator: by } = actor
      if (approved !== undefined || needs === undefined || by === null) return undefined
      return staff.approvals.ask({ need: needs, by, command, asked: request, plan, compared })
    },

    /**
     * Checks that the person may still act, and counts towards what they may move on a day, which
     * it returns. Refuses: operator_session_missing, day_limit_exceeded.
     */
    async admit(tx: Tx, amount: DayAmount | undefined): Promise<string | undefined> {
      const { operator, role } = actor
      if (operator === null || role === null) return undefined
      await staff.people.requireStill(tx, { operator, role })
      if (amount === undefined) return undefined
      return staff.limits.count(tx, { operator, role }, amount)
    },

    /** Of an action that was refused and moved nothing. */
    async giveBack(day: string | undefined, amount: DayAmount | undefined): Promise<void> {
      if (day === undefined || amount === undefined || actor.operator === null) return
      await staff.limits.giveBack(actor.operator, day, amount)
    },
  }
}
