// Carries out a command: shows its plan, asks, acts, reports, and records the act. The record is
// written in the action's transaction; an action that has transactions of its own, or calls another
// service, is recorded before it begins and after it ends.
import { styleText } from 'node:util'
import type { Outcome } from '../../acts/acts.ts'
import type { Executor, Tx } from '../../platform/db/db.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { isSameTyped } from './amounts.ts'
import { CommandError, EXIT_DONE, EXIT_FAILED, usageError } from './command-error.ts'
import type { OperatorModules } from './modules.ts'
import { visible } from './table.ts'
import type { Terminal } from './terminal.ts'

export type DeskOptions = {
  readonly modules: OperatorModules
  readonly terminal: Terminal
  /** The command line, without secrets. */
  readonly command: string
  readonly by: string
  readonly osUser: string
  readonly options: Readonly<Record<string, unknown>>
}

type Report = {
  /** For scripts. */
  readonly result: object
  /** For people, and for the record. */
  readonly line: string
}

type Action<T> = {
  /** What is about to happen; the first line names the customer or object. */
  readonly plan: readonly string[]
  /** What the operator must type again before money moves; absent: yes is enough. */
  readonly typeAgain?: string
  report(done: T): Report
}

/** A line for people; in red, if the terminal has colours. */
export type Line = string | { readonly red: string }

export function createDesk({ modules, terminal, options, ...who }: DeskOptions) {
  const isJson = options.json === true

  function recordAct(
    executor: Executor,
    outcome: Outcome,
    detail: string,
    of: bigint | null = null,
  ): Promise<bigint> {
    return modules.acts.record(executor, { ...who, outcome, detail, of })
  }

  /** One object for scripts, or lines for people. */
  function say(result: object, lines: readonly Line[]): void {
    if (isJson) terminal.print(jsonText(result))
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
    for (const line of plan) note(line)
    if (options.yes === true) return true
    const word = typeAgain === undefined ? undefined : visible(typeAgain)
    const question = word === undefined ? 'Do it? [y/N] ' : `Type ${word} to do it: `
    const typed = (await terminal.ask(question)) ?? ''
    return word === undefined ? /^\s*y(?:es)?\s*$/i.test(typed) : isSameTyped(typed, word)
  }

  function decline(): number {
    say({ isDone: false }, ['nothing was changed'])
    return EXIT_FAILED
  }

  /** Records an action that failed; the caller rethrows the error. */
  async function recordFailure(error: unknown, of: bigint | null): Promise<void> {
    const why = error instanceof Error ? error.message : String(error)
    const detail = isRefusal(error) ? `${error.code}: ${why}` : why
    const outcome = isRefusal(error) || error instanceof CommandError ? 'refused' : 'failed'
    // If the database itself failed, recording fails too; the action's error is the one to report.
    await recordAct(modules.db, outcome, detail, of).catch(() => undefined)
  }

  function finish(act: bigint, { result, line }: Report): number {
    say({ isDone: true, act, ...result }, [line])
    return EXIT_DONE
  }

  return {
    modules: modules,
    isJson,
    columns: terminal.columns,
    by: who.by,
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

    /** Runs an action in one transaction, together with its record. */
    async act<T>(action: Action<T> & { work(tx: Tx): Promise<T> }): Promise<number> {
      if (!(await confirm(action))) return decline()
      try {
        const [act, report] = await modules.db.transaction(async (tx) => {
          const report = action.report(await action.work(tx))
          return [await recordAct(tx, 'done', report.line), report] as const
        })
        return finish(act, report)
      } catch (error) {
        await recordFailure(error, null)
        throw error
      }
    },

    /**
     * Runs an action that has transactions of its own: recorded before it begins and at its end.
     */
    async actWithOwnTransactions<T>(action: Action<T> & { work(): Promise<T> }): Promise<number> {
      if (!(await confirm(action))) return decline()
      return this.actWithoutAsking(action)
    },

    /** The same without asking, for commands that read their data from standard input. */
    async actWithoutAsking<T>(
      action: Pick<Action<T>, 'report'> & { work(): Promise<T> },
    ): Promise<number> {
      const act = await recordAct(modules.db, 'begun', '')
      try {
        const report = action.report(await action.work())
        await recordAct(modules.db, 'done', report.line, act)
        return finish(act, report)
      } catch (error) {
        await recordFailure(error, act)
        throw error
      }
    },
  }
}

export type Desk = ReturnType<typeof createDesk>

/** JSON with bigints as strings: they may not fit a JavaScript number. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))
}
