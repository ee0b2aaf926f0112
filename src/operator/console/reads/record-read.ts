// A read of customers' data leaves a line before it is shown, as the command of `op` does.
import type { Staff } from '../../../staff/staff.ts'
import { maskKeys } from '../../desk/command-line.ts'
import { actorOf } from '../acting.ts'
import type { BegunVisit } from '../routes.ts'

export async function recordRead(
  staff: Pick<Staff, 'recordRead'>,
  visit: BegunVisit,
  command: string,
): Promise<void> {
  const { by, osUser } = actorOf(visit)
  await staff.recordRead({ by, osUser, command: maskKeys(command) })
}
