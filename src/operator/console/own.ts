// What a person changes about the own sign-in: passkeys, sessions, password and recovery codes. The
// staff module decides; each change is an act, although no command of `op`.
import { z } from 'zod'
import type { Staff } from '../../staff/staff.ts'
import type { OperatorModules } from '../desk/modules.ts'
import { actorOf } from './acting.ts'
import type { OwnSignIn } from './contract/own.ts'
import { timeOf, timeOrNull } from './reads/amounts.ts'
import { ConsoleRefusal } from './refusals.ts'
import type { BegunVisit, RouteTable } from './routes.ts'

type OwnRoute =
  | 'GET /api/own'
  | 'POST /api/own/passkeys/:id/remove'
  | 'POST /api/own/sessions/end-others'
  | 'POST /api/own/password'
  | 'POST /api/own/recovery-codes'

const empty = z.object({})
/** As long as the longest password that anybody uses. */
const password = z.string().min(1).max(300)

export function ownRoutes(modules: OperatorModules): RouteTable<OwnRoute> {
  const { staff } = modules
  return {
    'GET /api/own': {
      access: 'self.use',
      run: ({ session }) => readOwn(staff, session),
    },
    'POST /api/own/passkeys/:id/remove': {
      access: 'self.use',
      body: empty,
      async run(visit) {
        const { id } = visit.params
        const isRemoved = await staff.removePasskey(visit.session, id)
        if (!isRemoved) throw new ConsoleRefusal('thing_unknown', 'You have no such passkey.')
        await recordOwnAct(modules, visit, `own passkeys remove ${id}`)
        return readOwn(staff, visit.session)
      },
    },
    'POST /api/own/sessions/end-others': {
      access: 'self.use',
      body: empty,
      async run(visit) {
        await staff.endOtherSessions(visit.session)
        await recordOwnAct(modules, visit, 'own sessions end-others')
        return readOwn(staff, visit.session)
      },
    },
    'POST /api/own/password': {
      access: 'self.use',
      body: z.object({ present: password, next: password }),
      async run(visit) {
        await staff.changePassword(visit.session, visit.body)
        await recordOwnAct(modules, visit, 'own password change')
        return { done: true }
      },
    },
    'POST /api/own/recovery-codes': {
      access: 'self.use',
      body: empty,
      async run(visit) {
        const recoveryCodes = await staff.renewRecoveryCodes(visit.session)
        await recordOwnAct(modules, visit, 'own recovery-codes renew')
        return { recoveryCodes }
      },
    },
  }
}

/** A line in the chained list of acts, about what no command of `op` does. */
export async function recordOwnAct(
  { acts, db }: Pick<OperatorModules, 'acts' | 'db'>,
  visit: Pick<BegunVisit, 'session' | 'address'>,
  command: string,
): Promise<void> {
  const { by, osUser } = actorOf(visit)
  await acts.record(db, { by, osUser, command, outcome: 'done', detail: '', of: null })
}

async function readOwn(staff: Staff, session: BegunVisit['session']): Promise<OwnSignIn> {
  const passkeys = await staff.listPasskeys(session)
  const sessions = await staff.listSessions(session)
  const { hasApp, recoveryCodes } = await staff.readFactors(session)
  return {
    ...{ hasApp, recoveryCodes, isFresh: session.isFresh },
    passkeys: passkeys.map(({ id, name, createdAt, usedAt }) => ({
      ...{ id, name, createdAt: timeOf(createdAt), usedAt: timeOrNull(usedAt) },
    })),
    sessions: sessions.map(({ id, kind, address, agent, createdAt, seenAt }) => ({
      ...{ id, kind, address, agent, isCurrent: id === session.id },
      ...{ createdAt: timeOf(createdAt), seenAt: timeOf(seenAt) },
    })),
  }
}
