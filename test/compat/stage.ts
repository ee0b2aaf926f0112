// A stage for client libraries: a whole gateway in front of the vendor stand-in, the requests that
// reached either, and the charges. Clients get only an address and a key.
import assert from 'node:assert/strict'
import type { Received } from '../../stand-ins/vendor/record.ts'
import { type Account, createTestGateway } from '../stages/gateway.ts'
import { type UpstreamWay, upstreamWays } from '../support/upstream-ways.ts'
import { watchArrivals } from './arrivals.ts'
import { catalogueText, costOf } from './prices.ts'

export type Stage = Awaited<ReturnType<typeof createStage>>

export async function createStage(options: Parameters<typeof createTestGateway>[0] = {}) {
  forgetEnvironment()
  const gateway = await createTestGateway({ catalogueText, way: wayOf(), ...options })
  const { vendor } = gateway
  const arrivals = watchArrivals(gateway.port)

  /** The entries of a kind in the order of the ledger. */
  async function entries(account: Account, kind: 'charge' | 'void') {
    return (await gateway.statement(account.book)).filter((entry) => entry.kind === kind)
  }

  return {
    ...gateway,
    /** Every attempt of a client since `clear`. */
    arrivals: arrivals.all,
    entries,

    /** Forgets what came before; for `beforeEach`. */
    clear(): void {
      arrivals.all.length = 0
      vendor.clear()
      vendor.mode()
    },

    /** The only request that reached the stand-in since `clear`. */
    upstream(): Received {
      assert.equal(vendor.requests.length, 1, 'requests at the stand-in')
      return vendor.requests[0] as Received
    },

    /**
     * Each reply of the stand-in since `clear` was charged to this account once, at the published
     * formula, and nothing else was.
     */
    async assertCharged(account: Account): Promise<void> {
      const replies = vendor.requests.filter(({ usage }) => usage !== null)
      assert.ok(replies.length > 0, 'the stand-in replied')
      const expected = replies.map((reply) => costOf(String(jsonOf(reply).model), usageOf(reply)))
      const charged = (await entries(account, 'charge')).map(({ amount }) => -amount)
      assert.deepEqual(sorted(charged), sorted(expected))
    },

    /** Nothing was charged to this account, ever. */
    async assertFree(account: Account): Promise<void> {
      assert.deepEqual(await entries(account, 'charge'), [])
    },

    async end(): Promise<void> {
      arrivals.stop()
      await gateway.end()
    },
  }
}

/** How the gateway reaches the stand-in; `npm run compat -- full` sets it. */
function wayOf(): UpstreamWay | undefined {
  return upstreamWays.find((way) => way === process.env.COMPAT_WAY)
}

/** The body that reached the stand-in, read. */
export function jsonOf({ body }: Received): Record<string, unknown> {
  return JSON.parse(String(body))
}

export function usageOf({ usage }: Received): NonNullable<Received['usage']> {
  assert.ok(usage !== null, 'the stand-in reported usage')
  return usage
}

/** The value of a header that reached the stand-in; undefined when it did not. */
export function headerOf({ rawHeaders }: Received, name: string): string | undefined {
  const at = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name)
  return at < 0 ? undefined : rawHeaders[at + 1]
}

/** What a call was refused with; fails when it was not. */
export async function thrownBy<T = unknown>(call: Promise<unknown>): Promise<T> {
  try {
    await call
  } catch (error) {
    return error as T
  }
  return assert.fail('the call was expected to fail')
}

/** Without the names that are drawn anew for each reply. */
export function withoutIds(text: string): string {
  return text.replaceAll(/\b(msg|req|toolu|srvtoolu)_[A-Za-z0-9]+/g, '$1_')
}

function sorted(amounts: readonly bigint[]): bigint[] {
  return [...amounts].sort((a, b) => (a < b ? -1 : Number(a > b)))
}

const AMBIENT = /(?:_API_KEY|_AUTH_TOKEN|_BASE_URL|_API_URL|_PROXY)$|^(?:ANTHROPIC|CLAUDE|OPENAI)_/i
const TRACING = /^(?:LANGCHAIN|LANGSMITH)_/

/** Client libraries read keys, addresses, proxies and tracing from the environment. */
export function forgetEnvironment(): void {
  for (const name of Object.keys(process.env)) {
    if (AMBIENT.test(name) || TRACING.test(name)) delete process.env[name]
  }
}
