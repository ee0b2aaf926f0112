// Which role may run which command: every command with every role, against the table of
// docs/operating.md, and through the check that runs before every command.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { isRefusal } from '../../platform/refusal.ts'
import type { Role } from '../../staff/staff.ts'
import { commands } from '../commands/commands.ts'
import type { Actor } from '../desk/actor.ts'
import type { Terminal } from '../desk/terminal.ts'
import { runCommand } from '../run-command.ts'

const ROLES: readonly Role[] = ['viewer', 'support', 'finance', 'admin']
const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

const silent: Terminal = {
  print: () => undefined,
  note: () => undefined,
  ask: async () => undefined,
  askHidden: async () => undefined,
  lines: async function* () {},
  columns: 80,
  hasColours: false,
  isInteractive: false,
  setExitCode: () => undefined,
  exitNow: () => assert.fail('ends'),
}

/** The least role of each command, by the page: `| support | `find`, … |`. */
function leastRoles(): Map<string, string> {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8')
  const section = page.split('### What each role may do')[1]?.split('\n### ')[0] ?? ''
  const rows = section.matchAll(/^\| (\w[\w ]*) \| (.+) \|$/gm)
  return new Map(
    [...rows].flatMap(([, role = '', cells = '']) =>
      [...cells.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, role] as const),
    ),
  )
}

const nameOf = (usage: string) =>
  usage
    .split(' ')
    .filter((word) => /^\w/.test(word))
    .join(' ')

/** Whether the command begins for this actor; it does nothing. */
async function begins(entry: (typeof commands)[number], actor: Actor): Promise<boolean> {
  const given = { modules: at.stage.modules, terminal: silent, table: commands, args: [] }
  try {
    const code = await runCommand({
      ...{ ...given, commandOptions: {}, options: {}, actor },
      entry: { ...entry, run: async () => 7 },
    })
    assert.equal(code, 7)
    return true
  } catch (error) {
    assert.ok(isRefusal(error, 'permission_missing', 'token_not_for_command'), entry.usage)
    return false
  }
}

test('every command × every role: the page, and what is allowed', async () => {
  const least = leastRoles()
  assert.deepEqual([...least.keys()].sort(), commands.map(({ usage }) => nameOf(usage)).sort())
  for (const entry of commands) {
    const from = least.get(nameOf(entry.usage))
    for (const [i, role] of ROLES.entries()) {
      const actor: Actor = { kind: 'person', by: 'x', osUser: 'x', role, operator: 'opr_x' }
      const isAllowed = from === 'nobody signed in' || i >= ROLES.indexOf(from as Role)
      assert.equal(await begins(entry, actor), isAllowed, `${entry.usage} as ${role}`)
    }
  }
})

test('every command × an unattended token of every role: only what is marked', async () => {
  for (const entry of commands.filter(({ permission }) => permission !== null)) {
    for (const role of ROLES) {
      const person: Actor = { kind: 'person', by: 'x', osUser: 'x', role, operator: 'opr_x' }
      const token: Actor = { ...person, kind: 'token', operator: null }
      const isAllowed = (await begins(entry, person)) && entry.isUnattended === true
      assert.equal(await begins(entry, token), isAllowed, `${entry.usage} as a ${role}’s token`)
    }
  }
})

test('what a token may run moves no money and shows no customer', () => {
  const marked = commands.filter(({ isUnattended }) => isUnattended)
  for (const { usage, readsPersonalData } of marked) assert.ok(!readsPersonalData, usage)
  const money = /^(?:grant|adjust|refund|reviews resolve|disputes (?:open|won|lost)|promo create)/
  for (const { usage } of marked) assert.doesNotMatch(usage, money)
})
