// The door of the operator: commands for the people on duty. Each prints what it found or what it
// is about to do, asks unless told --yes, acts through a room's door, says what it did and leaves a
// line in operator_acts. `--json` prints one object for scripts. Exit 0: done; 1: something was
// found, refused or declined; 2: typed wrongly.
import { hostname, userInfo } from 'node:os'
import { Command } from 'commander'
import { isRefusal } from '../platform/refusal.ts'
import { commands, families, type OperatorCommand } from './commands.ts'
import { createDesk, jsonText } from './desk/desk.ts'
import { EXIT_NO, EXIT_USAGE, Halt } from './desk/halt.ts'
import { guess } from './desk/nearest.ts'
import type { OperatorRooms } from './desk/rooms.ts'
import { openTerminal, type Terminal } from './desk/terminal.ts'

export type { OperatorRooms } from './desk/rooms.ts'
export type { Terminal } from './desk/terminal.ts'

const NAME_MAX = 100
const COMMAND_MAX = 2_000

/** `open` is called by the command that runs, so that `--help` opens no connection. */
export function createOperator(
  open: () => Promise<OperatorRooms>,
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
    .exitOverride(({ exitCode }) => terminal.end(exitCode === 0 ? 0 : EXIT_USAGE))
    .addHelpText('after', '\nExit code: 0 done; 1 found, refused or declined; 2 typed wrongly.')
  for (const entry of commands) addCommand(op, entry, (...given) => run(entry, ...given))
  return op

  /** Opens the rooms, works, and always lets go of the connections. */
  async function run(entry: OperatorCommand, given: string[], command: Command): Promise<void> {
    const args = given.map(withoutKeys)
    const options = withoutKeysIn(command.optsWithGlobals())
    if (args.some((text, i) => text !== given[i])) {
      terminal.note('That is a whole API key, and now it is in the history of this shell.')
      terminal.note('Its last four characters are enough to find it; let its owner reissue it.')
    }
    const rooms = await open()
    const desk = createDesk({
      ...{ rooms, terminal, options },
      command: typed(entry, args, withoutKeysIn(command.opts())),
      ...whoActs(options.as),
    })
    try {
      terminal.leave(await entry.work(desk, ...args))
    } catch (error) {
      terminal.leave(complain(error, desk.isJson))
    } finally {
      await rooms.close()
    }
  }

  /** An expected end is a sentence; anything else is thrown on, for its stack. */
  function complain(error: unknown, isJson: boolean): number {
    const away = awayReason(error)
    const sentence =
      away === undefined ? sentenceOf(error) : `the database does not answer: ${away}`
    if (sentence === undefined) throw error
    const refusal = isRefusal(error) ? error.code : null
    if (isJson) terminal.print(jsonText({ isDone: false, refusal, sentence }))
    terminal.note(refusal === null ? sentence : `refused: ${sentence} (${refusal})`)
    return error instanceof Halt ? error.code : EXIT_NO
  }
}

type Run = (args: string[], command: Command) => Promise<void>

function addCommand(op: Command, entry: OperatorCommand, run: Run): void {
  const [first = '', ...rest] = entry.usage.split(' ')
  const says = families[first]
  const parent = says === undefined ? op : (familyOf(op, first) ?? addFamily(op, first, says))
  const command = parent.command(says === undefined ? entry.usage : rest.join(' '))
  command.description(entry.says)
  for (const [flags, what, needed] of entry.options ?? []) {
    if (needed) command.requiredOption(flags, what)
    else command.option(flags, what)
  }
  command.action((...given: unknown[]) => run(argsOf(given), command))
  // The first of a family is what its name alone does.
  if (parent === op || parent.commands.length > 1) return
  parent.action(async () => {
    const [unknown] = parent.args
    if (unknown === undefined) return run([], parent)
    const names = parent.commands.map((one) => one.name())
    const hint = guess(unknown, names) || `; there are ${names.join(', ')}`
    parent.error(`error: ${first} knows no ${unknown}${hint}`)
  })
}

function familyOf(op: Command, name: string): Command | undefined {
  return op.commands.find((one) => one.name() === name)
}

function addFamily(op: Command, name: string, says: string): Command {
  return op.command(name).description(says).allowExcessArguments()
}

/** Commander hands over the arguments, the options and the command. */
function argsOf(given: readonly unknown[]): string[] {
  return given.slice(0, -2).filter((one): one is string => typeof one === 'string')
}

type Options = Readonly<Record<string, unknown>>

/** Somebody pastes a whole key: no room, line or terminal of ours gets more than its end. */
function withoutKeys(text: string): string {
  return text.replace(/\bsk-[\w-]{8,}/g, (key) => `sk-…${key.slice(-4)}`)
}

function withoutKeysIn(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      typeof value === 'string' ? withoutKeys(value) : value,
    ]),
  )
}

/** What was typed, in one spelling. */
function typed(entry: OperatorCommand, args: readonly string[], given: Options): string {
  const words = entry.usage.split(' ').filter((word) => /^\w/.test(word))
  const options = Object.entries(given).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  )
  return [...words, ...[...args, ...options].map(quoted)].join(' ').slice(0, COMMAND_MAX)
}

function quoted(word: string): string {
  return /^[\w@.:+,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Node throws for a user without a line in /etc/passwd, as the image's is: its number then. */
function userName(): string {
  try {
    return userInfo().username
  } catch (error) {
    const uid = process.getuid?.()
    if (uid === undefined) throw error
    return String(uid)
  }
}

function whoActs(name: unknown): { readonly by: string; readonly osUser: string } {
  const osUser = `${userName()}@${hostname()}`.slice(0, 2 * NAME_MAX)
  const by = typeof name === 'string' && name.trim() !== '' ? name.trim() : osUser
  return { by: by.slice(0, NAME_MAX), osUser }
}

function sentenceOf(error: unknown): string | undefined {
  return error instanceof Halt || isRefusal(error) ? error.message : undefined
}

const AWAY =
  /^(?:ECONN\w+|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|E\w+UNREACH|EPIPE|57P0\d|08\w{3}|28\w{3}|3D000)$/

/** Why there is no database, when that is what happened; by the codes of Node and PostgreSQL. */
function awayReason(error: unknown): string | undefined {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string }
  if (typeof code === 'string' && AWAY.test(code)) {
    return message === '' ? code : message
  }
  return /^(?:timeout|Connection terminated|Query read timeout)/.test(message) ? message : undefined
}
