// op tokens: unattended tokens for scheduled commands. A token is printed once; the setting
// operators.token gives it to `op`.
import { TOKEN_DAYS_MAX } from '../../staff/staff.ts'
import { formatMinute, parseCount } from '../desk/amounts.ts'
import { EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { tableOf } from '../desk/table.ts'
import { readRole } from './people.ts'

const NAME = /^[a-z][a-z0-9-]{0,39}$/

const COLUMNS = [
  { head: 'id' },
  { head: 'name' },
  { head: 'role' },
  { head: 'made by' },
  { head: 'ends, UTC' },
  { head: 'last used, UTC' },
] as const

export async function listTokens(desk: Desk): Promise<number> {
  const tokens = await desk.modules.staff.tokens.list()
  const rows = tokens.map((one) => [
    ...[one.id, one.name, one.role, one.createdBy],
    one.revokedAt === null ? formatMinute(one.endsAt) : 'revoked',
    one.usedAt === null ? 'never' : formatMinute(one.usedAt),
  ])
  const lines = tableOf(COLUMNS, rows, desk.columns)
  desk.say({ tokens }, lines.length === 0 ? ['there is no token'] : lines)
  return EXIT_DONE
}

export async function createToken(desk: Desk, name: string): Promise<number> {
  if (!NAME.test(name)) throw usageError(`a name is a letter, then a-z, 0-9 and -, not ${name}`)
  const role = readRole(desk.text('role') ?? '')
  const days = desk.read('days', parseCount, 'a whole number above 0') ?? 0
  if (days < 1 || days > TOKEN_DAYS_MAX) {
    throw usageError(`a token lasts for 1 to ${TOKEN_DAYS_MAX} days`)
  }
  const state = { token: '' }
  const exit = await desk.act({
    plan: [
      `a token ${name} for ${days} days`,
      `  runs what the role ${role} may, of commands that only read or are made for a schedule`,
    ],
    async work(tx) {
      const { id, token } = await desk.modules.staff.tokens.create(tx, {
        ...{ name, role, days, by: desk.by },
      })
      state.token = token
      return id
    },
    report: (id) => ({
      result: { token: state.token, id, name, role, days },
      line: `token ${name} is made: ${id}`,
    }),
  })
  if (state.token !== '' && !desk.isJson) {
    desk.note('Give this to op as operators.token (OPERATORS_TOKEN_FILE); it is shown once:')
    desk.note(`  ${state.token}`)
  }
  return exit
}

export function revokeToken(desk: Desk, text: string): Promise<number> {
  return desk.act({
    plan: [`token ${text} ends now`],
    work: (tx) => desk.modules.staff.tokens.revoke(tx, text),
    report: () => ({ result: { token: text }, line: `token ${text} is revoked` }),
  })
}
