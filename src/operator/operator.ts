// The entry file of operator: commands for the people on duty. A command prints what it found or
// what it will do, asks for confirmation unless --yes is given, acts through other modules' entry
// files, reports, and is recorded as an act. `--json` prints one object for scripts.
// Exit code 0: done; 1: something was found, refused or declined; 2: usage error.
import { Command } from 'commander'
import { isRefusal } from '../platform/refusal.ts'
import type { OperatorCommand } from './commands/command.ts'
import { commands, families, familyAliases } from './commands/commands.ts'
import { type Console, type ConsoleOptions, createConsole } from './console/console.ts'
import { identify } from './desk/actor.ts'
import { CommandError, EXIT_FAILED, EXIT_USAGE } from './desk/command-error.ts'
import { errorSentence, maskKeys, maskKeysIn } from './desk/command-line.ts'
import { jsonText } from './desk/desk.ts'
import type { OperatorModules } from './desk/modules.ts'
import { suggestion } from './desk/nearest.ts'
import { visible } from './desk/table.ts'
import { openTerminal, type Terminal } from './desk/terminal.ts'
import { runCommand } from './run-command.ts'

export type { OperatorModules } from './desk/modules.ts'
export type { Terminal } from './desk/terminal.ts'

/** The pages of operators and their API; the program `console` listens with it. */
export function openConsole(options: ConsoleOptions): Console {
  return createConsole(options)
}

/** `open` is called only when a command runs, so that `--help` opens no connection. */
export function createOperator(
  open: () => Promise<OperatorModules>,
  terminal: Terminal = openTerminal(),
): Command {
  const op = new Command('op').description('commands for the people on duty')
  op.option('--json', 'print one JSON object')
    .option('--yes', 'do not ask')
    .option('--as <name>', 'who acts, while there is no operator; else user@host')
    .option('--break-glass <reason>', 'without signing in; every operator gets an e-mail')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.print(text.trimEnd()),
      writeErr: (text) => terminal.note(text.trimEnd()),
    })
    .exitOverride(({ exitCode }) => terminal.exitNow(exitCode === 0 ? 0 : EXIT_USAGE))
    .addHelpText('after', '\nExit code: 0 done; 1 found, refused or declined; 2 typed wrongly.')
  for (const entry of commands) addCommand(op, entry, (...given) => run(entry, ...given))
  return op

  /** Opens the modules, runs the command, and always closes the connections. */
  async function run(entry: OperatorCommand, given: string[], command: Command): Promise<void> {
    const args = given.map(maskKeys)
    const options = maskKeysIn(command.optsWithGlobals())
    if (args.some((text, i) => text !== given[i])) {
      terminal.note('That is a whole API key, and now it is in the history of this shell.')
      terminal.note('Its last four characters are enough to find it; let its owner reissue it.')
    }
    const modules = await open()
    const { as, breakGlass } = options
    try {
      const actor = await identify(modules, entry, { as, breakGlass })
      const code = await runCommand({
        ...{ modules, terminal, table: commands, entry, args, options, actor },
        commandOptions: maskKeysIn(command.opts()),
        ...(typeof breakGlass === 'string' && { breakGlassReason: breakGlass }),
      })
      terminal.setExitCode(code)
    } catch (error) {
      terminal.setExitCode(printError(error, options.json === true))
    } finally {
      await modules.close()
    }
  }

  /** Prints an expected error as a sentence; rethrows any other, which then shows its stack. */
  function printError(error: unknown, isJson: boolean): number {
    const sentence = errorSentence(error)
    if (sentence === undefined) throw error
    const refusal = isRefusal(error) ? error.code : null
    if (isJson) terminal.print(jsonText({ isDone: false, refusal, sentence }))
    const lines = (refusal === null ? sentence : `refused: ${sentence} (${refusal})`).split('\n')
    terminal.note(lines.map(visible).join('\n'))
    return error instanceof CommandError ? error.code : EXIT_FAILED
  }
}

type Run = (args: string[], command: Command) => Promise<void>

function addCommand(op: Command, entry: OperatorCommand, run: Run): void {
  const [first = '', ...rest] = entry.usage.split(' ')
  const says = families[first]
  const parent = says === undefined ? op : (familyOf(op, first) ?? addFamily(op, first, says))
  const { isDefault = false } = entry
  const command = parent.command(says === undefined ? entry.usage : rest.join(' '), { isDefault })
  command.description(entry.description)
  for (const [flags, what, needed] of entry.options ?? []) {
    if (needed) command.requiredOption(flags, what)
    else command.option(flags, what)
  }
  command.action((...given: unknown[]) => run(argsOf(given), command))
  // The family's name alone runs the family's first command.
  if (parent === op || parent.commands.length > 1) return
  parent.action(async () => {
    const [unknown] = parent.args
    if (unknown === undefined) return run([], parent)
    const names = parent.commands.map((one) => one.name())
    const hint = suggestion(unknown, names) || `; there are ${names.join(', ')}`
    parent.error(`error: ${first} knows no ${unknown}${hint}`)
  })
}

function familyOf(op: Command, name: string): Command | undefined {
  return op.commands.find((one) => one.name() === name)
}

function addFamily(op: Command, name: string, says: string): Command {
  const family = op.command(name).description(says).allowExcessArguments()
  const alias = familyAliases[name]
  return alias === undefined ? family : family.alias(alias)
}

/** Commander passes the arguments, then the options, then the command. */
function argsOf(given: readonly unknown[]): string[] {
  return given
    .slice(0, -2)
    .flat()
    .filter((one): one is string => typeof one === 'string')
}
