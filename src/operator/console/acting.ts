// Who acts in the console, for the records of acts and reads.
import { type Actor, personActor } from '../desk/actor.ts'
import type { BegunVisit } from './routes.ts'

/** The record says that it came from the console, and from which address. */
export function actorOf({ session, address }: BegunVisit): Actor {
  return personActor(session, fromConsole(address))
}

export function fromConsole(address: string): string {
  return `console ${address}`
}
