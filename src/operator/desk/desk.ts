// Carries out a command: shows its plan, asks, acts, reports, and records the act. The record is
// written in the action's transaction; an action that has transactions of its own, or calls another
// service, is recorded before it begins and after it ends.
import { styleText } from 'node:util'
import type { Tx } from '../../platform/db/db.ts'
import type { Approved, AskedCommand, DayAmount } from '../../staff/staff.ts'
import type { Actor } from './actor.ts'
import { formatTime, isSameTyped } from './amounts.ts'
import { EXIT_DONE, EXIT_FAILED, usageError } from './command-error.ts'
import { createLimits, type LimitedPlan } from './limits.ts'
import type { OperatorModules } from './modules.ts'
import { createRecords, isRefused } from './records.ts'
import { visible } from './table.ts'
import type { Terminal } from './terminal.ts'

export type DeskOptions = {
  readonly modules: OperatorModules
  readonly terminal: Terminal
  /** The command line, without secrets. */
  readonly command: string
  readonly actor: Actor
  readonly options: Readonly<Record<string, unknown>>
  /** The command as another person would run it. */
  readonly request: AskedCommand
  /** What another person has approved: the plan must still be the same. */
  readonly approved?: Approved
  readonly runApproved: RunApproved
}

/** Runs an approved command as the person who asked; returns what it printed. */
export type RunApproved = (asker: Actor, approved: Approved) => Promise<readonly string[]>

type Report = {
  /** For scripts. */
  readonly result: object
  /** For people, and for the record. */
  readonly line: string
}

/** Its plan says what is about to happen; the first line names the customer or object. */
type Action<T> = LimitedPlan & {
  /** What the operator must type again before money moves; absent: yes is enough. */
  readonly typeAgain?: string
  report(done: T): Report
}

/** A line for people; in red, if the terminal has colours. */
export type Line = string | { readonly red: string }

export function createDesk(given: DeskOptions) {
  const { modules, terminal, options, actor } = given
  const limits = createLimits({ ...given, staff: modules.staff })
  const { record, recordFailure } = createRecords(given)
  const isJson = options.json === true

  /** One object for scripts, or lines for people. */
  function say(result: object, lines: readonly Line[]): void {
    if (terminal.viewer !== undefined) terminal.viewer.show(result, lines.map(plain))
    else if (isJson) terminal.print(jsonText(result))
    else for (const line of lines) terminal.print(shown(line))
  }

  function shown(line: Line): string {
    if (typeof line === 'string') return visible(line)
    const text = visible(line.red)
    // validateStream would read the environment again; the terminal was asked before.
    return terminal.hasColours ? styleText('red', text, { validateStream: false }) : text
  }

  function note(line: string): void {
    terminal.note(visible(line))
  }

  async function confirm({ plan, typeAgain }: Action<never>): Promise<boolean> {
    if (terminal.viewer !== undefined) return terminal.viewer.confirm(plan.map(visible))
    for (const line of plan) note(line)
    if (options.yes === true) return true
    const word = typeAgain === undefined ? undefined : visible(typeAgain)
    const question = word === undefined ? 'Do it? [y/N] ' : `Type ${word} to do it: `
    const typed = (await terminal.ask(question)) ?? ''
    return word === undefined ? /^\s*y(?:es)?\s*$/i.test(typed) : isSameTyped(typed, word)
  }

  /** The exit code of an action that does not happen now: declined, or a second person decides. */
  async function stopBefore(action: Action<never>): Promise<number | undefined> {
    if (!(await confirm(action))) {
      say({ isDone: false }, ['nothing was changed'])
      return EXIT_FAILED
    }
    const asked = await orRecord(() => limits.waitForApproval(action))
    if (asked === undefined) return undefined
    const { id, endsAt } = asked
    await record(modules.db, 'asked', `a second person must approve it: ${id}`)
    say({ isDone: false, approval: id, endsAt }, [
      `nothing was changed yet: another person can approve it until ${formatTime(endsAt)}`,
      `  op approvals approve ${id}`,
    ])
    return EXIT_FAILED
  }

  /** Records an action that failed, and throws its error again. */
  async function orRecord<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      await recordFailure(error, null)
      throw error
    }
  }

  function finish(act: bigint, { result, line }: Report): number {
    say({ isDone: true, act, ...result }, [line])
    return EXIT_DONE
  }

  return {
    modules,
    isJson,
    columns: terminal.columns,
    by: actor.by,
    actor,
    ask: terminal.ask,
    askHidden: terminal.askHidden,
    isInteractive: terminal.isInteractive,
    runApproved: given.runApproved,
    say,
    note,
    /** Prints a line of CSV as it is: a program reads it. */
    print: terminal.print,
    lines: terminal.lines,

    flag: (name: string): boolean => options[name] === true,
    text(name: string): string | undefined {
      const value = options[name]
      return typeof value === 'string' ? value : undefined
    },
    /** Parses an option, or fails with a sentence about its format. */
    read<T>(name: string, reader: (text: string) => T | undefined, form: string): T | undefined {
      const text = this.text(name)
      if (text === undefined) return undefined
      const value = reader(text)
      if (value === undefined) throw usageError(`--${name} is ${form}, not ${text}`)
      return value
    },

    /**
     * Runs an action in one transaction, together with its record. `moves` says what counts towards
     * the day's limit of the operator. `afterRecord` is what the record must come before: an
     * erasure, after which nothing finds the person in the record's text.
     */
    async act<T>(
      action: Action<T> & {
        work(tx: Tx): Promise<T>
        moves?(done: T): DayAmount
        afterRecord?(tx: Tx): Promise<void>
      },
    ): Promise<number> {
      const stopped = await stopBefore(action)
      if (stopped !== undefined) return stopped
      const [act, report] = await orRecord(() =>
        modules.db.transaction(async (tx) => {
          const done = await action.work(tx)
          await limits.admit(tx, action.moves?.(done))
          const report = action.report(done)
          const act = await record(tx, 'done', report.line)
          await action.afterRecord?.(tx)
          return [act, report] as const
        }),
      )
      return finish(act, report)
    },

    /**
     * Runs an action that has transactions of its own: recorded before it begins and at its end.
     */
    async actWithOwnTransactions<T>(
      action: Action<T> & { readonly moves?: DayAmount; work(): Promise<T> },
    ): Promise<number> {
      return (await stopBefore(action)) ?? this.actWithoutAsking(action)
    },

    /** The same without asking, for commands that read their data from standard input. */
    async actWithoutAsking<T>(
      action: Pick<Action<T>, 'report'> & { readonly moves?: DayAmount; work(): Promise<T> },
    ): Promise<number> {
      const { act, day } = await orRecord(() =>
        modules.db.transaction(async (tx) => ({
          ...{ day: await limits.admit(tx, action.moves), act: await record(tx, 'begun', '') },
        })),
      )
      try {
        const report = action.report(await action.work())
        await record(modules.db, 'done', report.line, act)
        return finish(act, report)
      } catch (error) {
        // Whether a failed action moved something is not known.
        if (isRefused(error)) await limits.giveBack(day, action.moves)
        await recordFailure(error, act)
        throw error
      }
    },
  }
}

function plain(line: Line): string {
  return visible(typeof line === 'string' ? line : line.red)
}

export type Desk = ReturnType<typeof createDesk>

/** JSON with bigints as strings: they may not fit a JavaScript number. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))
}
