// Every page of the cabinet and who may see it. Pages are loaded when they are first opened, so a
// new one costs the first visit nothing. Guests are sent to sign in and come back afterwards.
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { Method } from '../src/cabinet/contract.ts'
import { Freshly } from './account/Freshly.tsx'
import { meAsk } from './asks.ts'
import { GuestFrame } from './frame/GuestFrame.tsx'
import { Broken, NotFound } from './pages/Trouble.tsx'
import { paths, safeNext } from './paths.ts'
import { Skeleton } from './ui/parts.tsx'

type Context = { readonly client: QueryClient }
type Next = { readonly next?: string }

const root = createRootRouteWithContext<Context>()({
  component: Root,
  notFoundComponent: NotFound,
})

function Root() {
  return (
    <Freshly>
      <Outlet />
    </Freshly>
  )
}

// ---- Who may see a page -------------------------------------------------------------------------

const guest = createRoute({ getParentRoute: () => root, id: 'guest', component: GuestFrame })

const owner = createRoute({
  getParentRoute: () => root,
  id: 'owner',
  component: lazyRouteComponent(() => import('./frame/OwnerFrame.tsx'), 'OwnerFrame'),
  beforeLoad: async ({ context: { client }, location }) => {
    const me = await client.ensureQueryData(meAsk)
    if (me !== null) return { me }
    // Without the part behind the hash: it may be a code, and a query goes to the server.
    const next = `${location.pathname}${location.searchStr}`
    throw redirect({ to: paths.signIn, search: next === paths.home ? {} : { next } })
  },
})

/** For pages that are pointless with a session. */
async function onlyGuests({ context }: { context: Context }): Promise<void> {
  if ((await context.client.ensureQueryData(meAsk)) !== null) throw redirect({ to: paths.home })
}

function nextOf(search: Record<string, unknown>): Next {
  return search.next === undefined ? {} : { next: safeNext(search.next) }
}

/** What "try again" wants to be chosen already. */
function wishOf({ pack, method }: Record<string, unknown>): { pack?: string; method?: Method } {
  return {
    ...(typeof pack === 'string' ? { pack } : {}),
    ...(method === 'sbp' || method === 'card' ? { method } : {}),
  }
}

// ---- Pages for everybody ------------------------------------------------------------------------

const signIn = createRoute({
  getParentRoute: () => guest,
  path: paths.signIn,
  validateSearch: nextOf,
  beforeLoad: onlyGuests,
  component: lazyRouteComponent(() => import('./pages/SignIn.tsx'), 'SignIn'),
})
const register = createRoute({
  getParentRoute: () => guest,
  path: paths.register,
  beforeLoad: onlyGuests,
  component: lazyRouteComponent(() => import('./pages/Register.tsx'), 'Register'),
})
const mail = createRoute({
  getParentRoute: () => guest,
  path: paths.mail,
  component: lazyRouteComponent(() => import('./pages/Mail.tsx'), 'Mail'),
})
const confirm = createRoute({
  getParentRoute: () => guest,
  path: paths.confirm,
  component: lazyRouteComponent(() => import('./pages/Confirm.tsx'), 'Confirm'),
})
const forgot = createRoute({
  getParentRoute: () => guest,
  path: paths.forgot,
  component: lazyRouteComponent(() => import('./pages/Forgot.tsx'), 'Forgot'),
})
const reset = createRoute({
  getParentRoute: () => guest,
  path: paths.reset,
  component: lazyRouteComponent(() => import('./pages/Reset.tsx'), 'Reset'),
})
const email = createRoute({
  getParentRoute: () => guest,
  path: paths.email,
  component: lazyRouteComponent(() => import('./pages/Email.tsx'), 'Email'),
})
const legal = createRoute({
  getParentRoute: () => guest,
  path: paths.document,
  component: lazyRouteComponent(() => import('./pages/LegalDocument.tsx'), 'LegalDocument'),
})

// ---- Pages of the owner -------------------------------------------------------------------------

const home = createRoute({
  getParentRoute: () => owner,
  path: paths.home,
  component: lazyRouteComponent(() => import('./pages/Home.tsx'), 'Home'),
})
const packs = createRoute({
  getParentRoute: () => owner,
  path: paths.packs,
  validateSearch: wishOf,
  component: lazyRouteComponent(() => import('./pages/Packs.tsx'), 'Packs'),
})
const order = createRoute({
  getParentRoute: () => owner,
  path: paths.order,
  component: lazyRouteComponent(() => import('./pages/Order.tsx'), 'Order'),
})
const payments = createRoute({
  getParentRoute: () => owner,
  path: paths.payments,
  component: lazyRouteComponent(() => import('./pages/Payments.tsx'), 'Payments'),
})
const key = createRoute({
  getParentRoute: () => owner,
  path: paths.key,
  component: lazyRouteComponent(() => import('./pages/Key.tsx'), 'Key'),
})
const settings = createRoute({
  getParentRoute: () => owner,
  path: paths.settings,
  component: lazyRouteComponent(() => import('./pages/Settings.tsx'), 'Settings'),
})
const security = createRoute({
  getParentRoute: () => owner,
  path: paths.security,
  component: lazyRouteComponent(() => import('./pages/Security.tsx'), 'Security'),
})
const privacy = createRoute({
  getParentRoute: () => owner,
  path: paths.privacy,
  component: lazyRouteComponent(() => import('./pages/Privacy.tsx'), 'Privacy'),
})

// -------------------------------------------------------------------------------------------------

const tree = root.addChildren([
  guest.addChildren([signIn, register, mail, confirm, forgot, reset, email, legal]),
  owner.addChildren([home, packs, order, payments, key, settings, security, privacy]),
])

export function createPages(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    defaultPreload: 'intent',
    defaultPendingComponent: Skeleton,
    defaultErrorComponent: Broken,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPages>
  }
}
