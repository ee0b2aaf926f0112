// Runs one command for one actor, the same for `op` and the console: checks the permission, records
// a read of personal data, makes the desk, runs.
import type { Approved } from '../staff/staff.ts'
import type { OperatorCommand } from './commands/command.ts'
import type { Actor } from './desk/actor.ts'
import { commandError } from './desk/command-error.ts'
import { commandText, type Options } from './desk/command-line.ts'
import { createDesk, type RunApproved } from './desk/desk.ts'
import type { OperatorModules } from './desk/modules.ts'
import { brokenGlassEmail, emailOperators } from './desk/operator-emails.ts'
import type { Terminal } from './desk/terminal.ts'

export type CommandRun = {
  readonly modules: OperatorModules
  readonly terminal: Terminal
  /** All commands: an approval runs one of them. */
  readonly table: readonly OperatorCommand[]
  readonly entry: OperatorCommand
  readonly args: readonly string[]
  /** Those of the command itself. */
  readonly commandOptions: Options
  /** Also --json and --yes. */
  readonly options: Options
  readonly actor: Actor
  readonly breakGlassReason?: string
  /** What another person has approved. */
  readonly approved?: Approved
}

/**
 * The exit code. Refuses: permission_missing, token_not_for_command, and whatever the command
 * refuses.
 */
export async function runCommand(run: CommandRun): Promise<number> {
  const { modules, terminal, entry, args, actor, options, approved } = run
  requireAccess(run)
  const command = textOf(run)
  const who = { by: actor.by, osUser: actor.osUser, command }
  if (actor.kind === 'break-glass') await reportBrokenGlass(run, who)
  // While there is no operator, there is nobody to name.
  if (entry.readsPersonalData && actor.kind !== 'machine') await modules.staff.recordRead(who)
  const desk = createDesk({
    ...{ modules, terminal, options, command, actor },
    ...(approved !== undefined && { approved }),
    request: {
      usage: entry.usage,
      permission: entry.permission,
      args,
      options: run.commandOptions,
    },
    runApproved: runApproved(run),
  })
  return entry.run(desk, ...args)
}

/** Refuses: permission_missing, token_not_for_command. */
function requireAccess({ modules, entry, actor }: CommandRun): void {
  if (actor.role === null || entry.permission === null) return
  modules.staff.requireRole(actor.role, entry.permission)
  if (actor.kind === 'token' && entry.isUnattended !== true) modules.staff.refuseToken(actor.by)
}

function textOf({ entry, args, commandOptions, breakGlassReason }: CommandRun): string {
  const broken = breakGlassReason === undefined ? {} : { breakGlass: breakGlassReason }
  return commandText(entry, args, { ...commandOptions, ...broken })
}

/** An act, a fatal line of the log, and an e-mail to every operator, before the command begins. */
async function reportBrokenGlass(
  { modules, breakGlassReason: reason = '' }: CommandRun,
  who: { readonly by: string; readonly osUser: string; readonly command: string },
): Promise<void> {
  const { acts, db, log } = modules
  if (reason.trim() === '') throw commandError('--break-glass needs a reason')
  // Not the command: it may name a customer, and the act has it.
  log.fatal({ by: who.by }, 'an operator acted without signing in')
  await db.transaction(async (tx) => {
    const detail = `without signing in: ${reason}`
    const id = await acts.record(tx, { ...who, outcome: 'done', detail, of: null })
    // As it is stored: mailboxes keep an e-mail for longer than we keep a customer's address.
    const command = await acts.commandOf(tx, id)
    await emailOperators(tx, modules, brokenGlassEmail({ osUser: who.osUser, command }))
  })
}

/** Runs what a second person approved, as the person who asked, and returns what it printed. */
function runApproved(run: CommandRun): RunApproved {
  return async (asker, approved) => {
    const { modules, terminal, table } = run
    const entry = table.find(({ usage }) => usage === approved.usage)
    if (entry === undefined) throw commandError(`this version has no command ${approved.usage}`)
    const printed: string[] = []
    const kept: Terminal = {
      ...terminal,
      print: (text) => void printed.push(text),
      viewer: { confirm: () => true, show: (_, lines) => void printed.push(...lines) },
    }
    const commandOptions = approved.options
    await runCommand({
      ...{ modules, table, entry, commandOptions, args: approved.args, actor: asker, approved },
      ...{ terminal: kept, options: { ...commandOptions, yes: true } },
    })
    return printed
  }
}
