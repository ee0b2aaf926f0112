// Numbers of requests, tokens and credits in the contract's form: what a bucket of the explorer, a
// session and an agent have in common.
import type { UsageFigures } from '../../../ledger/ledger.ts'
import type * as contract from '../../contract/usage.ts'
import { creditsOf } from '../amounts.ts'

export function amountsUsed(
  used: Omit<UsageFigures, 'known' | 'firstByte' | 'total'>,
): Omit<contract.UsageFigures, 'known' | 'firstByte' | 'total'> {
  return {
    requests: String(used.requests),
    free: String(used.free),
    errors: String(used.errors),
    input: String(used.input),
    output: String(used.output),
    cacheRead: String(used.cacheRead),
    cacheWrite5m: String(used.cacheWrite5m),
    cacheWrite1h: String(used.cacheWrite1h),
    credits: creditsOf(used.spent),
    cacheSaved: creditsOf(used.cacheSaved),
  }
}
