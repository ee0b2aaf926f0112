// npm run dev: the stage of dev-stage.ts, whose servers restart when their source changes.
import { runStage } from './dev-stage.ts'

process.exit(await runStage({ isWatched: true }))
