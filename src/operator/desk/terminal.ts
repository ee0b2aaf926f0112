// A command's input and output. Only results go to standard output, so that scripts can read them;
// plans, questions and errors go to standard error.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Shows plans and results in its own way, such as the console's pages do. */
export type Viewer = {
  /** True: do what the plan says. */
  confirm(plan: readonly string[]): boolean
  /** The result for programs, and its lines for people. */
  show(result: object, lines: readonly string[]): void
}

export type Terminal = {
  print(text: string): void
  note(text: string): void
  /** The line that the operator types; undefined at the end of input. */
  ask(question: string): Promise<string | undefined>
  /** The same, without showing what is typed. */
  askHidden(question: string): Promise<string | undefined>
  /** All lines of standard input. */
  lines(): AsyncIterable<string>
  /** The terminal's width; Infinity for a file or a pipe, where nothing is cut. */
  readonly columns: number
  /** True when standard output is a terminal that shows colours and NO_COLOR is not set. */
  readonly hasColours: boolean
  /** False when standard input is a file or a pipe, where nobody answers questions. */
  readonly isInteractive: boolean
  /** Instead of questions and printed results; absent in a terminal. */
  readonly viewer?: Viewer
  /** Sets the exit code for when the process ends by itself. */
  setExitCode(code: number): void
  /** Ends the process immediately; only before a command has begun. */
  exitNow(code: number): never
}

export function openTerminal(): Terminal {
  const lines = () => createInterface({ input: process.stdin, terminal: false })
  async function ask(question: string): Promise<string | undefined> {
    process.stderr.write(question)
    try {
      for await (const line of lines()) return line
      return undefined
    } finally {
      // A terminal that is still read would keep the process from ending.
      process.stdin.pause()
    }
  }
  return {
    print: (text) => console.log(text),
    note: (text) => console.error(text),
    ask,
    askHidden: (question) => (process.stdin.isTTY ? askUnseen(question) : ask(question)),
    lines,
    columns: process.stdout.columns ?? Infinity,
    // Node's own check reads NO_COLOR and TERM.
    hasColours: process.stdout.isTTY && process.stdout.hasColors(),
    isInteractive: process.stdin.isTTY === true,
    setExitCode(code) {
      process.exitCode = code
    },
    exitNow: (code) => process.exit(code),
  }
}

/** readline writes what is typed to its output, which shows nothing here. */
async function askUnseen(question: string): Promise<string | undefined> {
  process.stderr.write(question)
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const input = createInterface({ input: process.stdin, output, terminal: true })
  // Ctrl-C would only pause a terminal in this mode.
  input.on('SIGINT', () => input.close())
  try {
    for await (const line of input) return line
    return undefined
  } finally {
    input.close()
    process.stderr.write('\n')
  }
}
