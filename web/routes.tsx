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
import type { Method } from '../src/cabinet/contract/contract.ts'
import { Freshly } from './account/Freshly.tsx'
import { GuestFrame } from './frame/GuestFrame.tsx'
import { SiteFrame } from './frame/SiteFrame.tsx'
import { calculatorSearchOf } from './pages/prices/estimate.ts'
import { Broken, NotFound } from './pages/Trouble.tsx'
import { usageSearchOf } from './pages/usage/period.ts'
import { paths, safeNext } from './paths.ts'
import { homeAsk, meAsk } from './runtime/asks.ts'
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

const site = createRoute({ getParentRoute: () => root, id: 'site', component: SiteFrame })

const OwnerFrame = lazyRouteComponent(() => import('./frame/OwnerFrame.tsx'), 'OwnerFrame')
const Home = lazyRouteComponent(() => import('./pages/home/Home.tsx'), 'Home')
const Front = lazyRouteComponent(() => import('./pages/Front.tsx'), 'Front')

const owner = createRoute({
  getParentRoute: () => root,
  id: 'owner',
  component: Owner,
  beforeLoad: async ({ context: { client }, location }) => {
    const me = await client.ensureQueryData(meAsk)
    if (me !== null) {
      // The frame of every page shows the balance.
      void client.prefetchQuery(homeAsk)
      await OwnerFrame.preload?.()
      return { me }
    }
    // At the front door a visitor is shown around; see Owner.
    if (location.pathname === paths.home) return { me }
    // Without the part behind the hash: it may be a code, and a query goes to the server.
    const next = `${location.pathname}${location.searchStr}`
    throw redirect({ to: paths.signIn, search: next === paths.home ? {} : { next } })
  },
})

/** The address of the overview is also where visitors come first. */
function Owner() {
  const { me } = owner.useRouteContext()
  if (me !== null) return <OwnerFrame />
  return (
    <SiteFrame>
      <Front />
    </SiteFrame>
  )
}

/** For pages that are pointless with a session. */
async function onlyGuests({ context }: { context: Context }): Promise<void> {
  if ((await context.client.ensureQueryData(meAsk)) !== null) throw redirect({ to: paths.home })
}

function nextOf(search: Record<string, unknown>): Next {
  return search.next === undefined ? {} : { next: safeNext(search.next) }
}

type Wish = { readonly pack?: string; readonly method?: Method; readonly save?: boolean }

/** What "try again" wants to be chosen already, and whether the card is to be kept. */
function wishOf({ pack, method, save }: Record<string, unknown>): Wish {
  return {
    ...(typeof pack === 'string' ? { pack } : {}),
    ...(method === 'sbp' || method === 'card' ? { method } : {}),
    ...(save === true ? { save } : {}),
  }
}

// ---- Pages for everybody ------------------------------------------------------------------------

const signIn = createRoute({
  getParentRoute: () => guest,
  path: paths.signIn,
  validateSearch: nextOf,
  beforeLoad: onlyGuests,
  component: lazyRouteComponent(() => import('./pages/sign-in/SignIn.tsx'), 'SignIn'),
})
const register = createRoute({
  getParentRoute: () => guest,
  path: paths.register,
  beforeLoad: onlyGuests,
  component: lazyRouteComponent(() => import('./pages/sign-in/Register.tsx'), 'Register'),
})
const mail = createRoute({
  getParentRoute: () => guest,
  path: paths.mail,
  component: lazyRouteComponent(() => import('./pages/sign-in/Mail.tsx'), 'Mail'),
})
const confirm = createRoute({
  getParentRoute: () => guest,
  path: paths.confirm,
  component: lazyRouteComponent(() => import('./pages/sign-in/Confirm.tsx'), 'Confirm'),
})
const forgot = createRoute({
  getParentRoute: () => guest,
  path: paths.forgot,
  component: lazyRouteComponent(() => import('./pages/sign-in/Forgot.tsx'), 'Forgot'),
})
const reset = createRoute({
  getParentRoute: () => guest,
  path: paths.reset,
  component: lazyRouteComponent(() => import('./pages/sign-in/Reset.tsx'), 'Reset'),
})
const email = createRoute({
  getParentRoute: () => guest,
  path: paths.email,
  component: lazyRouteComponent(() => import('./pages/sign-in/Email.tsx'), 'Email'),
})
const legal = createRoute({
  getParentRoute: () => site,
  path: paths.document,
  component: lazyRouteComponent(() => import('./pages/LegalDocument.tsx'), 'LegalDocument'),
})
const docs = createRoute({
  getParentRoute: () => site,
  path: paths.docs,
  component: lazyRouteComponent(() => import('./pages/Docs.tsx'), 'Docs'),
})

