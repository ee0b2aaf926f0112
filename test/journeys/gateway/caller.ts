// A customer of a test gateway: an account with credits, a client with its key, its statement, and
// what the upstream received from it.
import type { TestContext } from 'node:test'
import type { Received } from '../../../stand-ins/vendor/record.ts'
import {
  createTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../../stages/gateway.ts'
import { createClient } from './client.ts'
import { tableOf } from './expected-charges.ts'

/** The gateway passes all `anthropic-` headers on, so this one identifies callers upstream. */
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

    /** Resolves once a request of this caller has reached the upstream and satisfies the check. */
    upstream: (check: (received: Received) => boolean, timeoutMs?: number): Promise<void> =>
      gateway.vendor.until(
        (all) => all.some((one) => one.rawHeaders.includes(mark) && check(one)),
        timeoutMs,
      ),

    /** The account's entries after its first purchase. */
    entries: async () => (await gateway.statement(account.book)).slice(1),

    /** The same as lines. */
    statement: async () => tableOf((await gateway.statement(account.book)).slice(1)),

    /** How many requests the account has made, according to GET /v1/me. */
    async requestCount(): Promise<unknown> {
      return (await client.me()).requests?.total
    },
  }
}

/** A gateway of its own for one test, with two customers: `heavy` uses more than its share. */
export async function openTwoCallers(t: TestContext, options: TestGatewayOptions) {
  const gateway = await createTestGateway(options)
  const [heavy, other] = [await createCaller(gateway), await createCaller(gateway)]
  t.after(async () => {
    heavy.end()
    other.end()
    await gateway.end()
  })
  return { gateway, heavy, other }
}
