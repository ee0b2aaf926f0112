// op acts: what operators did, newest first. An act without a recorded end is shown as begun: the
// operator must find out whether it took effect.
import { formatMinute, parseCount } from './desk/amounts.ts'
import { EXIT_DONE } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { actList } from './desk/queries.ts'

const ACTS = 20

export async function acts(desk: Desk): Promise<number> {
  const limit = desk.read('limit', parseCount, 'a whole number above 0') ?? ACTS
  const list = await actList(desk.modules.db, { by: desk.text('by') ?? null, limit })
  const lines = list.flatMap(({ id, at, by, osUser, command, outcome, detail }) => [
    `${id}  ${formatMinute(at)} UTC  ${by}${by === osUser ? '' : ` (${osUser})`}  ${outcome}`,
    `    op ${command}`,
    ...(detail === '' ? [] : detail.split('\n').map((line) => `    ${line}`)),
  ])
  desk.say({ acts: list }, lines.length === 0 ? ['nobody has done anything'] : lines)
  return EXIT_DONE
}
