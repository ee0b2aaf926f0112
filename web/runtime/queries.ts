// The queries of the pages: key, API call, and how long an answer is fresh. Live updates write
// under the same keys, so a page that reads a query also receives its updates.
import {
  infiniteQueryOptions,
  keepPreviousData,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query'
import type { Me } from '../../src/cabinet/contract/contract.ts'
import type { SessionKind } from '../../src/cabinet/contract/sessions.ts'
import { call, isApiRefusal, isTransient, type QueryOf } from './api.ts'
import { currentZone, type Language } from './preferences.ts'

const MINUTE_MS = 60_000
/** How soon a query that failed with a transient error is repeated. */
export const RETRY_MS = 5_000

export const brandQuery = queryOptions({
  queryKey: ['brand'],
  queryFn: ({ signal }) => call('GET /api/brand', { signal }),
  staleTime: 60 * MINUTE_MS,
})

/** The owner who is signed in; null without a session. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await call('GET /api/me', { signal })
    } catch (error) {
      if (isApiRefusal(error, 'session_missing')) return null
      throw error
    }
  },
  staleTime: MINUTE_MS,
})

// live.ts updates the next four while a page is visible.
export const homeQuery = queryOptions({
  queryKey: ['home'],
  queryFn: ({ signal }) => call('GET /api/home', { query: { zone: currentZone() }, signal }),
})
export const keyQuery = queryOptions({
  queryKey: ['key'],
  queryFn: ({ signal }) => call('GET /api/key', { signal }),
})
export const orderQuery = (id: string) =>
  queryOptions({
    queryKey: ['order', id],
    queryFn: ({ signal }) => call('GET /api/orders/:id', { params: { id }, signal }),
  })
/** The latest requests come only by live updates: the API has no route for them. */
export const requestsKey = ['requests'] as const

/** The previous answer stays until the next one arrives, so that the page does not jump. */
export const usageQuery = (query: QueryOf<'GET /api/usage'>) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => call('GET /api/usage', { query, signal }),
    placeholderData: keepPreviousData,
  })
export const logQuery = (query: QueryOf<'GET /api/log'>) =>
  queryOptions({
    queryKey: ['log', query],
    queryFn: ({ signal }) => call('GET /api/log', { query, signal }),
    placeholderData: keepPreviousData,
  })
export const refusedQuery = (query: QueryOf<'GET /api/refused'>) =>
  queryOptions({
    queryKey: ['refused', query],
    queryFn: ({ signal }) => call('GET /api/refused', { query, signal }),
    placeholderData: keepPreviousData,
  })
export const loggedRequestQuery = (id: string) =>
  queryOptions({
    queryKey: ['logged', id],
    queryFn: ({ signal }) => call('GET /api/log/:id', { params: { id }, signal }),
    // An entry of the ledger never changes.
    staleTime: Infinity,
  })

/** What live.ts invalidates when requests arrive. */
export const usageSessionsKey = ['usage-sessions'] as const
/** The latest first, page by page. */
export const usageSessionsQuery = (kind: SessionKind) =>
  infiniteQueryOptions({
    queryKey: [...usageSessionsKey, kind],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/usage/sessions', {
        query: { kind, ...(pageParam === null ? {} : { before: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  })
export const usageSessionQuery = (query: QueryOf<'GET /api/usage/session'>) =>
  queryOptions({
    queryKey: [...usageSessionsKey, 'one', query],
    queryFn: ({ signal }) => call('GET /api/usage/session', { query, signal }),
  })

export const statusQuery = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => call('GET /api/status', { signal }),
  // Part of the two minutes within which an outage is shown.
  refetchInterval: MINUTE_MS / 3,
  // The HTML that a page begins with may be half a minute old.
  refetchOnMount: 'always',
})
export const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: ({ signal }) => call('GET /api/prices', { signal }),
})
export const packsQuery = queryOptions({
  queryKey: ['packs'],
  queryFn: ({ signal }) => call('GET /api/packs', { signal }),
})
/** Newest first, page by page. */
export const ordersQuery = infiniteQueryOptions({
  queryKey: ['orders'],
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/orders', { query: pageParam === null ? {} : { before: pageParam }, signal }),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.next,
})
export const refundableQuery = (id: string) =>
  queryOptions({
    queryKey: ['refundable', id],
    queryFn: ({ signal }) => call('GET /api/orders/:id/refundable', { params: { id }, signal }),
  })

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => call('GET /api/sessions', { signal }),
})
/** What the review after a password reset shows. */
export const reviewQuery = queryOptions({
  queryKey: ['reset-review'],
  queryFn: ({ signal }) => call('GET /api/reset-review', { signal }),
})
export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: ({ signal }) => call('GET /api/passkeys', { signal }),
})
export const consentsQuery = queryOptions({
  queryKey: ['consents'],
  queryFn: ({ signal }) => call('GET /api/consents', { signal }),
})
export const closingQuery = queryOptions({
  queryKey: ['closing'],
  queryFn: ({ signal }) => call('GET /api/closing', { signal }),
  // Money depends on it: always read anew.
  staleTime: 0,
})
export const guardsQuery = queryOptions({
  queryKey: ['guards'],
  queryFn: ({ signal }) => call('GET /api/guards', { signal }),
})
export const topUpQuery = queryOptions({
  queryKey: ['top-up'],
  queryFn: ({ signal }) => call('GET /api/top-up', { signal }),
})
/** Newest first; a charge may come at any time. */
export const topUpHistoryQuery = queryOptions({
  queryKey: ['top-up-history'],
  queryFn: ({ signal }) => call('GET /api/top-up/history', { signal }),
})
export const documentQuery = (document: string, language: Language) =>
  queryOptions({
    queryKey: ['document', document, language],
    queryFn: ({ signal }) =>
      call('GET /api/documents/:document', { params: { document }, query: { language }, signal }),
    staleTime: 60 * MINUTE_MS,
  })

/** Repeats a query twice when it got no answer or a 5xx; other refusals are not repeated. */
export function createQueryClient(onError: (error: unknown) => void): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) =>
          failures < 2 && (!isApiRefusal(error) || error.code === 'offline' || error.status >= 500),
        refetchInterval: ({ state: { error } }) => (isTransient(error) ? RETRY_MS : false),
      },
      mutations: { retry: false },
    },
  })
  client.getQueryCache().config.onError = onError
  client.getMutationCache().config.onError = onError
  return client
}
