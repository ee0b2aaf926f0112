// The door of the operator: commands for the people on duty. Each prints what it found or what it
// is about to do, asks unless told --yes, acts through a room's door, and says what it did.
// `--json` prints one object for scripts.
import { Command } from 'commander'
import { audit } from './audit.ts'
import { importKeys } from './import-keys.ts'
import type { OperatorRooms } from './rooms.ts'
import { type Change, changeUpstream, listUpstreams } from './upstreams.ts'

/** `build` is called by the command that runs, so that `--help` opens no connection. */
export function createOperator(build: () => Promise<OperatorRooms>): Command {
  const op = new Command('op').description('commands for the people on duty')
  op.option('--json', 'print one JSON object')

  /** Builds the rooms, runs, and always lets go of the connections. */
  const run =
    <Args extends unknown[]>(
      work: (rooms: OperatorRooms, json: boolean, ...args: Args) => Promise<number>,
    ) =>
    async (...args: Args) => {
      const rooms = await build()
      try {
        process.exitCode = await work(rooms, op.opts().json === true, ...args)
      } finally {
        await rooms.ledger.stop(1_000)
        await rooms.upstreams.close()
        await rooms.db.end()
      }
    }

  op.command('audit')
    .description('check every rule of the ledger; exit 1 when something is found')
    .action(run(audit))
  op.command('import-keys')
    .description('read lines of "<book> <key>" from standard input; store only hashes')
    .action(run(importKeys))
  addUpstreams(op, run)
  return op
}

type Run = <Args extends unknown[]>(
  work: (rooms: OperatorRooms, json: boolean, ...args: Args) => Promise<number>,
) => (...args: Args) => Promise<void>

type Yes = { readonly yes?: boolean }

function addUpstreams(op: Command, run: Run): void {
  const upstreams = op
    .command('upstreams')
    .description('what all processes see of each credential at each upstream')
    .action(run(listUpstreams))
  const change = (name: string, what: Change, { yes }: Yes) =>
    run((rooms, json) => changeUpstream(rooms, json, { name, change: what, isYes: yes === true }))()
  const verbs = [
    ['drain', 'no new request goes there; those under way go on'],
    ['undrain', 'requests go there again'],
  ] as const
  for (const [verb, description] of verbs) {
    upstreams
      .command(verb)
      .description(description)
      .argument('<name>', 'of the upstream')
      .option('--yes', 'do not ask')
      .action((name: string, options: Yes) => change(name, { verb }, options))
  }
  upstreams
    .command('weight')
    .description('its share of conversations among those of the same priority; 0: never asked')
    .argument('<name>', 'of the upstream')
    .argument('<n>', 'a whole number')
    .option('--yes', 'do not ask')
    .action((name: string, weight: string, options: Yes) =>
      change(name, { verb: 'weight', weight }, options),
    )
}
