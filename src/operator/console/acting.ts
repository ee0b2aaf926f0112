// Who acts in the console, for the records of acts and reads.
import { type Actor, personActor } from '../desk/actor.ts'
import type { BegunVisit } from './routes.ts'

/** The record says that it came from the console, and from which address. */
export function actorOf({ session, address }: Pick<BegunVisit, 'session' | 'address'>): Actor {
  return personActor(session, `console ${address}`)
}
