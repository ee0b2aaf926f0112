// The console: operators' pages and their API, on a port and an origin of its own. It lists the
// routes; platform/server is what they share with the cabinet, contract/ the types of answers. It
// runs the commands of `op` in the same way as a terminal, as the person who signed in.
import { healthPlugin } from '../../platform/server/health.ts'
import { pagesPlugin } from '../../platform/server/pages.ts'
import { createServer, type ServerOptions } from '../../platform/server/server.ts'
import type { OperatorModules } from '../desk/modules.ts'
import { answers } from './answers.ts'
import { commandRoutes } from './commands.ts'
import { createCookies } from './cookie.ts'
import { ownRoutes } from './own.ts'
import { catalogueRoutes } from './reads/catalogue.ts'
import { customerRoutes } from './reads/customers.ts'
import { healthRoutes } from './reads/health.ts'
import { createInTurn } from './reads/in-turn.ts'
import { monthRoutes } from './reads/months.ts'
import { queueRoutes } from './reads/queues.ts'
import { readRoutes } from './reads/reads.ts'
import { type RouteName, type RouteTable, routesPlugin } from './routes.ts'
import { enrolmentRoutes, providerRoutes, signInRoutes } from './sign-in.ts'

export type ConsoleOptions = ServerOptions & {
  readonly modules: OperatorModules
  readonly brand: { readonly name: string; readonly cabinetUrl: string }
  /** The built pages; `none` when another server serves them. */
  readonly pagesDirectory: string
}

export function createConsole(options: ConsoleOptions) {
  const { log, pagesDirectory, modules } = options
  const { staff, config } = modules
  const { consoleUrl } = config.operators
  const { origin } = new URL(consoleUrl)
  return createServer({ ...options, answers }, [
    healthPlugin(modules.db),
    routesPlugin(
      { staff, cookies: createCookies(consoleUrl, staff.oidc.ticketSeconds), origin },
      consoleRoutes(options),
    ),
    pagesPlugin(pagesDirectory, log),
  ])
}

/** Every route, with who may use it; a test goes over all of them with every role. */
export function consoleRoutes({
  modules,
  brand,
}: Pick<ConsoleOptions, 'modules' | 'brand'>): RouteTable<RouteName> {
  const inTurn = createInTurn()
  return {
    ...signInRoutes(modules),
    ...providerRoutes(modules),
    ...enrolmentRoutes(modules),
    ...ownRoutes(modules),
    ...readRoutes({ modules, brand }),
    ...customerRoutes(modules, inTurn),
    ...monthRoutes(modules, inTurn),
    ...queueRoutes(modules, inTurn),
    ...catalogueRoutes(modules),
    ...healthRoutes(modules),
    ...commandRoutes(modules),
  }
}

export type Console = ReturnType<typeof createConsole>
