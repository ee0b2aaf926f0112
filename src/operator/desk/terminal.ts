// Where a command speaks and listens. Results go to standard output and nothing else does, so that
// a script reads only those; plans, questions and complaints go to standard error.
import { createInterface } from 'node:readline'

export type Terminal = {
  print(text: string): void
  note(text: string): void
  /** The line that somebody types; undefined when nobody is there. */
  ask(question: string): Promise<string | undefined>
  /** All lines of standard input. */
  lines(): AsyncIterable<string>
  /** What a table may fill. */
  readonly columns: number
  /** The exit code, when everything has been let go of. */
  leave(code: number): void
  /** Ends at once: nothing was begun. */
  end(code: number): never
}

const COLUMNS = 80

export function openTerminal(): Terminal {
  const lines = () => createInterface({ input: process.stdin, terminal: false })
  return {
    print: (text) => console.log(text),
    note: (text) => console.error(text),
    async ask(question) {
      process.stderr.write(question)
      for await (const line of lines()) return line
      return undefined
    },
    lines,
    columns: process.stdout.columns ?? COLUMNS,
    leave(code) {
      process.exitCode = code
    },
    end: (code) => process.exit(code),
  }
}
