// Where a command is carried out: it shows its plan, asks, acts through a room's door, says what it
// did and leaves its line. The line is written in the transaction of the deed; a deed with
// transactions of its own, or outside of our house, has one line before it and one after.
import type { Executor, Tx } from '../../platform/db/db.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { isSameTyped } from './figures.ts'
import { EXIT_DONE, EXIT_NO, Halt, mistake } from './halt.ts'
import { actInsert, type Outcome } from './queries.ts'
import type { OperatorRooms } from './rooms.ts'
import { cut } from './table.ts'
import type { Terminal } from './terminal.ts'

export type DeskOptions = {
  readonly rooms: OperatorRooms
  readonly terminal: Terminal
  /** What was typed, fit to be kept. */
  readonly command: string
  readonly by: string
  readonly osUser: string
  readonly options: Readonly<Record<string, unknown>>
}

type Told = {
  /** For scripts. */
  readonly result: object
  /** For people, and for the line that stays. */
  readonly line: string
}

type Deed<T> = {
  /** What is about to happen; the first line says to whom or what. */
  readonly plan: readonly string[]
  /** What must be typed again before money moves; absent: a yes will do. */
  readonly again?: string
  tell(done: T): Told
}

const DETAIL_MAX = 1_000

export function createDesk({ rooms, terminal, options, ...who }: DeskOptions) {
  const isJson = options.json === true

  function note(
    executor: Executor,
    outcome: Outcome,
    detail: string,
    of: bigint | null = null,
  ): Promise<bigint> {
    return actInsert(executor, { ...who, outcome, detail: cut(detail, DETAIL_MAX), of })
  }

  /** One object for scripts, or lines for people. */
  function say(result: object, lines: readonly string[]): void {
    if (isJson) terminal.print(jsonText(result))
    else for (const line of lines) terminal.print(line)
  }

  async function isAgreed({ plan, again }: Deed<never>): Promise<boolean> {
    for (const line of plan) terminal.note(line)
    if (options.yes === true) return true
    const question = again === undefined ? 'Do it? [y/N] ' : `Type ${again} to do it: `
    const typed = (await terminal.ask(question)) ?? ''
    return again === undefined ? /^\s*y(?:es)?\s*$/i.test(typed) : isSameTyped(typed, again)
  }

  function decline(): number {
    say({ isDone: false }, ['nothing was changed'])
    return EXIT_NO
  }

  /** The line of a deed that did not happen; the reason goes on to whoever typed it. */
  async function noteFailure(error: unknown, of: bigint | null): Promise<void> {
    const why = error instanceof Error ? error.message : String(error)
    const detail = isRefusal(error) ? `${error.code}: ${why}` : why
    const outcome = isRefusal(error) || error instanceof Halt ? 'refused' : 'failed'
    // The database may be what failed; the reason of the deed is the one to tell.
    await note(rooms.db, outcome, detail, of).catch(() => undefined)
  }

  function done(act: bigint, { result, line }: Told): number {
    say({ isDone: true, act, ...result }, [line])
    return EXIT_DONE
  }

  return {
    rooms,
    isJson,
    columns: terminal.columns,
    by: who.by,
    say,
    note: terminal.note,
    print: terminal.print,
    lines: terminal.lines,

    flag: (name: string): boolean => options[name] === true,
    text(name: string): string | undefined {
      const value = options[name]
      return typeof value === 'string' ? value : undefined
    },
    /** Reads an option, or says how it is typed. */
    read<T>(name: string, reader: (text: string) => T | undefined, form: string): T | undefined {
      const text = this.text(name)
      if (text === undefined) return undefined
      const value = reader(text)
      if (value === undefined) throw mistake(`--${name} is ${form}, not ${text}`)
      return value
    },

    /** A deed in one transaction, together with its line. */
    async act<T>(deed: Deed<T> & { work(tx: Tx): Promise<T> }): Promise<number> {
      if (!(await isAgreed(deed))) return decline()
      try {
        const [act, told] = await rooms.db.transaction(async (tx) => {
          const said = deed.tell(await deed.work(tx))
          return [await note(tx, 'done', said.line), said] as const
        })
        return done(act, told)
      } catch (error) {
        await noteFailure(error, null)
        throw error
      }
    },

    /** A deed that has transactions of its own: noted before it begins, and when it has ended. */
    async actApart<T>(deed: Deed<T> & { work(): Promise<T> }): Promise<number> {
      if (!(await isAgreed(deed))) return decline()
      return this.begin(deed)
    },

    /** The same without a question, where standard input has other things to say. */
    async begin<T>(deed: Pick<Deed<T>, 'tell'> & { work(): Promise<T> }): Promise<number> {
      const act = await note(rooms.db, 'begun', '')
      try {
        const told = deed.tell(await deed.work())
        await note(rooms.db, 'done', told.line, act)
        return done(act, told)
      } catch (error) {
        await noteFailure(error, act)
        throw error
      }
    },
  }
}

export type Desk = ReturnType<typeof createDesk>

/** JSON with amounts as digits: they may be larger than a JavaScript number. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))
}
