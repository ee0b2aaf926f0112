// A command's input and output. Only results go to standard output, so that scripts can read them;
// plans, questions and errors go to standard error.
import { createInterface } from 'node:readline'

export type Terminal = {
  print(text: string): void
  note(text: string): void
  /** The line that the operator types; undefined at the end of input. */
  ask(question: string): Promise<string | undefined>
  /** All lines of standard input. */
  lines(): AsyncIterable<string>
  /** The terminal's width; Infinity for a file or a pipe, where nothing is cut. */
  readonly columns: number
  /** True when standard output is a terminal that shows colours and NO_COLOR is not set. */
  readonly hasColours: boolean
  /** Sets the exit code for when the process ends by itself. */
  setExitCode(code: number): void
  /** Ends the process immediately; only before a command has begun. */
  exitNow(code: number): never
}

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
    columns: process.stdout.columns ?? Infinity,
    // Node's own check reads NO_COLOR and TERM.
    hasColours: process.stdout.isTTY && process.stdout.hasColors(),
    setExitCode(code) {
      process.exitCode = code
    },
    exitNow: (code) => process.exit(code),
  }
}
