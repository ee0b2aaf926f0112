// What operators did, for the console. Acts name people by the ids of their accounts.
import type { About } from '../../../acts/acts.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type * as contract from '../contract/contract.ts'
import { timeOf } from './amounts.ts'

/** Newest first. */
export async function listActs(
  { acts }: Pick<OperatorModules, 'acts'>,
  p: { readonly by: string | null; readonly about: About | null; readonly limit: number },
): Promise<contract.Act[]> {
  return (await acts.list(p)).map(({ id, at, by, osUser, command, outcome, detail }) => ({
    ...{ id: String(id), at: timeOf(at), by, osUser, command, outcome, detail },
  }))
}
