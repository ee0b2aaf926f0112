// The entry file of operator: commands for the people on duty. A command prints what it found or
// what it will do, asks for confirmation unless --yes is given, acts through other modules' entry
// files, reports, and is recorded as an act. `--json` prints one object for scripts.
// Exit code 0: done; 1: something was found, refused or declined; 2: usage error.
import { hostname, userInfo } from 'node:os'
import { Command } from 'commander'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import { missingGrantText } from '../platform/db/missing-grants.ts'
import { isRefusal } from '../platform/refusal.ts'
import { commands, families, type OperatorCommand } from './commands.ts'
import { CommandError, EXIT_FAILED, EXIT_USAGE } from './desk/command-error.ts'
import { createDesk, jsonText } from './desk/desk.ts'
import type { OperatorModules } from './desk/modules.ts'
import { suggestion } from './desk/nearest.ts'
import { visible } from './desk/table.ts'
import { openTerminal, type Terminal } from './desk/terminal.ts'

export type { OperatorModules } from './desk/modules.ts'
export type { Terminal } from './desk/terminal.ts'

const NAME_MAX = 100

/** `open` is called only when a command runs, so that `--help` opens no connection. */
export function createOperator(
  open: () => Promise<OperatorModules>,
  terminal: Terminal = openTerminal(),
): Command {
  const op = new Command('op').description('commands for the people on duty')
  op.option('--json', 'print one JSON object')
    .option('--yes', 'do not ask')
    .option('--as <name>', 'who acts, for the line that stays; else user@host')
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
    const desk = createDesk({
      ...{ modules, terminal, options },
      command: commandText(entry, args, maskKeysIn(command.opts())),
      ...actingOperator(options.as),
    })
    try {
      terminal.setExitCode(await entry.run(desk, ...args))
    } catch (error) {
      terminal.setExitCode(printError(error, desk.isJson))
    } finally {
      await modules.close()
    }
  }

  /** Prints an expected error as a sentence; rethrows any other, which then shows its stack. */
  function printError(error: unknown, isJson: boolean): number {
    const sentence = unavailableSentence(error) ?? sentenceOf(error)
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
  const command = parent.command(says === undefined ? entry.usage : rest.join(' '))
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
  return op.command(name).description(says).allowExcessArguments()
}

/** Commander passes the arguments, then the options, then the command. */
function argsOf(given: readonly unknown[]): string[] {
  return given
    .slice(0, -2)
    .flat()
    .filter((one): one is string => typeof one === 'string')
}

type Options = Readonly<Record<string, unknown>>

/** If an operator pastes a whole key, only its last four characters are used, stored or printed. */
function maskKeys(text: string): string {
  return text.replace(/\bsk-[\w-]{8,}/g, (key) => `sk-…${key.slice(-4)}`)
}

function maskKeysIn(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      typeof value === 'string' ? maskKeys(value) : value,
    ]),
  )
}

/** The command line in one canonical spelling. */
function commandText(entry: OperatorCommand, args: readonly string[], given: Options): string {
  const words = entry.usage.split(' ').filter((word) => /^\w/.test(word))
  const options = Object.entries(given).flatMap(([name, value]) => {
    // Commander names `--sell-below-cost` sellBelowCost.
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return value === true ? [flag] : [flag, String(value)]
  })
  return [...words, ...[...args, ...options].map(quoteWord)].join(' ')
}

function quoteWord(word: string): string {
  return /^[\w@.:+,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

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

function actingOperator(name: unknown): { readonly by: string; readonly osUser: string } {
  const osUser = `${userName()}@${hostname()}`.slice(0, 2 * NAME_MAX)
  const by = typeof name === 'string' && name.trim() !== '' ? name.trim() : osUser
  return { by: by.slice(0, NAME_MAX), osUser }
}

function sentenceOf(error: unknown): string | undefined {
  if (error instanceof CommandError || isRefusal(error)) return error.message
  return missingGrantText(error)
}

/** PostgreSQL does not let us in: it refuses the credentials, or has no such database. */
const NO_ENTRY = /^(?:28\w{3}|3D000)$/

/** What to say when the database, and not the command, is what failed. */
function unavailableSentence(error: unknown): string | undefined {
  const { code, severity, message } = Object(error) as {
    readonly code?: unknown
    /** Only PostgreSQL's own errors have one. */
    readonly severity?: unknown
    readonly message?: string
  }
  if (!isDatabaseUnavailable(error) && !NO_ENTRY.test(String(code))) return undefined
  const state = severity === undefined ? 'does not answer' : 'is unavailable'
  // The error of a host with several addresses has a code and no message.
  return `the database ${state}: ${message || code}`
}
