// op acts: what operators did, newest first. An act that began and never said how it ended is shown
// as begun: whoever looks must find out.
import type { Desk } from './desk/desk.ts'
import { countFrom, minuteShown } from './desk/figures.ts'
import { EXIT_DONE } from './desk/halt.ts'
import { actList } from './desk/queries.ts'

const ACTS = 20

export async function acts(desk: Desk): Promise<number> {
  const limit = desk.read('limit', countFrom, 'a whole number') ?? ACTS
  const list = await actList(desk.rooms.db, { by: desk.text('by') ?? null, limit })
  const lines = list.flatMap(({ id, at, by, osUser, command, outcome, detail }) => [
    `${id}  ${minuteShown(at)} UTC  ${by}${by === osUser ? '' : ` (${osUser})`}  ${outcome}`,
    `    op ${command}`,
    ...(detail === '' ? [] : [`    ${detail}`]),
  ])
  desk.say({ acts: list }, lines.length === 0 ? ['nobody has done anything'] : lines)
  return EXIT_DONE
}
