// Health checks for whoever sends requests here: alive says that the process runs, ready that a
// request would be served. Not ready while the database does not answer, and while we drain.
import type { Part } from './part.ts'

/** Probes give up after a second or two; a database that takes longer is not there for anybody. */
const ANSWER_MS = 1_500

export function health(options: {
  /** Resolves when the database answers. */
  readonly askDatabase: () => Promise<void>
}): Part {
  return (app) => {
    app.get('/healthz', () => 'alive\n')
    app.get('/readyz', async (_request, reply) => {
      if (app.isDraining()) return reply.code(503).send('draining\n')
      const isAnswering = await withinMs(options.askDatabase(), ANSWER_MS)
      return isAnswering ? 'ready\n' : reply.code(503).send('the database does not answer\n')
    })
  }
}

function withinMs(work: Promise<void>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), ms)
  work.then(
    () => resolve(true),
    () => resolve(false),
  )
  return promise.finally(() => clearTimeout(timer))
}
