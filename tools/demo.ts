// npm run demo: starts the stage of dev-stage.ts for a visitor: source files are not watched, and
// the servers print only problems.
import { runStage } from './dev-stage.ts'

process.exit(await runStage({ isWatched: false }))
