// The door of the operator: commands for the people on duty. Each prints what it found or what it
// is about to do, asks unless told --yes, acts through a room's door, and says what it did.
// `--json` prints one object for scripts.
import { Command } from 'commander'
import { audit } from './audit.ts'
import { importKeys } from './import-keys.ts'
import type { OperatorRooms } from './rooms.ts'

/** `build` is called by the command that runs, so that `--help` opens no connection. */
export function createOperator(build: () => Promise<OperatorRooms>): Command {
  const op = new Command('op').description('commands for the people on duty')
  op.option('--json', 'print one JSON object')

  /** Builds the rooms, runs, and always lets go of the connections. */
  const run = (work: (rooms: OperatorRooms, json: boolean) => Promise<number>) => async () => {
    const rooms = await build()
    try {
      process.exitCode = await work(rooms, op.opts().json === true)
    } finally {
      await rooms.ledger.stop(1_000)
      await rooms.db.end()
    }
  }

  op.command('audit')
    .description('check every rule of the ledger; exit 1 when something is found')
    .action(run(audit))
  op.command('import-keys')
    .description('read lines of "<book> <key>" from standard input; store only hashes')
    .action(run(importKeys))
  return op
}
