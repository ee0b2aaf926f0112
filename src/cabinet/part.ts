// What a part of the cabinet is: a function that adds its routes to the server. Each part has a
// file and a scope of its own: its hooks and its way of reading bodies do not reach the others.
import type { FastifyInstance } from 'fastify'

export type Part = (app: FastifyInstance) => void

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's address, as far as it can be believed; see address.ts. */
    address: string
  }
  interface FastifyInstance {
    /** After SIGTERM: what is there is served, and nothing new should come. */
    isDraining(): boolean
  }
}
