// Signing in to the console, and setting up the first second factor of an invited operator. The
// staff module decides; the browser gets the token of the session as a cookie that no script reads.
import { z } from 'zod'
import type { SignedIn, Staff } from '../../staff/staff.ts'
import type { OperatorModules } from '../desk/modules.ts'
import { recordOwnAct, signInText } from '../desk/sign-in-acts.ts'
import { fromConsole } from './acting.ts'
import type { Missing } from './contract/routes.ts'
import type { RouteTable, Visit } from './routes.ts'

/** As long as the longest address, password or code that anybody uses. */
const short = z.string().min(1).max(300)
const empty = z.object({})
/** A code is up to some hundred characters; a few providers send long states and sessions too. */
const QUERY_MAX = 8_000
/** As WebAuthn defines it; the staff module verifies it. */
const response = z.looseObject({ id: z.string().max(1_000) })

type SignInRoute =
  | 'POST /api/sign-in'
  | 'POST /api/sign-in/code'
  | 'POST /api/sign-in/passkey/begin'
  | 'POST /api/sign-in/passkey'
  | 'POST /api/sign-out'

type ProviderRoute =
  | 'GET /api/sign-in/ways'
  | 'POST /api/sign-in/provider/begin'
  | 'POST /api/sign-in/provider'

type EnrolmentRoute =
  | 'POST /api/enrolment'
  | 'POST /api/enrolment/app'
  | 'POST /api/enrolment/app/confirm'
  | 'POST /api/enrolment/passkey/begin'
  | 'POST /api/enrolment/passkey'

export function signInRoutes(modules: OperatorModules): RouteTable<SignInRoute> {
  const { staff } = modules
  const openSession = createOpenSession(modules)
  return {
    'POST /api/sign-in': {
      access: 'public',
      body: z.object({ email: short, password: short }),
      run: async (visit) =>
        openSession(visit, await staff.signIn({ ...callerOf(visit), ...visit.body })),
    },
    'POST /api/sign-in/code': {
      access: 'begun',
      body: z.object({ code: short }),
      run: async (visit) =>
        openSession(visit, await staff.proveFactor(visit.token, visit.body.code)),
    },
    'POST /api/sign-in/passkey/begin': {
      access: 'public',
      body: empty,
      run: ({ address }) => staff.beginPasskeySignIn({ address }),
    },
    'POST /api/sign-in/passkey': {
      access: 'public',
      body: z.object({ ticket: short, response }),
      run: async (visit) =>
        openSession(
          visit,
          await staff.finishPasskeySignIn({
            ...{ ...callerOf(visit), ticket: visit.body.ticket },
            // Safe: the staff module verifies every member that it reads.
            response: visit.body.response as Parameters<
              Staff['finishPasskeySignIn']
            >[0]['response'],
          }),
        ),
    },
    'POST /api/sign-out': {
      access: 'begun',
      body: empty,
      async run({ token, forget }) {
        await staff.signOut(token)
        forget()
        return { done: true }
      },
    },
  }
}

/** Signing in by the company's identity provider, if one is set. */
export function providerRoutes(modules: OperatorModules): RouteTable<ProviderRoute> {
  const { oidc } = modules.staff
  const openSession = createOpenSession(modules)
  return {
    'GET /api/sign-in/ways': {
      access: 'public',
      run: async () => ({ provider: oidc.name }),
    },
    'POST /api/sign-in/provider/begin': {
      access: 'public',
      body: empty,
      async run({ address, keepTicket }) {
        const { ticket, url } = await oidc.begin({ address })
        keepTicket(ticket)
        return { url }
      },
    },
    'POST /api/sign-in/provider': {
      access: 'public',
      body: z.object({ query: z.string().max(QUERY_MAX) }),
      async run(visit) {
        const { ticket, keepTicket } = visit
        // It works once, whatever comes of it.
        keepTicket(undefined)
        const given = { ...callerOf(visit), ticket, query: visit.body.query }
        return openSession(visit, await oidc.finish(given))
      },
    },
  }
}

/** The first password and the first second factor of an invited operator. */
export function enrolmentRoutes(modules: OperatorModules): RouteTable<EnrolmentRoute> {
  const { staff } = modules
  const openSession = createOpenSession(modules)
  return {
    'POST /api/enrolment': {
      access: 'public',
      body: z.object({ code: short, password: short }),
      run: async (visit) =>
        openSession(visit, await staff.acceptInvitation({ ...callerOf(visit), ...visit.body })),
    },
    'POST /api/enrolment/app': {
      access: 'begun',
      body: empty,
      run: ({ token }) => staff.enrolTotp(token),
    },
    'POST /api/enrolment/app/confirm': {
      access: 'begun',
      body: z.object({ code: short }),
      async run(visit) {
        const { recoveryCodes, ...signedIn } = await staff.confirmTotp(visit.token, visit.body.code)
        return { ...(await openSession(visit, signedIn, 'own app set-up')), recoveryCodes }
      },
    },
    'POST /api/enrolment/passkey/begin': {
      access: 'begun',
      body: empty,
      run: ({ token }) => staff.beginPasskeyRegistration(token),
    },
    'POST /api/enrolment/passkey': {
      access: 'begun',
      body: z.object({ ticket: short, response, name: short }),
      run: async (visit) =>
        openSession(
          visit,
          await staff.finishPasskeyRegistration(visit.token, {
            ...{ ticket: visit.body.ticket, name: visit.body.name },
            // Safe for the same reason.
            response: visit.body.response as Parameters<
              Staff['finishPasskeyRegistration']
            >[1]['response'],
          }),
          'own passkeys add',
        ),
    },
  }
}

function callerOf({ address, agent }: Visit) {
  return { kind: 'console' as const, address, agent }
}

/** Gives the browser the session's cookie; records an act if the operator may act from now on. */
function createOpenSession(modules: OperatorModules) {
  return async (visit: Visit, signedIn: SignedIn, command?: string): Promise<Missing> => {
    const { session } = signedIn
    if (session.missing === null) {
      await recordOwnAct(modules, {
        ...{ session, from: fromConsole(visit.address) },
        command: command ?? signInText(session),
      })
    }
    visit.keep(signedIn)
    return { missing: session.missing }
  }
}
