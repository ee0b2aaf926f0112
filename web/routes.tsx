// Every page of the cabinet and who may see it. A page is loaded when it is first opened, so a new
// page adds nothing to the first load. Guests must sign in first and then return to the page.
import { type QueryClient, useQuery } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouterHistory,
  redirect,
} from '@tanstack/react-router'
import type { Method } from '../src/cabinet/contract/contract.ts'
import { StepUpProvider } from './account/StepUp.tsx'
import { GuestFrame } from './frame/GuestFrame.tsx'
import { SiteFrame } from './frame/SiteFrame.tsx'
import { firstDocsPage, isDocsName } from './pages/docs/pages.ts'
import { ErrorPage, NotFound } from './pages/ErrorPages.tsx'
import { calculatorSearchOf } from './pages/prices/estimate.ts'
import { sessionsSearchOf } from './pages/sessions/search.ts'
import { usageSearchOf } from './pages/usage/period.ts'
import { paths, safeNext } from './paths.ts'
import { loadChunk } from './runtime/chunk.ts'
import { currentLanguage } from './runtime/language.ts'
import {
  brandQuery,
  documentQuery,
  homeQuery,
  meQuery,
  pricesQuery,
  statusQuery,
} from './runtime/queries.ts'
import { PageSkeleton } from './ui/parts.tsx'
import { SiteName } from './ui/site-name.ts'

type Context = { readonly client: QueryClient }
type SignInSearch = { readonly next?: string }

/** A component that is loaded when its page is first opened; a failed load shows ErrorPage. */
function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  importer: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(() => loadChunk(importer), name)
}

const root = createRootRouteWithContext<Context>()({
  component: Root,
  notFoundComponent: NotFound,
})

function Root() {
  const { data: brand } = useQuery(brandQuery)
  return (
    <SiteName value={brand?.name}>
      <StepUpProvider>
        <Outlet />
      </StepUpProvider>
    </SiteName>
  )
}

// ---- Who may see a page -------------------------------------------------------------------------

const guest = createRoute({
  getParentRoute: () => root,
  id: 'guest',
  component: GuestFrame,
  loader: loadBrand,
})

const site = createRoute({
  getParentRoute: () => root,
  id: 'site',
  component: SiteFrame,
  loader: loadBrand,
})

/**
 * The frame shows the brand. What loaders of public pages load is in the HTML that the server
 * renders; a page shows by itself what could not be loaded.
 */
function loadBrand({ context: { client } }: { context: Context }): Promise<void> {
  return client.prefetchQuery(brandQuery)
}

const OwnerFrame = lazyPage(() => import('./frame/OwnerFrame.tsx'), 'OwnerFrame')
const Home = lazyPage(() => import('./pages/home/Home.tsx'), 'Home')
const Front = lazyPage(() => import('./pages/front/Front.tsx'), 'Front')

const owner = createRoute({
  getParentRoute: () => root,
  id: 'owner',
  component: Owner,
  beforeLoad: async ({ context: { client }, location }) => {
    const me = await client.ensureQueryData(meQuery)
    if (me !== null) {
      // The frame of every signed-in page shows the balance.
      void client.prefetchQuery(homeQuery)
      await OwnerFrame.preload?.()
      return { me }
    }
    // Visitors see the front page at this address; see Owner.
    if (location.pathname === paths.home) return { me }
    // Without the hash: it may contain a code, which must not reach the server in a query.
    const next = `${location.pathname}${location.searchStr}`
    throw redirect({ to: paths.signIn, search: next === paths.home ? {} : { next } })
  },
})

/** The overview of an owner; visitors see the front page at the same address. */
function Owner() {
  const { me } = owner.useRouteContext()
  if (me !== null) return <OwnerFrame />
  return (
    <SiteFrame>
      <Front />
    </SiteFrame>
  )
}

/**
 * For pages that make sense only without a session. They open even when it cannot be read: a form
 * says by itself what does not work.
 */
async function redirectOwners({ context }: { context: Context }): Promise<void> {
  const me = await context.client.ensureQueryData(meQuery).catch(() => null)
  if (me !== null) throw redirect({ to: paths.home })
}

function signInSearchOf(search: Record<string, unknown>): SignInSearch {
  return search.next === undefined ? {} : { next: safeNext(search.next) }
}

type PacksSearch = { readonly pack?: string; readonly method?: Method; readonly save?: boolean }

