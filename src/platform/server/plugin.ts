// The type of a plugin: a function that adds routes to the server. Each plugin has a file and a
// Fastify scope of its own, so that its hooks and body parsers do not affect the others.
import type { FastifyInstance } from 'fastify'

export type Plugin = (app: FastifyInstance) => void | Promise<void>

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address, from a trusted source; see address.ts. */
    address: string
  }
  interface FastifyInstance {
    /** True after SIGTERM: the server finishes its requests and accepts no connections. */
    isDraining(): boolean
  }
}
