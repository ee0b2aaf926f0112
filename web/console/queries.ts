// The reads of the console's pages: key, API call, and how long an answer is fresh.
import { infiniteQueryOptions, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import type { Me } from '../../src/operator/console/contract/contract.ts'
import { isTransient } from '../runtime/api.ts'
import { call, isRefused } from './call.ts'

const MINUTE_MS = 60_000
/** An operator looks at data while a customer waits: a read is repeated when it is this old. */
const FRESH_MS = 5_000
const RETRIES_MAX = 3

/** The operator who is signed in; null without a session, or while it lacks its second factor. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await call('GET /api/me', { signal })
    } catch (error) {
      if (isRefused(error, 'operator_session_missing', 'second_factor_missing')) return null
      throw error
    }
  },
  staleTime: MINUTE_MS,
})

export const signInWaysQuery = queryOptions({
  queryKey: ['ways'],
  queryFn: ({ signal }) => call('GET /api/sign-in/ways', { signal }),
  staleTime: MINUTE_MS,
})

/** Live: what happens now is read again while the page is visible. */
const LIVE_MS = 10_000

export const todayQuery = queryOptions({
  queryKey: ['today'],
  queryFn: ({ signal }) => call('GET /api/today', { signal }),
  refetchInterval: LIVE_MS,
})

export const upstreamsQuery = queryOptions({
  queryKey: ['upstreams'],
  queryFn: ({ signal }) => call('GET /api/upstreams', { signal }),
  refetchInterval: LIVE_MS,
})

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: ({ signal }) => call('GET /api/credentials', { signal }),
  refetchInterval: LIVE_MS,
})

export const alarmsQuery = queryOptions({
  queryKey: ['alarms'],
  queryFn: ({ signal }) => call('GET /api/alarms', { signal }),
  refetchInterval: LIVE_MS,
})

export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  queryFn: ({ signal }) => call('GET /api/catalogue', { signal }),
})

export const versionQuery = (version: string) =>
  queryOptions({
    queryKey: ['catalogue', version],
    queryFn: ({ signal }) => call('GET /api/catalogue/:version', { params: { version }, signal }),
  })

export const queuesQuery = queryOptions({
  queryKey: ['queues'],
  queryFn: ({ signal }) => call('GET /api/queues', { signal }),
})

export const figureRowsQuery = (name: string, day: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ['figure', name, day ?? ''],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/figures/:name', {
        ...{ params: { name }, signal },
        query: {
          ...(day !== undefined && { day }),
          ...(pageParam !== null && { before: pageParam }),
        },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })

export const approvalsQuery = queryOptions({
  queryKey: ['approvals'],
  queryFn: ({ signal }) => call('GET /api/approvals', { signal }),
})

export const searchQuery = (text: string) =>
  queryOptions({
    queryKey: ['search', text],
    queryFn: ({ signal }) => call('GET /api/search', { query: { text }, signal }),
    enabled: text !== '',
  })

export const accountQuery = (book: string) =>
  queryOptions({
    queryKey: ['account', book],
    queryFn: ({ signal }) => call('GET /api/accounts/:book', { params: { book }, signal }),
  })

export const statementQuery = (book: string) =>
  infiniteQueryOptions({
    queryKey: ['account', book, 'statement'],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/accounts/:book/statement', {
        ...{ params: { book }, signal },
        query: pageParam === null ? {} : { before: pageParam },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ['request', id],
    queryFn: ({ signal }) => call('GET /api/requests/:id', { params: { id }, signal }),
  })

export const monthsQuery = queryOptions({
  queryKey: ['months'],
  queryFn: ({ signal }) => call('GET /api/months', { signal }),
})

export const monthQuery = (month: string) =>
  queryOptions({
    queryKey: ['months', month],
    queryFn: ({ signal }) => call('GET /api/months/:month', { params: { month }, signal }),
    // The server reads every account to count a month.
    staleTime: MINUTE_MS,
    refetchOnWindowFocus: false,
  })

export const ownQuery = queryOptions({
  queryKey: ['own'],
  queryFn: ({ signal }) => call('GET /api/own', { signal }),
})

export const actsQuery = queryOptions({
  queryKey: ['acts'],
  queryFn: ({ signal }) => call('GET /api/acts', { query: {}, signal }),
})

/** `onError` sees every error of a query, such as a session that has ended. */
export function createConsoleClient(onError: (error: unknown) => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // What the server refused once, it refuses again.
        retry: (count, error) => isTransient(error) && count < RETRIES_MAX,
      },
    },
  })
}
