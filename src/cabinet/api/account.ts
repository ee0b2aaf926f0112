// The owner's account: who is signed in and where, accepted documents, and the copy of all data.
// Passwords, passkeys and the second factor are changed under /api/auth.
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { Accounts, Session } from '../../accounts/accounts.ts'
import { isZone } from '../../platform/zone.ts'
import type * as contract from '../contract/contract.ts'
import type { Documents } from '../documents.ts'
import { CabinetRefusal } from '../refusals.ts'
import { timeOf, timeOrNull } from './amounts.ts'
import type { RouteTable } from './routes.ts'

export type AccountOptions = {
  readonly accounts: Accounts
  readonly documents: Documents
}

/** An export reads every table with data about the owner. */
const EXPORT_ALLOWANCE = { max: 5, seconds: 3_600 }
const AGREE_ALLOWANCE = { max: 60, seconds: 3_600 }

export function accountRoutes({
  accounts,
  documents,
}: AccountOptions): RouteTable<
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
      // Optional documents are never outstanding.
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
    const [sessions, passkeys, consents, emailChange, recovery, isOn] = await Promise.all([
      accounts.sessions(session),
      accounts.passkeys(session),
      consentsOf(session),
      accounts.emailChange(session),
      accounts.recovery.living(session.account),
      accounts.summaries.isOn(session),
    ])
    return {
      account: session.account,
      email: session.email,
      language: session.language,
      zone: session.zone,
      signedInAt: timeOf(session.signedInAt),
      sessions: sessions.length,
      passkeys: passkeys.length,
      hasSecondFactor: session.hasSecondFactor,
      consentsOutstanding: consents.outstanding,
      resetAt: timeOrNull(session.unreviewedResetAt),
      emailChange:
        emailChange === undefined
          ? null
          : { oldEmail: emailChange.oldEmail, undoUntil: timeOf(emailChange.undoUntil) },
      recovery: recoveryOf(recovery),
      isClosing: session.isClosing,
      hasSummaries: isOn,
    }
  }

  return {
    'GET /api/me': { session: 'required', run: ({ session }) => meOf(session) },
    'POST /api/me/language': {
      session: 'required',
      body: z.object({ language: z.enum(['ru', 'en']) }),
      async run({ session, body }) {
        await accounts.setLanguage(session, body.language)
        return meOf({ ...session, language: body.language })
      },
    },

    'POST /api/me/zone': {
      session: 'required',
      // The zone must exist; the column takes 64 characters at most.
      body: z.object({ zone: z.string().max(64).refine(isZone) }),
      async run({ session, body }) {
        await accounts.setZone(session, body.zone)
        return meOf({ ...session, zone: body.zone })
      },
    },

    'GET /api/sessions': {
      session: 'required',
      run: async ({ session }) => ({ sessions: await sessionsOf(session) }),
    },
    'POST /api/sessions/:id/revoke': {
      session: 'required',
      body: z.object({}),
      async run({ session, params }) {
        if (await accounts.revokeSession(session, params.id)) {
          return { sessions: await sessionsOf(session) }
        }
        throw new CabinetRefusal('session_unknown', 'There is no such session.')
      },
    },
    'POST /api/sessions/revoke-others': {
      session: 'required',
      body: z.object({}),
      run: async ({ session }) => ({ revoked: await accounts.revokeOtherSessions(session) }),
    },

    'GET /api/passkeys': {
      session: 'required',
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

    'GET /api/consents': { session: 'required', run: ({ session }) => consentsOf(session) },
    'POST /api/consents': {
      session: 'required',
      allowance: AGREE_ALLOWANCE,
      body: z.object({ document: z.string().max(40), version: z.string().max(40) }),
      async run({ session, body, address }) {
        const { document, version } = body
        // Only a version in force: the pages show no other, so consent to it would not be valid.
        const isKnown = documents
          .list()
          .some((one) => one.document === document && one.version === version)
        if (!isKnown) throw new CabinetRefusal('consent_unknown', 'No such document is in force.')
        await accounts.consent(session, { document, version, address })
        return consentsOf(session)
      },
    },

    'GET /api/export': {
      session: 'required',
      action: 'account.export',
      allowance: EXPORT_ALLOWANCE,
      async run({ session, header }) {
        header('content-disposition', 'attachment; filename="account.json"')
        header('content-type', 'application/json; charset=utf-8')
        return Readable.from(accounts.copy(session), { objectMode: false })
      },
    },
  }
}

type Recovery = Awaited<ReturnType<Accounts['recovery']['living']>>

/** One that an operator began is shown once its mailbox is confirmed: then the wait begins. */
function recoveryOf(recovery: Recovery): contract.Me['recovery'] {
  if (recovery === undefined || recovery.ripeAt === null) return null
  const { kind: lost, newEmail, ripeAt } = recovery
  return { lost, newEmail, ripeAt: timeOf(ripeAt) }
}
