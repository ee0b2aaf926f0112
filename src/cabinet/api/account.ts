// The account as its owner sees it: who is signed in and where, what was agreed to, and a copy of
// everything. Ways in are changed under /api/auth; this is the rest.
import { z } from 'zod'
import type { Accounts, Session } from '../../accounts/accounts.ts'
import { isZone } from '../../platform/zone.ts'
import { OwnNo } from '../answers.ts'
import type * as contract from '../contract/contract.ts'
import type { Documents } from '../documents.ts'
import { timeOf } from './amounts.ts'
import type { Closings } from './closing.ts'
import type { Table } from './routes.ts'

export type AccountOptions = {
  readonly accounts: Accounts
  readonly documents: Documents
  readonly closings: Closings
}

/** A copy reads every table there is. */
const COPYING = { max: 5, seconds: 3_600 }
const AGREEING = { max: 60, seconds: 3_600 }

export function accountRoutes({
  accounts,
  documents,
  closings,
}: AccountOptions): Table<
  | 'GET /api/me'
  | 'POST /api/me/language'
  | 'POST /api/me/zone'
  | 'GET /api/sessions'
  | 'POST /api/sessions/:id/revoke'
  | 'POST /api/sessions/revoke-others'
  | 'GET /api/passkeys'
  | 'GET /api/consents'
  | 'POST /api/consents'
  | 'GET /api/export'
> {
  async function consentsOf(session: Session): Promise<contract.Consents> {
    const given = await accounts.consents(session)
    const isGiven = (one: contract.DocumentLink) =>
      given.some(({ document, version }) => document === one.document && version === one.version)
    return {
      given: given.map(({ document, version, acceptedAt }) => ({
        document,
        version,
        acceptedAt: timeOf(acceptedAt),
      })),
      // Of those that nobody has to agree to, none is outstanding.
      outstanding: documents.list().filter((one) => one.isRequired && !isGiven(one)),
    }
  }

  async function sessionsOf(session: Session): Promise<contract.SessionLine[]> {
    const lines = await accounts.sessions(session)
    return lines.map((one) => ({
      id: one.id,
      device: one.device,
      address: one.address,
      signedInAt: timeOf(one.createdAt),
      lastSeenAt: timeOf(one.lastSeenAt),
      expiresAt: timeOf(one.expiresAt),
      isCurrent: one.isCurrent,
    }))
  }

  async function meOf(session: Session): Promise<contract.Me> {
    const [sessions, passkeys, consents, payableOrders] = await Promise.all([
      accounts.sessions(session),
      accounts.passkeys(session),
      consentsOf(session),
      closings.payableOrders(session.book),
    ])
    return {
      account: session.account,
      email: session.email,
      language: session.language,
      zone: session.zone,
      signedInAt: timeOf(session.signedInAt),
      isFresh: session.isFresh,
      sessions: sessions.length,
      passkeys: passkeys.length,
      hasSecondFactor: session.hasSecondFactor,
      consentsOutstanding: consents.outstanding,
      closing: { isPossible: payableOrders === 0, payableOrders },
    }
  }

  return {
    'GET /api/me': { session: 'needed', run: ({ session }) => meOf(session) },
    'POST /api/me/language': {
      session: 'needed',
      body: z.object({ language: z.enum(['ru', 'en']) }),
      async run({ session, body }) {
        await accounts.setLanguage(session, body.language)
        return meOf({ ...session, language: body.language })
      },
    },

    'POST /api/me/zone': {
      session: 'needed',
      // Only a zone that exists keeps its name; the database refuses what is too long.
      body: z.object({ zone: z.string().max(64).refine(isZone) }),
      async run({ session, body }) {
        await accounts.setZone(session, body.zone)
        return meOf({ ...session, zone: body.zone })
      },
    },

    'GET /api/sessions': {
      session: 'needed',
      run: async ({ session }) => ({ sessions: await sessionsOf(session) }),
    },
    'POST /api/sessions/:id/revoke': {
      session: 'needed',
      body: z.object({}),
      async run({ session, params }) {
        if (await accounts.revokeSession(session, params.id)) {
          return { sessions: await sessionsOf(session) }
        }
        throw new OwnNo('session_unknown', 'There is no such session.')
      },
    },
    'POST /api/sessions/revoke-others': {
      session: 'needed',
      body: z.object({}),
      run: async ({ session }) => ({ revoked: await accounts.revokeOtherSessions(session) }),
    },

    'GET /api/passkeys': {
      session: 'needed',
      async run({ session }) {
        const passkeys = await accounts.passkeys(session)
        return {
          passkeys: passkeys.map(({ id, name, createdAt }) => ({
            id,
            name,
            createdAt: timeOf(createdAt),
          })),
        }
      },
    },

    'GET /api/consents': { session: 'needed', run: ({ session }) => consentsOf(session) },
    'POST /api/consents': {
      session: 'needed',
      allowance: AGREEING,
      body: z.object({ document: z.string().max(40), version: z.string().max(40) }),
      async run({ session, body, address }) {
        const { document, version } = body
        // Only to what is in force: an agreement to a text that nobody can read is none.
        const isKnown = documents
          .list()
          .some((one) => one.document === document && one.version === version)
        if (!isKnown) throw new OwnNo('consent_unknown', 'No such document is in force.')
        await accounts.consent(session, { document, version, address })
        return consentsOf(session)
      },
    },

    'GET /api/export': {
      session: 'fresh',
      allowance: COPYING,
      run({ session, header }) {
        header('content-disposition', 'attachment; filename="account.json"')
        return accounts.copy(session)
      },
    },
  }
}
