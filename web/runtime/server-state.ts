// The answers that the server put into a page that it rendered: the browser takes them instead of
// requesting them again, so that its first rendering equals the server's.
import type { QueryClient } from '@tanstack/react-query'

const ELEMENT = 'server-state'

/** Keys and answers of queries. */
type State = readonly (readonly [key: readonly unknown[], answer: unknown])[]

/** The queries that a page rendered, as JSON. Bundled texts are left out: the bundle has them. */
export function stateOf(client: QueryClient): string {
  const state: State = client
    .getQueryCache()
    .getAll()
    .flatMap((query) => {
      const isTaken = query.state.data !== undefined && query.meta?.isBundled !== true
      return isTaken ? [[query.queryKey, query.state.data] as const] : []
    })
  return JSON.stringify(state)
}

/** Whether the server rendered this page. */
export function isRendered(): boolean {
  return document.documentElement.dataset.rendered !== undefined
}

export function takeServerState(client: QueryClient): void {
  const text = document.getElementById(ELEMENT)?.textContent
  if (!isRendered() || text == null) return
  for (const [key, answer] of JSON.parse(text) as State) client.setQueryData(key, answer)
}
