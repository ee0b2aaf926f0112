// A terminal that nobody sees: commands of the console show their plans and results through its
// viewer, and never read anything.
import type { Terminal } from '../desk/terminal.ts'

export const silentTerminal: Terminal = {
  print: () => undefined,
  note: () => undefined,
  ask: async () => undefined,
  askHidden: async () => undefined,
  lines: async function* () {},
  columns: Number.POSITIVE_INFINITY,
  hasColours: false,
  isInteractive: false,
  setExitCode: () => undefined,
  exitNow() {
    throw new Error('a command of the console ends by returning')
  },
}
