// What a person changes about the own sign-in: passkeys, sessions, password and recovery codes. The
// staff module decides; each change is an act, although no command of `op`.
import { z } from 'zod'
import type { Staff } from '../../staff/staff.ts'
import type { OperatorModules } from '../desk/modules.ts'
import { recordOwnAct } from '../desk/sign-in-acts.ts'
import { fromConsole } from './acting.ts'
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
  const record = createRecord(modules)
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
        await record(visit, `own passkeys remove ${id}`)
        return readOwn(staff, visit.session)
      },
    },
    'POST /api/own/sessions/end-others': {
      access: 'self.use',
      body: empty,
      async run(visit) {
        await staff.endOtherSessions(visit.session)
        await record(visit, 'own sessions end-others')
        return readOwn(staff, visit.session)
      },
    },
    'POST /api/own/password': {
      access: 'self.use',
      body: z.object({ present: password, next: password }),
      async run(visit) {
        await staff.changePassword(visit.session, visit.body)
        await record(visit, 'own password change')
        return { done: true }
      },
    },
    'POST /api/own/recovery-codes': {
      access: 'self.use',
      body: empty,
      async run(visit) {
        const recoveryCodes = await staff.renewRecoveryCodes(visit.session)
        await record(visit, 'own recovery-codes renew')
        return { recoveryCodes }
      },
    },
  }
}

function createRecord(modules: OperatorModules) {
  return (visit: BegunVisit, command: string): Promise<void> => {
    const { session, address } = visit
    return recordOwnAct(modules, { session, from: fromConsole(address), command })
  }
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