/** The preselected pack and method of a "try again" link, and whether to save the card. */
function packsSearchOf({ pack, method, save }: Record<string, unknown>): PacksSearch {
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
  validateSearch: signInSearchOf,
  beforeLoad: redirectOwners,
  component: lazyPage(() => import('./pages/sign-in/SignIn.tsx'), 'SignIn'),
})
const register = createRoute({
  getParentRoute: () => guest,
  path: paths.register,
  beforeLoad: redirectOwners,
  component: lazyPage(() => import('./pages/sign-in/Register.tsx'), 'Register'),
})
const mail = createRoute({
  getParentRoute: () => guest,
  path: paths.mail,
  component: lazyPage(() => import('./pages/sign-in/CheckInbox.tsx'), 'CheckInbox'),
})
const invitation = createRoute({
  getParentRoute: () => guest,
  path: paths.invitation,
  component: lazyPage(() => import('./pages/sign-in/Invitation.tsx'), 'Invitation'),
})
const confirm = createRoute({
  getParentRoute: () => guest,
  path: paths.confirm,
  component: lazyPage(
    () => import('./pages/sign-in/ConfirmRegistration.tsx'),
    'ConfirmRegistration',
  ),
})
const forgot = createRoute({
  getParentRoute: () => guest,
  path: paths.forgot,
  component: lazyPage(() => import('./pages/sign-in/ForgotPassword.tsx'), 'ForgotPassword'),
})
const reset = createRoute({
  getParentRoute: () => guest,
  path: paths.reset,
  component: lazyPage(() => import('./pages/sign-in/ResetPassword.tsx'), 'ResetPassword'),
})
const email = createRoute({
  getParentRoute: () => guest,
  path: paths.email,
  component: lazyPage(() => import('./pages/sign-in/ConfirmEmailChange.tsx'), 'ConfirmEmailChange'),
})
const undoEmail = createRoute({
  getParentRoute: () => guest,
  path: paths.undoEmail,
  component: lazyPage(() => import('./pages/sign-in/UndoEmailChange.tsx'), 'UndoEmailChange'),
})
const recover = createRoute({
  getParentRoute: () => guest,
  path: paths.recover,
  component: lazyPage(() => import('./pages/recovery/Recovery.tsx'), 'Recovery'),
})
const confirmRecovery = createRoute({
  getParentRoute: () => guest,
  path: paths.confirmRecovery,
  component: lazyPage(() => import('./pages/recovery/ConfirmRecovery.tsx'), 'ConfirmRecovery'),
})
const finishRecovery = createRoute({
  getParentRoute: () => guest,
  path: paths.finishRecovery,
  component: lazyPage(() => import('./pages/recovery/FinishRecovery.tsx'), 'FinishRecovery'),
})
const stopRecovery = createRoute({
  getParentRoute: () => guest,
  path: paths.stopRecovery,
  component: lazyPage(() => import('./pages/recovery/StopRecovery.tsx'), 'StopRecovery'),
})
const unsubscribe = createRoute({
  getParentRoute: () => guest,
  path: paths.unsubscribe,
  component: lazyPage(() => import('./pages/Unsubscribe.tsx'), 'Unsubscribe'),
})
const legal = createRoute({
  getParentRoute: () => site,
  path: paths.document,
  loader: ({ context: { client }, params: { document } }) =>
    client.prefetchQuery(documentQuery(document, currentLanguage())),
  component: lazyPage(() => import('./pages/LegalDocument.tsx'), 'LegalDocument'),
})
const docs = createRoute({
  getParentRoute: () => site,
  path: paths.docs,
  // The page is rendered once, with its text: not first without it.
  loader: async ({ context: { client }, params: { page } }) => {
    if (!isDocsName(page)) return
    const { docsPageQuery } = await loadChunk(() => import('./pages/docs/load.ts'))
    await Promise.all([
      client.ensureQueryData(docsPageQuery(page, currentLanguage())),
      client.prefetchQuery(pricesQuery),
    ])
  },
  component: lazyPage(() => import('./pages/docs/Docs.tsx'), 'Docs'),
})
const docsHome = createRoute({
  getParentRoute: () => site,
  path: paths.docsHome,
  beforeLoad: () => {
    throw redirect({ to: paths.docs, params: { page: firstDocsPage }, replace: true })
  },
})

const prices = createRoute({
  getParentRoute: () => site,
  path: paths.prices,
  validateSearch: calculatorSearchOf,
  loader: ({ context: { client } }) => client.prefetchQuery(pricesQuery),
  component: lazyPage(() => import('./pages/prices/Prices.tsx'), 'Prices'),
})
const charging = createRoute({
  getParentRoute: () => site,
  path: paths.charging,
  component: lazyPage(() => import('./pages/Charging.tsx'), 'Charging'),
})
const start = createRoute({
  getParentRoute: () => site,
  path: paths.start,
  // The former address of the quick start, which is a page of the documentation now.
  beforeLoad: () => {
    throw redirect({ to: paths.docs, params: { page: firstDocsPage }, replace: true })
  },
})
const status = createRoute({
  getParentRoute: () => site,
  path: paths.status,
  loader: ({ context: { client } }) => client.prefetchQuery(statusQuery),
  component: lazyPage(() => import('./pages/status/Status.tsx'), 'Status'),
})

