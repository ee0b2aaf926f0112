// Everything under /api, put together: each subject's routes, and the parts that answer otherwise.
// A route of the contract that nobody serves does not compile.
import type { Accounts } from '../../accounts/accounts.ts'
import type { Guards } from '../../guards/guards.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payments } from '../../payments/payments.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { Pricing } from '../../pricing/pricing.ts'
import type { Brand } from '../contract/contract.ts'
import type { Documents } from '../documents.ts'
import type { Part } from '../part.ts'
import { accountRoutes } from './account.ts'
import { authPart } from './auth.ts'
import { createClosings } from './closing.ts'
import { guardRoutes } from './guards.ts'
import { createHome } from './home.ts'
import { createKeyRoutes } from './key.ts'
import { livePart } from './live/live.ts'
import { orderRoutes } from './orders/orders.ts'
import { topUpRoutes } from './orders/top-up.ts'
import { publicRoutes } from './public.ts'
import { type RouteName, routesPart, type Table } from './routes.ts'
import { statementPart } from './statement/statement.ts'
import { type StatusOptions, statusRoutes } from './status.ts'
import { logRoutes } from './usage/log.ts'
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
  readonly upstreams: StatusOptions['upstreams']
  readonly mail: StatusOptions['mail']
  readonly brand: Pick<Brand, 'name' | 'supportEmail' | 'requisites'>
  /** Where the cabinet is seen: payers come back there, and only its pages may ask. */
  readonly cabinetUrl: string
  readonly apiUrl: string
  readonly vendorSlug: string
  readonly isSelling: boolean
  readonly refundPolicy: Brand['refundPolicy']
}

export function apiParts(options: ApiOptions): Part[] {
  const { accounts } = options
  const home = createHome(options)
  const key = createKeyRoutes(options)
  const closings = createClosings(options)
  const table: Table<RouteName> = {
    ...publicRoutes(options),
    ...statusRoutes(options),
    ...accountRoutes({ ...options, closings }),
    ...closings.routes,
    ...home.routes,
    ...orderRoutes(options),
    ...key.routes,
    ...usageRoutes(options),
    ...logRoutes(options),
    ...guardRoutes(options),
    ...topUpRoutes(options),
  }
  return [
    // A reason not to start; see documents.ts.
    () => void options.documents.list(),
    routesPart(accounts, table),
    authPart(accounts, options.cabinetUrl),
    livePart({ ...options, home, keyState: key.stateOf }),
    statementPart(options),
  ]
}
