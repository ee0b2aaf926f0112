// Starts the cabinet in the browser: words, answers, pages, in this order.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createPages } from './routes.tsx'
import { isNo } from './runtime/api.ts'
import { brandAsk, createQueryClient, meAsk } from './runtime/asks.ts'
import { startLanguage } from './runtime/language.ts'
import { forgetLeftKeys } from './runtime/session.ts'
import { Toasts } from './ui/Toasts.tsx'

/** Called once, by start.ts. */
export async function start(): Promise<void> {
  const client = createQueryClient((error) => {
    if (isNo(error, 'session_missing')) client.setQueryData(meAsk.queryKey, null)
  })
  const pages = createPages(client)

  // Signed out here, in another tab, or by a revoked session: the guard decides where to go.
  client.getQueryCache().subscribe(({ type, query }) => {
    const isGone = type === 'updated' && query.queryKey[0] === 'me' && query.state.data === null
    if (!isGone) return
    void pages.invalidate()
    void forgetLeftKeys()
  })

  const element = document.getElementById('app')
  if (element === null) throw new Error('index.html has no place for the pages')
  // What the first page waits for is fetched side by side: who is signed in, its program, words.
  void client.prefetchQuery(meAsk)
  void client.prefetchQuery(brandAsk)
  for (const { routeId } of pages.matchRoutes(pages.latestLocation)) {
    // The cast is safe: the id is of a route that was matched; its type has become too deep.
    const route = pages.routesById[routeId as keyof typeof pages.routesById]
    // One that fails is fetched again by the page, which then says so.
    pages.loadRouteChunk(route)?.catch(() => undefined)
  }
  await startLanguage()
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Toasts>
          <RouterProvider router={pages} />
        </Toasts>
      </QueryClientProvider>
    </StrictMode>,
  )
}
