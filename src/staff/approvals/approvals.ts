// Four eyes: above a limit, a command does not act but asks, and another person lets it run. The
// plan that was shown is kept with a digest; when the command runs, its plan is made anew, and what
// differs stops it. Off by default, and while nobody else could approve.
import { createHash } from 'node:crypto'
import type { Db } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { may, type Permission } from '../permissions.ts'
import { approvalRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

export type ApprovalKind =
  | 'grant'
  | 'adjustment'
  | 'refund'
  | 'review'
  | 'promo'
  | 'catalogue'
  | 'upstream'
  | 'operator'
  | 'recovery'
  | 'erasure'

/** Whole credits or roubles, 0 for never; flags for what has no amount. */
export type ApprovalSettings = {
  readonly approveGrantsAbove: number
  readonly approveAdjustmentsAbove: number
  readonly approveRefundsAbove: number
  readonly approveReviewsAbove: number
  readonly approvePromosAbove: number
  readonly approveCatalogue: boolean
  readonly approveUpstreams: boolean
  readonly approvalHours: number
}

/** What may need a second person; `size` in microcredits or kopecks, as its kind is counted. */
export type ApprovalNeed = { readonly kind: ApprovalKind; readonly size: bigint }

/** A command as it was typed. */
export type AskedCommand = {
  readonly usage: string
  readonly permission: Permission | null
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
}

/** What another person has approved, for the run of the command. */
export type Approved = Pick<
  queries.ApprovalRow,
  'id' | 'usage' | 'args' | 'options' | 'plan' | 'planDigest'
>

const LIST_MAX = 100

export function createApprovals(db: Db, settings: ApprovalSettings) {
  const roubles = (whole: number) => (whole === 0 ? null : BigInt(whole) * 100n)
  const micro = (whole: number) => (whole === 0 ? null : (credits(whole) as bigint))
  const limits: Record<ApprovalKind, bigint | null> = {
    grant: micro(settings.approveGrantsAbove),
    adjustment: micro(settings.approveAdjustmentsAbove),
    refund: roubles(settings.approveRefundsAbove),
    review: roubles(settings.approveReviewsAbove),
    promo: micro(settings.approvePromosAbove),
    // These have no amount: every change is above nothing.
    catalogue: settings.approveCatalogue ? 0n : null,
    upstream: settings.approveUpstreams ? 0n : null,
    operator: null as bigint | null,
    recovery: null as bigint | null,
    erasure: null as bigint | null,
  }
  // One admin who makes, resets or disables operators alone would be the second person too.
  // And who alone lets a stranger into an account could spend what is in it.
  if (Object.values(limits).some((limit) => limit !== null)) {
    limits.operator = 0n
    limits.recovery = 0n
    // Nothing brings a person's data back.
    limits.erasure = 0n
  }

  /** Refuses: approval_unknown. */
  async function requireRequest(id: string): Promise<queries.ApprovalRow> {
    await queries.approvalsExpire(db)
    const found = await queries.approvalFind(db, id.trim())
    if (found !== undefined) return found
    throw approvalRefusal('approval_unknown', `There is no request ${id.trim()}.`)
  }

  async function isNeeded({ kind, size }: ApprovalNeed, by: string, permission: Permission) {
    const limit = limits[kind]
    if (limit === null || size <= limit) return false
    const others = await queries.otherRoles(db, by)
    return others.some((role) => may(role, permission))
  }

  return {
    /** Stores a request if a second person is needed; else undefined, and the command may act. */
    async ask(p: {
      readonly need: ApprovalNeed
      readonly by: string
      readonly command: string
      readonly asked: AskedCommand
      readonly plan: readonly string[]
      /** What must be the same when it runs. */
      readonly compared: readonly string[]
    }): Promise<{ readonly id: string; readonly endsAt: Date } | undefined> {
      const { permission } = p.asked
      if (permission === null || !(await isNeeded(p.need, p.by, permission))) return undefined
      await queries.approvalsExpire(db)
      const id = `opa_${randomText(12)}`
      const endsAt = await queries.approvalInsert(db, {
        ...{ ...p.asked, id, permission, kind: p.need.kind, command: p.command, plan: p.plan },
        ...{ planDigest: digestOf(p.compared), by: p.by, hours: settings.approvalHours },
      })
      return { id, endsAt }
    },

    find: requireRequest,
    async list(): Promise<queries.ApprovalRow[]> {
      await queries.approvalsExpire(db)
      return queries.approvalList(db, LIST_MAX)
    },

    /**
     * One other person takes the request, to run it or to decline it. Refuses: approval_unknown,
     * approval_over, approval_own.
     */
    async decide(p: {
      readonly id: string
      readonly by: string
      readonly state: 'running' | 'declined'
      readonly detail: string
    }): Promise<void> {
      const { askedBy } = await requireRequest(p.id)
      if (askedBy === p.by) {
        throw approvalRefusal('approval_own', 'Another person decides about your request.')
      }
      if (await queries.approvalDecide(db, p)) return
      throw approvalRefusal('approval_over', 'It was decided, taken back, or has expired.')
    },

    /** Refuses: approval_over. */
    async withdraw(p: { readonly id: string; readonly by: string }): Promise<void> {
      if (await queries.approvalWithdraw(db, p)) return
      throw approvalRefusal('approval_over', 'It was decided, has expired, or is not yours.')
    },

    /**
     * Ends a request whose run was interrupted, after a person has looked what it did: it is never
     * run again. Refuses: approval_over.
     */
    async close(p: { readonly id: string; readonly detail: string }): Promise<void> {
      const detail = `interrupted: ${p.detail}`
      if (await queries.approvalClose(db, { id: p.id, detail })) return
      throw approvalRefusal('approval_over', 'It has ended, or still runs.')
    },

    end: (p: { readonly id: string; readonly state: 'done' | 'failed'; readonly detail: string }) =>
      queries.approvalEnd(db, p),

    /** Refuses: approval_changed, with the lines that differ. */
    requireSame(
      { planDigest, plan: before }: Approved,
      now: { readonly plan: readonly string[]; readonly compared: readonly string[] },
    ): void {
      if (digestOf(now.compared).equals(planDigest)) return
      const lines = [
        ...before.filter((line) => !now.plan.includes(line)).map((line) => `- ${line}`),
        ...now.plan.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
      ]
      throw approvalRefusal(
        'approval_changed',
        ['The plan is not what was asked for; ask again:', ...lines].join('\n'),
      )
    },
  }
}

/** JSON keeps the ends of lines apart. */
function digestOf(lines: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(lines)).digest()
}
