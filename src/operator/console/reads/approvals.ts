// A request that waits for a second person, for the console.
import type { ApprovalRow } from '../../../staff/staff.ts'
import type * as contract from '../contract/contract.ts'
import { timeOf } from './amounts.ts'

export function approvalOf(row: ApprovalRow, operator: string): contract.Approval {
  const { id, state, askerName, askedBy, command, plan, detail } = row
  return {
    ...{ id, state, by: askerName, isOwn: askedBy === operator, command, plan, detail },
    askedAt: timeOf(row.askedAt),
    endsAt: timeOf(row.endsAt),
  }
}
