// Who runs a command. From the first operator on, it is a person who has signed in (`op login`, the
// console), an unattended token, or somebody who broke the glass. While there is no operator, it is
// the user of the machine, as typed after --as.
import { hostname, userInfo } from 'node:os'
import type { Permission, Role, StaffSession } from '../../staff/staff.ts'
import { commandError } from './command-error.ts'
import type { OperatorModules } from './modules.ts'
import { readSessionFile, sessionFileOf } from './session-file.ts'

export type Actor = {
  readonly kind: 'person' | 'token' | 'machine' | 'break-glass'
  /** For the record. It names a person by name and id, never by address. */
  readonly by: string
  readonly osUser: string
  /** Null: everything is allowed, because there is no operator, or the glass was broken. */
  readonly role: Role | null
  /** The id of the person. */
  readonly operator: string | null
  /** The person who approved what this one asked for, for the record. */
  readonly approvedBy?: string
}

/** What the table of commands says about who may run one. */
export type Access = {
  /** Null: also before signing in. */
  readonly permission: Permission | null
}

/** The columns of operator_acts hold this many characters. */
const BY_MAX = 100
const OS_USER_MAX = 200

/** The index operator_acts_of_break_glass and the worker's metric look for it. */
const BREAK_GLASS = 'break-glass'

/** Node throws if the user is not in /etc/passwd, as in our image: then the uid is used. */
function userName(): string {
  try {
    return userInfo().username
  } catch (error) {
    const uid = process.getuid?.()
    if (uid === undefined) throw error
    return String(uid)
  }
}

function machineUser(): string {
  return `${userName()}@${hostname()}`.slice(0, OS_USER_MAX)
}

export function nameInActs({ name, id }: { readonly name: string; readonly id: string }): string {
  return `${name} (${id})`.slice(0, BY_MAX)
}

/** A person in a whole session; `osUser` says where from. */
export function personActor({ operator }: StaffSession, osUser: string): Actor {
  const { id, role } = operator
  const from = osUser.slice(0, OS_USER_MAX)
  return { kind: 'person', by: nameInActs(operator), osUser: from, role, operator: id }
}

function machineActor(name: string | undefined): Actor {
  const osUser = machineUser()
  const by = (name ?? osUser).slice(0, BY_MAX)
  return { kind: 'machine', by, osUser, role: null, operator: null }
}

function brokenGlass(): Actor {
  const osUser = machineUser()
  const by = `${BREAK_GLASS} ${osUser}`.slice(0, BY_MAX)
  return { kind: 'break-glass', by, osUser, role: null, operator: null }
}

export type Given = { readonly as: unknown; readonly breakGlass: unknown }

/**
 * Who runs this command of `op`. --as decides only while there is no operator; later it is a part
 * of the machine's user, because shipped scripts pass the name of who called them.
 */
export async function identify(
  { staff, config }: OperatorModules,
  access: Access,
  given: Given,
): Promise<Actor> {
  const as = typeof given.as === 'string' && given.as.trim() !== '' ? given.as.trim() : undefined
  if (given.breakGlass !== undefined) return brokenGlass()
  if (access.permission === null || (await staff.people.count()).all === 0) return machineActor(as)
  const osUser = as === undefined ? machineUser() : `${as} as ${machineUser()}`
  const { operators } = config
  if (operators.token.reveal() !== 'none') return tokenActor(staff, operators.token, osUser)
  const token = await readSessionFile(sessionFileOf(operators))
  const session = token === undefined ? undefined : await staff.findSession(token)
  if (session?.missing === null) return personActor(session, osUser)
  throw commandError('you are not signed in, or your session has ended: op login')
}

async function tokenActor(
  staff: OperatorModules['staff'],
  token: OperatorModules['config']['operators']['token'],
  osUser: string,
): Promise<Actor> {
  const found = await staff.tokens.find(token.reveal())
  if (found === undefined) throw commandError('operators.token was revoked, has ended or is wrong')
  const by = `token ${found.name} (${found.id})`.slice(0, BY_MAX)
  return {
    kind: 'token',
    by,
    osUser: osUser.slice(0, OS_USER_MAX),
    role: found.role,
    operator: null,
  }
}
