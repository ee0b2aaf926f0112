// Health checks for load balancers: /healthz says that the process runs, /readyz that it would
// serve a request. Not ready while the database does not answer, and while the server drains.
import type { Executor } from '../db/db.ts'
import type { Plugin } from './plugin.ts'
import { pingDatabase } from './queries.ts'

/** Probes give up after a second or two. */
const ANSWER_MS = 1_500

export function healthPlugin(db: Executor): Plugin {
  return (app) => {
    app.get('/healthz', () => 'alive\n')
    app.get('/readyz', async (_request, reply) => {
      if (app.isDraining()) return reply.code(503).send('draining\n')
      const isAnswering = await withinMs(pingDatabase(db), ANSWER_MS)
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
