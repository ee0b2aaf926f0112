// npm run demo: starts the stage of dev-stage.ts for a visitor: source files are not watched, and
// the servers print only problems.
import { runStage } from './dev-stage.ts'

const HELP = `npm run demo starts the whole service with stand-ins; Ctrl-C ends it.
It takes no arguments.
Where a usual port is taken, it uses a free one; it prints all addresses.
Settings in the environment reach every program: TRIAL_CREDITS=100000 npm run demo
TOLLGATE_STATE names another directory than .tollgate for database, spool and key.
`

const given = process.argv.slice(2)
if (given.length > 0) {
  process.stdout.write(HELP)
  process.exit(given.includes('--help') || given.includes('-h') ? 0 : 2)
}
process.exit(await runStage({ isWatched: false }))