const prices = createRoute({
  getParentRoute: () => site,
  path: paths.prices,
  validateSearch: calculatorSearchOf,
  component: lazyRouteComponent(() => import('./pages/prices/Prices.tsx'), 'Prices'),
})
const charging = createRoute({
  getParentRoute: () => site,
  path: paths.charging,
  component: lazyRouteComponent(() => import('./pages/Charging.tsx'), 'Charging'),
})
const start = createRoute({
  getParentRoute: () => site,
  path: paths.start,
  component: lazyRouteComponent(() => import('./pages/Start.tsx'), 'Start'),
})
const status = createRoute({
  getParentRoute: () => site,
  path: paths.status,
  component: lazyRouteComponent(() => import('./pages/Status.tsx'), 'Status'),
})

// ---- Pages of the owner -------------------------------------------------------------------------

const home = createRoute({
  getParentRoute: () => owner,
  path: paths.home,
  // Drawn once it is whole, not as a frame, then a page, then its answer: 1.1 s of its own thread
  // instead of 1.3, slowed four times (medians of 11). After a second the frame is shown anyway.
  loader: async ({ context: { client, me } }) => {
    if (me === null) return
    const isAnswered = client.ensureQueryData(homeAsk).catch(() => undefined)
    await Promise.all([Home.preload?.(), isAnswered])
  },
  // Not loaded for visitors, who are shown another page here.
  component: () => <Home />,
})
const usage = createRoute({
  getParentRoute: () => owner,
  path: paths.usage,
  validateSearch: usageSearchOf,
  component: lazyRouteComponent(() => import('./pages/usage/Usage.tsx'), 'Usage'),
})
const packs = createRoute({
  getParentRoute: () => owner,
  path: paths.packs,
  validateSearch: wishOf,
  component: lazyRouteComponent(() => import('./pages/packs/Packs.tsx'), 'Packs'),
})
const order = createRoute({
  getParentRoute: () => owner,
  path: paths.order,
  component: lazyRouteComponent(() => import('./pages/payments/Order.tsx'), 'Order'),
})
const payments = createRoute({
  getParentRoute: () => owner,
  path: paths.payments,
  component: lazyRouteComponent(() => import('./pages/payments/Payments.tsx'), 'Payments'),
})
const key = createRoute({
  getParentRoute: () => owner,
  path: paths.key,
  component: lazyRouteComponent(() => import('./pages/key/Key.tsx'), 'Key'),
})
const settings = createRoute({
  getParentRoute: () => owner,
  path: paths.settings,
  component: lazyRouteComponent(() => import('./pages/settings/Settings.tsx'), 'Settings'),
})
const security = createRoute({
  getParentRoute: () => owner,
  path: paths.security,
  component: lazyRouteComponent(() => import('./pages/settings/Security.tsx'), 'Security'),
})
const privacy = createRoute({
  getParentRoute: () => owner,
  path: paths.privacy,
  component: lazyRouteComponent(() => import('./pages/settings/Privacy.tsx'), 'Privacy'),
})
const limits = createRoute({
  getParentRoute: () => owner,
  path: paths.limits,
  component: lazyRouteComponent(() => import('./pages/limits/Limits.tsx'), 'Limits'),
})

// -------------------------------------------------------------------------------------------------

const tree = root.addChildren([
  guest.addChildren([signIn, register, mail, confirm, forgot, reset, email]),
  site.addChildren([prices, charging, start, status, legal, docs]),
  owner.addChildren([
    ...[home, usage, packs, order, payments, key],
    ...[settings, security, limits, privacy],
  ]),
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