// ---- Pages of the owner -------------------------------------------------------------------------

const home = createRoute({
  getParentRoute: () => owner,
  path: paths.home,
  // Rendered once, when chunk and answer are both there, instead of frame, page and answer one
  // after the other: 1.1 s of the page's thread instead of 1.3, slowed four times (medians of 11).
  // After a second the router shows the pending component anyway.
  loader: async ({ context: { client, me } }) => {
    if (me === null) {
      await Promise.all([
        Front.preload?.(),
        client.prefetchQuery(brandQuery),
        client.prefetchQuery(pricesQuery),
      ])
      return
    }
    const answer = client.ensureQueryData(homeQuery).catch(() => undefined)
    await Promise.all([Home.preload?.(), answer])
  },
  // A function, so that visitors, who see another page here, do not load it.
  component: () => <Home />,
})
const usage = createRoute({
  getParentRoute: () => owner,
  path: paths.usage,
  validateSearch: usageSearchOf,
  component: lazyPage(() => import('./pages/usage/Usage.tsx'), 'Usage'),
})
const sessions = createRoute({
  getParentRoute: () => owner,
  path: paths.sessions,
  validateSearch: sessionsSearchOf,
  component: lazyRouteComponent(() => import('./pages/sessions/Sessions.tsx'), 'Sessions'),
})
const packs = createRoute({
  getParentRoute: () => owner,
  path: paths.packs,
  validateSearch: packsSearchOf,
  component: lazyPage(() => import('./pages/packs/Packs.tsx'), 'Packs'),
})
const order = createRoute({
  getParentRoute: () => owner,
  path: paths.order,
  component: lazyPage(() => import('./pages/payments/Order.tsx'), 'Order'),
})
const payments = createRoute({
  getParentRoute: () => owner,
  path: paths.payments,
  component: lazyPage(() => import('./pages/payments/Payments.tsx'), 'Payments'),
})
const key = createRoute({
  getParentRoute: () => owner,
  path: paths.key,
  component: lazyPage(() => import('./pages/key/Key.tsx'), 'Key'),
})
const settings = createRoute({
  getParentRoute: () => owner,
  path: paths.settings,
  component: lazyPage(() => import('./pages/settings/Settings.tsx'), 'Settings'),
})
const security = createRoute({
  getParentRoute: () => owner,
  path: paths.security,
  component: lazyPage(() => import('./pages/settings/Security.tsx'), 'Security'),
})
const privacy = createRoute({
  getParentRoute: () => owner,
  path: paths.privacy,
  component: lazyPage(() => import('./pages/settings/Privacy.tsx'), 'Privacy'),
})
const review = createRoute({
  getParentRoute: () => owner,
  path: paths.review,
  component: lazyPage(() => import('./pages/settings/Review.tsx'), 'Review'),
})
const limits = createRoute({
  getParentRoute: () => owner,
  path: paths.limits,
  component: lazyPage(() => import('./pages/limits/Limits.tsx'), 'Limits'),
})
const topUp = createRoute({
  getParentRoute: () => owner,
  path: paths.topUp,
  component: lazyPage(() => import('./pages/top-up/TopUp.tsx'), 'TopUp'),
})

// -------------------------------------------------------------------------------------------------

const tree = root.addChildren([
  guest.addChildren([
    ...[signIn, register, mail, confirm, invitation, forgot, reset, email, undoEmail],
    ...[recover, confirmRecovery, finishRecovery, stopRecovery, unsubscribe],
  ]),
  site.addChildren([prices, charging, start, status, legal, docs, docsHome]),
  owner.addChildren([
    ...[home, usage, sessions, packs, order, payments, key],
    ...[settings, security, review, limits, topUp, privacy],
  ]),
])

/** `history` only on the server, which renders one address. */
export function createPages(client: QueryClient, history?: RouterHistory) {
  const isOnServer = history !== undefined
  return createRouter({
    routeTree: tree,
    ...(isOnServer && { history, isServer: true }),
    context: { client },
    defaultPreload: 'intent',
    defaultPendingComponent: PageSkeleton,
    defaultErrorComponent: ErrorPage,
    // On the server it would render an inline script, which the policy forbids.
    scrollRestoration: !isOnServer,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPages>
  }
}
