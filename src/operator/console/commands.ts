// POST /api/commands: the console runs the commands of `op` through the same desk, so permissions,
// approvals and records are decided in one place. The first call returns the plan; the second sends
// the plan's digest back, and the command acts if its plan is still the same.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import { isRefusal } from '../../platform/refusal.ts'
import type { OperatorCommand } from '../commands/command.ts'
import { commands } from '../commands/commands.ts'
import { errorSentence, maskKeys, maskKeysIn } from '../desk/command-line.ts'
import type { OperatorModules } from '../desk/modules.ts'
import type { Terminal } from '../desk/terminal.ts'
import { runCommand } from '../run-command.ts'
import { actorOf } from './acting.ts'
import { statuses } from './answers.ts'
import type { CommandAnswer } from './contract/contract.ts'
import { ConsoleRefusal, fieldInvalid } from './refusals.ts'
import type { RouteTable } from './routes.ts'
import { silentTerminal } from './terminal.ts'

/**
 * The commands that the console runs: each shows a plan and asks before it acts. Commands that read
 * files or standard input, or act without a question, are for the terminal. The table of commands
 * has the permission of each.
 */
export const CONSOLE_COMMANDS: readonly string[] = [
  ...['grant', 'adjust', 'refund', 'revoke', 'suspend', 'unsuspend'],
  ...['reviews resolve', 'disputes open', 'disputes won', 'disputes lost'],
  ...['orders check', 'receipts retry', 'receipts dismiss', 'quarantine retry'],
  ...['quarantine write-off', 'mail retry'],
  ...['accounts create', 'registrations resend', 'registrations delete'],
  ...['close', 'erase', 'unlock', 'recover stop'],
  ...['promo create', 'promo end', 'upstreams drain', 'upstreams undrain'],
  ...['approvals approve', 'approvals decline', 'month seal'],
  ...['catalogue set', 'catalogue rollback'],
]

/** A reason is a sentence or two; every other value is shorter. */
const text = z.string().max(1_000)
const body = z.object({
  command: z.string().max(50),
  // A form of prices sends each changed field.
  args: z.array(text).max(200),
  options: z.record(z.string().max(40), z.union([text, z.literal(true)])),
  plan: z.string().max(100).optional(),
})

type Options = Readonly<Record<string, string | true>>

export function commandRoutes(modules: OperatorModules): RouteTable<'POST /api/commands'> {
  return {
    'POST /api/commands': {
      // Each command has a permission of its own, which runCommand checks.
      access: 'self.use',
      body,
      async run(visit) {
        const entry = requireCommand(visit.body.command)
        const { permission } = entry
        // Before the form: who may not run a command learns nothing about it.
        if (permission !== null) modules.staff.requirePermission(visit.session, permission)
        const args = visit.body.args.map(maskKeys)
        const options = maskKeysIn(visit.body.options) as Options
        requireForm(entry, args, options)
        const viewed = createPlanTerminal(visit.body.plan)
        const actor = actorOf(visit)
        const run = {
          modules,
          table: commands,
          entry,
          args,
          commandOptions: options,
          options,
          actor,
        }
        await runCommand({ ...run, terminal: viewed.terminal }).catch(refuse)
        return viewed.answer()
      },
    },
  }
}

function requireCommand(name: string): OperatorCommand {
  const isOffered = CONSOLE_COMMANDS.includes(name)
  const entry = isOffered ? commands.find(({ usage }) => wordsOf(usage) === name) : undefined
  if (entry !== undefined) return entry
  throw new ConsoleRefusal('command_unknown', 'The console does not run this command.')
}

/** `promo create` of `promo create <code> <credits>`. */
function wordsOf(usage: string): string {
  return usage
    .split(' ')
    .filter((word) => /^\w/.test(word))
    .join(' ')
}

/** As many arguments as the command takes, and only its options. Refuses: field_invalid. */
function requireForm(entry: OperatorCommand, args: readonly string[], options: Options): void {
  const needed = entry.usage.match(/<[\w-]+(?:\.\.\.)?>/g)?.length ?? 0
  const optional = entry.usage.match(/\[[\w-]+\]/g)?.length ?? 0
  const most = entry.usage.includes('...') ? Number.POSITIVE_INFINITY : needed + optional
  if (args.length < needed || args.length > most || args.some((one) => one.trim() === '')) {
    throw fieldInvalid('args')
  }
  const known = (entry.options ?? []).map(([flags, , isNeeded]) => {
    const [, name = '', value] = /^--([\w-]+)( <)?/.exec(flags) ?? []
    return { name: camelCase(name), hasValue: value !== undefined, isNeeded: isNeeded === 'needed' }
  })
  for (const [name, value] of Object.entries(options)) {
    const option = known.find((one) => one.name === name)
    if (option === undefined || option.hasValue !== (typeof value === 'string'))
      throw fieldInvalid(name)
  }
  for (const { name, isNeeded } of known) {
    const value = options[name]
    if (isNeeded && (typeof value !== 'string' || value.trim() === '')) throw fieldInvalid(name)
  }
}

function camelCase(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Errors that a terminal prints as a sentence are the command's answer; others are faults. */
function refuse(error: unknown): never {
  const isAnswered = isRefusal(error) && Object.hasOwn(statuses, error.code)
  const sentence = errorSentence(error)
  if (isAnswered || isDatabaseUnavailable(error) || sentence === undefined) throw error
  throw new ConsoleRefusal('command_refused', sentence)
}

/** A terminal that keeps what the command says. It confirms only a plan of the given digest. */
function createPlanTerminal(digest: string | undefined) {
  const state = {
    plan: undefined as readonly string[] | undefined,
    isConfirmed: false,
    notes: [] as string[],
    lines: [] as readonly string[],
    result: {} as Readonly<Record<string, unknown>>,
  }
  const terminal: Terminal = {
    ...silentTerminal,
    print: (line) => void state.notes.push(line),
    note: (line) => void state.notes.push(line),
    viewer: {
      confirm(plan) {
        state.plan = plan
        state.isConfirmed = digestOf(plan) === digest
        return state.isConfirmed
      },
      show(result, lines) {
        state.result = result as Readonly<Record<string, unknown>>
        state.lines = lines
      },
    },
  }

  return {
    terminal,
    answer(): CommandAnswer {
      if (state.plan !== undefined && !state.isConfirmed) {
        const planDigest = digestOf(state.plan)
        return {
          state: 'plan',
          lines: state.plan,
          digest: planDigest,
          isChanged: digest !== undefined,
        }
      }
      const { isDone, act, approval } = state.result
      return {
        state: isDone === true ? 'done' : approval === undefined ? 'nothing' : 'asked',
        lines: [...state.notes, ...state.lines],
        act: typeof act === 'bigint' ? String(act) : null,
      }
    },
  }
}

/**
 * The operator sees the balance after a name and the requests under way, but confirms a plan
 * without them: a busy customer changes both between any two calls, so no digest would ever match.
 */
const CHANGES_BY_ITSELF = /, [\d .]+ available(?=\))|, \d+ requests under way/g

function digestOf(plan: readonly string[]): string {
  const lasting = plan.map((line) => line.replaceAll(CHANGES_BY_ITSELF, ''))
  return createHash('sha256').update(lasting.join('\n')).digest('base64url')
}
