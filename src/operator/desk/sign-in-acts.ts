// Sign-ins and changes of one's own sign-in, in the chained list of acts. They are no commands with
// a plan: a person does them before, or beside, everything that has one.
import type { StaffSession } from '../../staff/staff.ts'
import { personActor } from './actor.ts'
import type { OperatorModules } from './modules.ts'

/** `from` says where the person is, such as `console 10.0.0.7`. */
export async function recordOwnAct(
  { acts, db }: Pick<OperatorModules, 'acts' | 'db'>,
  p: { readonly session: StaffSession; readonly from: string; readonly command: string },
): Promise<void> {
  const { by, osUser } = personActor(p.session, p.from)
  const { command } = p
  await acts.record(db, { by, osUser, command, outcome: 'done', detail: '', of: null })
}

const names = {
  password: 'password',
  provider: 'identity provider',
  code: 'code',
  recovery: 'recovery code',
  passkey: 'passkey',
  provider_factor: 'second factor of the provider',
} as const satisfies Record<keyof StaffSession['proofs'], string>

/** `sign-in by password and code` */
export function signInText({ proofs }: StaffSession): string {
  const given = Object.entries(names).flatMap(([proof, name]) =>
    proofs[proof as keyof typeof names] === null ? [] : [name],
  )
  return `sign-in by ${given.join(' and ')}`
}
