// Every page of the console and who may see it. Without a whole session there are only sign-in and
// enrolment. A page that the role may not see is not in the navigation, and the server refuses it.
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { Skeleton } from '../ui/parts.tsx'
import { Frame } from './frame/Frame.tsx'
import { ErrorPage, NotFound } from './frame/Problems.tsx'
import { paths } from './paths.ts'
import { meQuery } from './queries.ts'

type Context = { readonly client: QueryClient }

const root = createRootRouteWithContext<Context>()({ notFoundComponent: NotFound })

const staff = createRoute({
  getParentRoute: () => root,
  id: 'staff',
  component: Frame,
  beforeLoad: async ({ context: { client }, location }) => {
    const me = await client.ensureQueryData(meQuery)
    if (me !== null) return { me }
    const next = `${location.pathname}${location.searchStr}`
    throw redirect({ to: paths.signIn, search: next === paths.today ? {} : { next } })
  },
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: paths.signIn,
  validateSearch: ({ next }: Record<string, unknown>): { readonly next?: string } =>
    // Only a path of ours: `//host` would lead to another site.
    typeof next === 'string' && /^\/(?!\/)/.test(next) ? { next } : {},
  component: lazyRouteComponent(() => import('./sign-in/SignIn.tsx'), 'SignIn'),
})
const provider = createRoute({
  getParentRoute: () => root,
  path: paths.provider,
  component: lazyRouteComponent(() => import('./sign-in/ProviderReturn.tsx'), 'ProviderReturn'),
})
const enrol = createRoute({
  getParentRoute: () => root,
  path: paths.enrol,
  component: lazyRouteComponent(() => import('./sign-in/Enrol.tsx'), 'Enrol'),
})

const today = createRoute({
  getParentRoute: () => staff,
  path: paths.today,
  component: lazyRouteComponent(() => import('./today/Today.tsx'), 'Today'),
})
const search = createRoute({
  getParentRoute: () => staff,
  path: paths.search,
  validateSearch: ({ text }: Record<string, unknown>): { readonly text?: string } =>
    // A number in the address is read as a number.
    text === undefined ? {} : { text: String(text) },
  component: lazyRouteComponent(() => import('./search/Search.tsx'), 'Search'),
})
const account = createRoute({
  getParentRoute: () => staff,
  path: paths.account,
  component: lazyRouteComponent(() => import('./account/Account.tsx'), 'Account'),
})
const request = createRoute({
  getParentRoute: () => staff,
  path: paths.request,
  component: lazyRouteComponent(() => import('./request/Request.tsx'), 'Request'),
})
const queues = createRoute({
  getParentRoute: () => staff,
  path: paths.queues,
  component: lazyRouteComponent(() => import('./queues/Queues.tsx'), 'Queues'),
})
const months = createRoute({
  getParentRoute: () => staff,
  path: paths.months,
  component: lazyRouteComponent(() => import('./month/Months.tsx'), 'Months'),
})
const month = createRoute({
  getParentRoute: () => staff,
  path: paths.month,
  component: lazyRouteComponent(() => import('./month/Month.tsx'), 'Month'),
})
const own = createRoute({
  getParentRoute: () => staff,
  path: paths.own,
  component: lazyRouteComponent(() => import('./own/Own.tsx'), 'Own'),
})
const figure = createRoute({
  getParentRoute: () => staff,
  path: paths.figure,
  validateSearch: ({ day }: Record<string, unknown>): { readonly day?: string } =>
    typeof day === 'string' && /^\d{4}-\d\d-\d\d$/.test(day) ? { day } : {},
  component: lazyRouteComponent(() => import('./figure/Figure.tsx'), 'Figure'),
})
const catalogue = createRoute({
  getParentRoute: () => staff,
  path: paths.catalogue,
  component: lazyRouteComponent(() => import('./catalogue/Catalogue.tsx'), 'Catalogue'),
})
const catalogueEdit = createRoute({
  getParentRoute: () => staff,
  path: paths.catalogueEdit,
  component: lazyRouteComponent(() => import('./catalogue/Edit.tsx'), 'Edit'),
})
const catalogueVersion = createRoute({
  getParentRoute: () => staff,
  path: paths.catalogueVersion,
  component: lazyRouteComponent(() => import('./catalogue/Version.tsx'), 'Version'),
})
const upstreams = createRoute({
  getParentRoute: () => staff,
  path: paths.upstreams,
  component: lazyRouteComponent(() => import('./credentials/Credentials.tsx'), 'Credentials'),
})
const alarms = createRoute({
  getParentRoute: () => staff,
  path: paths.alarms,
  component: lazyRouteComponent(() => import('./alarms/Alarms.tsx'), 'Alarms'),
})
const runbook = createRoute({
  getParentRoute: () => staff,
  path: paths.runbook,
  component: lazyRouteComponent(() => import('./alarms/Runbook.tsx'), 'Runbook'),
})
const acts = createRoute({
  getParentRoute: () => staff,
  path: paths.acts,
  component: lazyRouteComponent(() => import('./acts/Acts.tsx'), 'Acts'),
})

const tree = root.addChildren([
  signIn,
  provider,
  enrol,
  staff.addChildren([
    ...[today, search, account, request, queues, figure, months, month, own, acts],
    ...[catalogue, catalogueEdit, catalogueVersion, upstreams, alarms, runbook],
  ]),
])

export function createConsolePages(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    defaultPreload: 'intent',
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: ErrorPage,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsolePages>
  }
}
