// The application around every page, the same in the browser and on the server: hydration compares
// the two.
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import type { createPages } from './routes.tsx'
import { Toasts } from './ui/Toasts.tsx'

export function App(props: {
  readonly client: QueryClient
  readonly pages: ReturnType<typeof createPages>
}) {
  return (
    <StrictMode>
      <QueryClientProvider client={props.client}>
        <Toasts>
          <RouterProvider router={props.pages} />
        </Toasts>
      </QueryClientProvider>
    </StrictMode>
  )
}
