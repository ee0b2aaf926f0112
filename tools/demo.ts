// npm run demo: the stage of dev-stage.ts for somebody who only wants to look: nothing is watched,
// and the servers are quiet unless something is wrong.
import { runStage } from './dev-stage.ts'

process.exit(await runStage({ isWatched: false }))
