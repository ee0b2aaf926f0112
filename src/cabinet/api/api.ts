// All of /api: the tables of routes, and the plugins whose answers are not JSON of the contract. A
// route of the contract that is not served here does not compile.
import type { Accounts } from '../../accounts/accounts.ts'
import type { Guards } from '../../guards/guards.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payments } from '../../payments/payments.ts'
import { assert } from '../../platform/assert.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { Plugin } from '../../platform/server/plugin.ts'
import type { Pricing } from '../../pricing/pricing.ts'
import type { Brand } from '../contract/contract.ts'
import type { PublicRead } from '../contract/rendering.ts'
import type { Documents } from '../documents.ts'
import { accountRoutes } from './account.ts'
import { authPlugin } from './auth.ts'
import { closingRoutes } from './closing.ts'
import { guardRoutes } from './guards.ts'
import { createHomeRoutes } from './home.ts'
import { createKeyRoutes } from './key.ts'
import { liveUpdatesPlugin } from './live-updates/live-updates.ts'
import { orderRoutes } from './orders/orders.ts'
import { topUpRoutes } from './orders/top-up.ts'
import { publicRoutes } from './public.ts'
import { resetReviewRoutes } from './reset-review.ts'
import { type RouteName, type RouteTable, routesPlugin } from './routes.ts'
import { statementPlugin } from './statement/statement.ts'
import { usageFilePlugin } from './statement/usage-file.ts'
import { statusFeedPlugin } from './status/feed.ts'
import { type StatusOptions, statusRoutes } from './status/status.ts'
import { summaryRoutes } from './summaries.ts'
import { logRoutes } from './usage/log.ts'
import { createUsageReads } from './usage/reads.ts'
import { refusedRoutes } from './usage/refused.ts'
import { sessionRoutes } from './usage/sessions.ts'
import { usageRoutes } from './usage/usage.ts'

export type ApiOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly accounts: Accounts
  readonly keys: Keys
  readonly ledger: Ledger
  readonly guards: Guards
  readonly payments: Payments
  readonly pricing: Pricing
  readonly documents: Documents
  readonly status: StatusOptions['status']
  readonly brand: Pick<Brand, 'name' | 'supportEmail' | 'requisites'>
  /** The public address of the cabinet: payers return there, and only its pages may change data. */
  readonly cabinetUrl: string
  readonly apiUrl: string
  readonly vendorSlug: string
  readonly isSelling: boolean
  readonly refundPolicy: Brand['refundPolicy']
}

/** The routes without a session, for the API and for the pages that the server renders. */
export function openPublicRoutes(options: Omit<ApiOptions, 'db'>) {
  return { ...publicRoutes(options), ...statusRoutes(options) }
}

type PublicTable = ReturnType<typeof openPublicRoutes>

/** Answers a public route without a network, as JSON: pages are rendered from what browsers get. */
export function readerOf(table: PublicTable): PublicRead {
  const routes = new Map<string, { run(request: object): Promise<unknown> }>(Object.entries(table))
  return async (name, { params = {}, query = {} }) => {
    const route = routes.get(name)
    assert(route !== undefined, `pages for everybody read public routes only, not ${name}`)
    return JSON.parse(JSON.stringify(await route.run({ params, query })))
  }
}

export function apiPlugins(options: ApiOptions, open: PublicTable): Plugin[] {
  const { accounts } = options
  const usage = { ...options, reads: createUsageReads(options.clock) }
  const home = createHomeRoutes(options)
  const key = createKeyRoutes(options)
  const table: RouteTable<RouteName> = {
    ...open,
    ...accountRoutes(options),
    ...closingRoutes(options),
    ...summaryRoutes(options),
    ...resetReviewRoutes(options),
    ...home.routes,
    ...orderRoutes(options),
    ...key.routes,
    ...usageRoutes(usage),
    ...sessionRoutes(usage),
    ...logRoutes(usage),
    ...refusedRoutes(usage),
    ...guardRoutes(options),
    ...topUpRoutes(options),
  }
  return [
    // Throws when a document is missing, so that the cabinet does not start; see documents.ts.
    () => void options.documents.list(),
    routesPlugin(accounts, table),
    authPlugin(accounts, options.cabinetUrl),
    liveUpdatesPlugin({ ...options, home, keyState: key.stateOf }),
    statementPlugin(usage),
    usageFilePlugin(usage),
    statusFeedPlugin(options),
  ]
}
