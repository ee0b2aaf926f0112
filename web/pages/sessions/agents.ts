// The agents of a session in the order of the table: each directly after the one that started it,
// and how deep it is below the main agent.
import type { SessionAgent } from '../../../src/cabinet/contract/sessions.ts'

export type PlacedAgent<Agent = SessionAgent> = { readonly agent: Agent; readonly level: number }

type Ids = Pick<SessionAgent, 'id' | 'parentId'>

/**
 * Agents without a known parent are below the main agent. Clients choose the ids, so agents may
 * name each other as parents: these come last.
 */
export function placed<Agent extends Ids>(agents: readonly Agent[]): PlacedAgent<Agent>[] {
  const known = new Set(agents.map(({ id }) => id))
  const parentOf = ({ id, parentId }: Ids) =>
    parentId === id || !known.has(parentId) ? null : parentId
  const found: PlacedAgent<Agent>[] = []
  const seen = new Set<Agent>()
  const place = (agent: Agent, level: number) => {
    if (seen.has(agent)) return
    seen.add(agent)
    found.push({ agent, level })
    if (agent.id !== null) placeChildren(agent.id, level + 1)
  }
  const placeChildren = (parent: string | null, level: number) => {
    for (const agent of agents) {
      if (agent.id !== null && parentOf(agent) === parent) place(agent, level)
    }
  }
  const main = agents.find(({ id }) => id === null)
  if (main !== undefined) place(main, 0)
  placeChildren(null, main === undefined ? 0 : 1)
  for (const agent of agents) place(agent, 1)
  return found
}
