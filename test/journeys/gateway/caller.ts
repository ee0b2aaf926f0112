// A customer at a test gateway: an account with credits, a client that speaks for it, the statement
// it would read, and what the upstream received on its behalf.
import type { Received } from '../../../stand-ins/vendor/record.ts'
import type { TestGateway } from '../../stages/gateway.ts'
import { createClient } from './client.ts'
import { tableOf } from './sums.ts'

/** Goes upstream like all headers of its family, and so tells callers apart there. */
const MARK = 'anthropic-journey'

export type Caller = Awaited<ReturnType<typeof createCaller>>

export async function createCaller(gateway: TestGateway, credits: number | bigint = 1_000_000) {
  const account = await gateway.account(credits)
  const mark = `journey ${account.book}`
  const client = createClient(gateway.url, account.key, { [MARK]: mark })
  return {
    ...account,
    ...client,

    /** What the vendor stand-in got from this caller, oldest first. */
    received: (): Received[] =>
      gateway.vendor.requests.filter(({ rawHeaders }) => rawHeaders.includes(mark)),

    /** The newest of these. */
    last(): Received {
      const last = gateway.vendor.requests.findLast(({ rawHeaders }) => rawHeaders.includes(mark))
      if (last === undefined) throw new Error('the upstream received nothing')
      return last
    },

    /** Resolves once something of this caller has reached the upstream and satisfies the check. */
    upstream: (check: (received: Received) => boolean, timeoutMs?: number): Promise<void> =>
      gateway.vendor.until(
        (all) => all.some((one) => one.rawHeaders.includes(mark) && check(one)),
        timeoutMs,
      ),

    /** The account's entries after its first purchase. */
    entries: async () => (await gateway.statement(account.book)).slice(1),

    /** The same as lines. */
    statement: async () => tableOf((await gateway.statement(account.book)).slice(1)),

    /** How many requests the account has made, as the account reads it. */
    async requestCount(): Promise<unknown> {
      return (await client.me()).requests?.total
    },
  }
}
