// Starts the console in the browser: creates the query client and the router, loads the words and
// renders the page.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { startLanguage } from '../runtime/language.ts'
import { Toasts } from '../ui/Toasts.tsx'
import { isRefused } from './call.ts'
import { createConsoleClient, meQuery } from './queries.ts'
import { createConsolePages } from './routes.tsx'
import { loadWords } from './words/words.ts'
import './style.css'

const client = createConsoleClient((error) => {
  // The session ended, here or elsewhere: the guard of routes.tsx decides which page comes next.
  if (!isRefused(error, 'operator_session_missing', 'second_factor_missing')) return
  client.setQueryData(meQuery.queryKey, null)
  void pages.invalidate()
})
const pages = createConsolePages(client)

const element = document.getElementById('app')
if (element === null) throw new Error('index.html has no element with the id app')
void client.prefetchQuery(meQuery)
await startLanguage(loadWords)
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Toasts>
        <RouterProvider router={pages} />
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
)
