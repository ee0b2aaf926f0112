// Starts the cabinet in the browser: creates the query client and the router, loads the words and
// renders the page, or takes over the one that the server rendered.
import { createRoot, hydrateRoot } from 'react-dom/client'
import { App } from './App.tsx'
import { createPages } from './routes.tsx'
import { isApiRefusal } from './runtime/api.ts'
import { startLanguage } from './runtime/language.ts'
import { brandQuery, createQueryClient, meQuery } from './runtime/queries.ts'
import { isRendered, takeServerState } from './runtime/server-state.ts'
import { wipeKeysOfSharedDevice } from './runtime/session.ts'
import { loadWords } from './words/load.ts'

/** Called once, by bootstrap.ts. */
export async function startApp(): Promise<void> {
  const client = createQueryClient((error) => {
    if (isApiRefusal(error, 'session_missing')) client.setQueryData(meQuery.queryKey, null)
  })
  const pages = createPages(client)

  // The session ended: signed out here or in another tab, or revoked. The guard of routes.tsx
  // decides which page comes next.
  client.getQueryCache().subscribe(({ type, query }) => {
    const isSignedOut =
      type === 'updated' && query.queryKey[0] === 'me' && query.state.data === null
    if (!isSignedOut) return
    void pages.invalidate()
    void wipeKeysOfSharedDevice()
  })

  const element = document.getElementById('app')
  if (element === null) throw new Error('index.html has no element with the id app')
  takeServerState(client)
  // The first page waits for the owner, its own chunk and the words: all are fetched in parallel.
  void client.prefetchQuery(meQuery)
  void client.prefetchQuery(brandQuery)
  for (const { routeId } of pages.matchRoutes(pages.latestLocation)) {
    // The cast is safe: the id is that of a matched route; the type is too deep for TypeScript.
    const route = pages.routesById[routeId as keyof typeof pages.routesById]
    // The page repeats a load that fails here, and shows the error.
    pages.loadRouteChunk(route)?.catch(() => undefined)
  }
  await startLanguage(loadWords)
  const app = <App client={client} pages={pages} />
  if (!isRendered()) {
    createRoot(element).render(app)
    return
  }
  // As the router's own hydration does it, which needs an inline script: no boundary that the
  // server did not render, and everything that the page shows is loaded before the first rendering.
  pages.ssr = { manifest: undefined }
  await pages.load()
  hydrateRoot(element, app)
}
