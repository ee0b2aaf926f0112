// What the pages ask the cabinet for, once each: name, call, and how long an answer is good. Live
// updates write under the same names, so a page that asks is also told.
import {
  infiniteQueryOptions,
  keepPreviousData,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query'
import type { Me } from '../../src/cabinet/contract/contract.ts'
import { call, isNo, isPassing, type QueryOf } from './api.ts'
import { currentZone, type Language } from './here.ts'

const MINUTE_MS = 60_000
/** How soon a page that could not be answered asks again by itself. */
export const AGAIN_MS = 5_000

export const brandAsk = queryOptions({
  queryKey: ['brand'],
  queryFn: ({ signal }) => call('GET /api/brand', { signal }),
  staleTime: 60 * MINUTE_MS,
})

/** Who is signed in; null: nobody. */
export const meAsk = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await call('GET /api/me', { signal })
    } catch (error) {
      if (isNo(error, 'session_missing')) return null
      throw error
    }
  },
  staleTime: MINUTE_MS,
})

// The next four are kept up to date by live.ts while a page is looked at.
export const homeAsk = queryOptions({
  queryKey: ['home'],
  queryFn: ({ signal }) => call('GET /api/home', { query: { zone: currentZone() }, signal }),
})
export const keyAsk = queryOptions({
  queryKey: ['key'],
  queryFn: ({ signal }) => call('GET /api/key', { signal }),
})
export const orderAsk = (id: string) =>
  queryOptions({
    queryKey: ['order', id],
    queryFn: ({ signal }) => call('GET /api/orders/:id', { params: { id }, signal }),
  })
/** The latest requests come by live updates only: there is no route for them. */
export const requestsKey = ['requests'] as const

/** What was shown stays until the next choice has its answer: the page does not jump. */
export const usageAsk = (query: QueryOf<'GET /api/usage'>) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => call('GET /api/usage', { query, signal }),
    placeholderData: keepPreviousData,
  })
export const logAsk = (query: QueryOf<'GET /api/log'>) =>
  queryOptions({
    queryKey: ['log', query],
    queryFn: ({ signal }) => call('GET /api/log', { query, signal }),
    placeholderData: keepPreviousData,
  })
export const loggedAsk = (id: string) =>
  queryOptions({
    queryKey: ['logged', id],
    queryFn: ({ signal }) => call('GET /api/log/:id', { params: { id }, signal }),
    // An entry of the ledger never changes.
    staleTime: Infinity,
  })

export const statusAsk = queryOptions({
  queryKey: ['status'],
  queryFn: ({ signal }) => call('GET /api/status', { signal }),
  refetchInterval: MINUTE_MS / 2,
})
export const pricesAsk = queryOptions({
  queryKey: ['prices'],
  queryFn: ({ signal }) => call('GET /api/prices', { signal }),
})
export const packsAsk = queryOptions({
  queryKey: ['packs'],
  queryFn: ({ signal }) => call('GET /api/packs', { signal }),
})
/** Newest first, page by page. */
export const ordersAsk = infiniteQueryOptions({
  queryKey: ['orders'],
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/orders', { query: pageParam === null ? {} : { before: pageParam }, signal }),
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.next,
})
export const refundableAsk = (id: string) =>
  queryOptions({
    queryKey: ['refundable', id],
    queryFn: ({ signal }) => call('GET /api/orders/:id/refundable', { params: { id }, signal }),
  })

export const sessionsAsk = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => call('GET /api/sessions', { signal }),
})
export const passkeysAsk = queryOptions({
  queryKey: ['passkeys'],
  queryFn: ({ signal }) => call('GET /api/passkeys', { signal }),
})
export const consentsAsk = queryOptions({
  queryKey: ['consents'],
  queryFn: ({ signal }) => call('GET /api/consents', { signal }),
})
export const closingAsk = queryOptions({
  queryKey: ['closing'],
  queryFn: ({ signal }) => call('GET /api/closing', { signal }),
  // Money is at stake: what is shown was true a moment ago.
  staleTime: 0,
})
export const guardsAsk = queryOptions({
  queryKey: ['guards'],
  queryFn: ({ signal }) => call('GET /api/guards', { signal }),
})
export const topUpAsk = queryOptions({
  queryKey: ['top-up'],
  queryFn: ({ signal }) => call('GET /api/top-up', { signal }),
})
export const documentAsk = (document: string, language: Language) =>
  queryOptions({
    queryKey: ['document', document, language],
    queryFn: ({ signal }) =>
      call('GET /api/documents/:document', { params: { document }, query: { language }, signal }),
    staleTime: 60 * MINUTE_MS,
  })

/** A no is an answer and is not asked again; what got lost on the way is, twice. */
export function createQueryClient(onError: (error: unknown) => void): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) =>
          failures < 2 && (!isNo(error) || error.code === 'offline' || error.status >= 500),
        refetchInterval: ({ state: { error } }) => (isPassing(error) ? AGAIN_MS : false),
      },
      mutations: { retry: false },
    },
  })
  client.getQueryCache().config.onError = onError
  client.getMutationCache().config.onError = onError
  return client
}
