// op login, op logout, op whoami, and op operators accept: a person signs in to the terminal. The
// token of the session is kept in a file of the user; passwords and codes are typed, never options,
// because a shell keeps its command lines.
import { hostname } from 'node:os'
import type { SignedIn } from '../../staff/staff.ts'
import { formatTime } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import {
  readSessionFile,
  removeSessionFile,
  sessionFileOf,
  writeSessionFile,
} from '../desk/session-file.ts'
import { recordOwnAct, signInText } from '../desk/sign-in-acts.ts'

export async function login(desk: Desk): Promise<number> {
  const { staff } = desk.modules
  if ((await staff.people.count()).all === 0) {
    throw commandError('there is no operator yet: op operators create <e-mail> --role admin')
  }
  requireTerminal(desk)
  const email = await required(desk.ask('E-mail: '))
  const password = await required(desk.askHidden('Password: '))
  const begun = await staff.signIn({ ...callerOf(), email, password })
  const code = await required(desk.ask('Code of your authenticator app, or a recovery code: '))
  const signedIn = await staff.proveFactor(begun.token, code).catch(async (error: unknown) => {
    await staff.signOut(begun.token)
    throw error
  })
  return keep(desk, signedIn)
}

/** Sets the first password and factor with a one-time code, without a browser. */
export async function acceptInvitation(desk: Desk): Promise<number> {
  const { staff } = desk.modules
  requireTerminal(desk)
  const code = await required(desk.askHidden('One-time code: '))
  const password = await required(desk.askHidden('New password: '))
  if ((await required(desk.askHidden('The same again: '))) !== password) {
    throw commandError('the two differ; nothing was changed')
  }
  const begun = await staff.acceptInvitation({ ...callerOf(), code, password })
  const { seed, uri } = await staff.enrolTotp(begun.token)
  desk.note('Add this to your authenticator app, by its key or as a QR code of the address:')
  desk.note(`  key ${seed}`)
  desk.note(`  ${uri}`)
  const first = await required(desk.ask('The code that the app shows: '))
  const { recoveryCodes, ...signedIn } = await staff.confirmTotp(begun.token, first)
  desk.note('Each of these codes signs in once without the app; keep them on paper:')
  for (const one of recoveryCodes) desk.note(`  ${one}`)
  return keep(desk, signedIn)
}

export async function logout(desk: Desk): Promise<number> {
  const path = fileOf(desk)
  // Also a file that others can read must go.
  const token = await readSessionFile(path).catch(() => undefined)
  if (token !== undefined) await desk.modules.staff.signOut(token)
  await removeSessionFile(path)
  desk.say({ isDone: token !== undefined }, [
    token === undefined ? 'nobody was signed in here' : 'signed out',
  ])
  return EXIT_DONE
}

export async function whoami(desk: Desk): Promise<number> {
  const { kind, by, osUser, role } = desk.actor
  const line = kind === 'machine' ? `there is no operator yet; acts are recorded as ${by}` : by
  desk.say({ kind, by, osUser, role }, [role === null ? line : `${line}, ${role}`])
  return EXIT_DONE
}

async function keep(desk: Desk, { token, session }: SignedIn): Promise<number> {
  const { modules, actor } = desk
  await recordOwnAct(modules, { session, from: actor.osUser, command: signInText(session) })
  await writeSessionFile(fileOf(desk), token)
  const { operator, endsAt } = session
  desk.say({ isDone: true, operator: operator.id, role: operator.role, endsAt }, [
    `signed in as ${operator.name}, ${operator.role}, at most until ${formatTime(endsAt)}`,
  ])
  return EXIT_DONE
}

function fileOf({ modules }: Desk): string {
  return sessionFileOf(modules.config.operators)
}

function callerOf() {
  return { kind: 'terminal' as const, address: `terminal ${hostname()}`, agent: 'op' }
}

/** A second factor in a script is no second factor. */
function requireTerminal({ isInteractive }: Desk): void {
  if (isInteractive) return
  throw commandError(
    'this asks a person and needs a terminal; for a script or a schedule: op tokens create',
  )
}

/** The end of input is a person who gave up. */
async function required(answer: Promise<string | undefined>): Promise<string> {
  const text = (await answer) ?? ''
  if (text.trim() === '') throw commandError('nothing was typed; nothing was changed')
  return text
}
