// op operators: who the operators are. The first one is made on the machine while there is none;
// later an admin invites, disables, changes roles and resets. A one-time code is printed once, and
// is in no record.
import type { Tx } from '../../platform/db/db.ts'
import type { OperatorRow, Role } from '../../staff/staff.ts'
import { formatMinute } from '../desk/amounts.ts'
import { EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { emailOperators, operatorsChangedEmail } from '../desk/operator-emails.ts'
import { tableOf } from '../desk/table.ts'

/** Whoever changes operators alone could be the second person of every other change. */
const NEEDS = { kind: 'operator', size: 1n } as const

const ROLES: readonly Role[] = ['viewer', 'support', 'finance', 'admin']

const COLUMNS = [
  { head: 'id' },
  { head: 'name' },
  { head: 'e-mail' },
  { head: 'role' },
  { head: 'state' },
  { head: 'factors' },
  { head: 'since, UTC' },
] as const

export async function listOperators(desk: Desk): Promise<number> {
  const operators = await desk.modules.staff.people.list()
  const rows = operators.map((one) => [
    ...[one.id, one.name, one.email, one.role, one.state, factorsOf(one)],
    formatMinute(one.createdAt),
  ])
  const lines = tableOf(COLUMNS, rows, desk.columns)
  const none = 'there is no operator yet: op operators create <e-mail> --role admin'
  desk.say({ operators }, lines.length === 0 ? [none] : lines)
  return EXIT_DONE
}

function factorsOf({ hasApp, passkeys }: OperatorRow): string {
  const parts = [...(hasApp ? ['app'] : []), ...(passkeys > 0 ? [`${passkeys} passkeys`] : [])]
  return parts.join(', ') || 'none'
}

export async function inviteOperator(desk: Desk, email: string): Promise<number> {
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw usageError(`${email} is no address`)
  const role = readRole(desk.text('role') ?? '')
  const name = desk.text('name') ?? email.split('@')[0] ?? ''
  const { people } = desk.modules.staff
  const isFirst = desk.actor.kind === 'machine'
  // Nobody else could invite the second one.
  if (isFirst && role !== 'admin') throw usageError('the first operator is an admin: --role admin')
  const state = { code: '' }
  const exit = await desk.act({
    plan: [
      `${email}, as ${role}${isFirst ? ', the first operator' : ''}`,
      '  sets a password and a second factor with a one-time code, within a day',
      ...(isFirst ? ['  from then on every command needs op login'] : []),
    ],
    needs: NEEDS,
    async work(tx) {
      await tellOperators(desk, tx, `${email} was invited as ${role}`)
      const made = await people.create(tx, { email, name, role, by: desk.by, isFirst })
      state.code = made.code
      return made.operator
    },
    report: ({ id }) => ({
      result: { operator: id, role, code: state.code, link: linkOf(desk, state.code) },
      line: `operator ${id} is invited as ${role}`,
    }),
  })
  if (state.code !== '') noteCode(desk, state.code)
  return exit
}

export async function disableOperator(desk: Desk, text: string): Promise<number> {
  const { people } = desk.modules.staff
  const found = await people.requireOperator(text)
  return desk.act({
    plan: [titleOf(found), '  cannot sign in any more; the sessions end now'],
    needs: NEEDS,
    async work(tx) {
      await tellOperators(desk, tx, `${found.name} was disabled`)
      await people.disable(tx, found.id)
    },
    report: () => ({
      result: { operator: found.id, state: 'disabled' },
      line: `operator ${found.id} is disabled`,
    }),
  })
}

export async function enableOperator(desk: Desk, text: string): Promise<number> {
  const { people } = desk.modules.staff
  const found = await people.requireOperator(text)
  if (found.state !== 'disabled') {
    desk.say({ isDone: false, operator: found.id }, [`${titleOf(found)} is not disabled`])
    return EXIT_DONE
  }
  const state = { code: '' }
  const exit = await desk.act({
    plan: [titleOf(found), '  can sign in again, with the same password and factors'],
    needs: NEEDS,
    async work(tx) {
      await tellOperators(desk, tx, `${found.name} was enabled`)
      state.code = (await people.enable(tx, found.id))?.code ?? ''
    },
    report: () => ({
      result: { operator: found.id, ...(state.code !== '' && { code: state.code }) },
      line: `operator ${found.id} is enabled`,
    }),
  })
  if (state.code !== '') noteCode(desk, state.code)
  return exit
}

export async function changeRole(desk: Desk, text: string, word: string): Promise<number> {
  const { people } = desk.modules.staff
  const found = await people.requireOperator(text)
  const role = readRole(word)
  return desk.act({
    plan: [titleOf(found), `  becomes ${role}, also in open sessions`],
    needs: NEEDS,
    async work(tx) {
      await tellOperators(desk, tx, `${found.name} became ${role}`)
      await people.changeRole(tx, found.id, role)
    },
    report: () => ({
      result: { operator: found.id, role },
      line: `operator ${found.id} is ${role}`,
    }),
  })
}

export async function resetOperator(desk: Desk, text: string): Promise<number> {
  const { people } = desk.modules.staff
  const found = await people.requireOperator(text)
  // Whoever broke the glass may be the last admin, without a phone.
  const isLastAllowed = desk.actor.kind === 'break-glass'
  const state = { code: '' }
  const exit = await desk.act({
    plan: [
      titleOf(found),
      '  loses password, authenticator app, passkeys and sessions',
      '  sets new ones with a one-time code, within a day',
    ],
    needs: NEEDS,
    async work(tx) {
      await tellOperators(desk, tx, `${found.name} lost password and factors and was invited anew`)
      state.code = (await people.reset(tx, found.id, isLastAllowed)).code
    },
    report: () => ({
      result: { operator: found.id, code: state.code, link: linkOf(desk, state.code) },
      line: `operator ${found.id} is invited anew`,
    }),
  })
  if (state.code !== '') noteCode(desk, state.code)
  return exit
}

/** Every active operator hears of it, so that nobody takes another one's place in silence. */
function tellOperators(desk: Desk, tx: Tx, what: string): Promise<void> {
  return emailOperators(tx, desk.modules, operatorsChangedEmail(what, desk.by))
}

export function readRole(word: string): Role {
  const role = ROLES.find((one) => one === word)
  if (role === undefined) throw usageError(`a role is ${ROLES.join(', ')}, not ${word}`)
  return role
}

function titleOf({ name, email, role, state }: OperatorRow): string {
  return `${name} <${email}>, ${role}, ${state}`
}

/** The code is behind a #, which browsers do not send to the server or to other sites. */
function linkOf({ modules }: Desk, code: string): string {
  return `${modules.config.operators.consoleUrl}/invitation#${code}`
}

/** On standard error: standard output is for results, and may be kept. */
function noteCode(desk: Desk, code: string): void {
  if (desk.isJson) return
  desk.note('Hand this over by a way that only the person reads; it is shown once:')
  desk.note(`  in a browser: ${linkOf(desk, code)}`)
  desk.note(`  or in a terminal: op operators accept, with the code ${code}`)
}
