// Live updates: one stream of server-sent events while the page is visible, written into the query
// cache. Hidden pages close the stream, because all tabs share few connections; when it opens again
// the server sends everything anew.
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { LiveEvents, OrderWithRefunds } from '../../src/cabinet/contract/contract.ts'
import { addressOf } from './api.ts'
import {
  homeQuery,
  keyQuery,
  meQuery,
  orderQuery,
  ordersQuery,
  requestsKey,
  usageSessionsKey,
} from './queries.ts'
import { useZone } from './zone.ts'

/** Browsers reopen a broken stream by themselves, but not one that the server refused. */
const RECONNECT_MS_MIN = 2_000
const RECONNECT_MS_MAX = 60_000

/** Called by the frame of the signed-in pages. */
export function useLive(): void {
  const client = useQueryClient()
  const zone = useZone()
  useEffect(() => listen(client, zone), [client, zone])
}

function listen(client: QueryClient, zone: string): () => void {
  const state: { source?: EventSource; timer?: number; reconnectMs: number } = {
    reconnectMs: RECONNECT_MS_MIN,
  }

  function close(): void {
    state.source?.close()
    delete state.source
    window.clearTimeout(state.timer)
  }

  function reconnectLater(): void {
    close()
    state.timer = window.setTimeout(openIfVisible, state.reconnectMs)
    state.reconnectMs = Math.min(state.reconnectMs * 2, RECONNECT_MS_MAX)
  }

  function openIfVisible(): void {
    if (document.visibilityState === 'hidden') close()
    else if (state.source === undefined) state.source = open()
  }

  function open(): EventSource {
    const source = new EventSource(addressOf('/api/live', {}, { zone }))
    const on = <Name extends keyof LiveEvents>(
      name: Name,
      take: (event: LiveEvents[Name]) => void,
    ) => {
      source.addEventListener(name, ({ data }) => {
        state.reconnectMs = RECONNECT_MS_MIN
        take(JSON.parse(data) as LiveEvents[Name])
      })
    }
    // A response still in flight is older than this update and must not replace it.
    const replaceAnswer = async (queryKey: QueryKey, value: unknown) => {
      await client.cancelQueries({ queryKey })
      client.setQueryData(queryKey, value)
    }
    on('home', (home) => void replaceAnswer(homeQuery.queryKey, home))
    on('key', (key) => void replaceAnswer(keyQuery.queryKey, key))
    on('requests', (requests) => {
      void replaceAnswer(requestsKey, requests)
      // Read again only by an open page of sessions.
      void client.invalidateQueries({ queryKey: usageSessionsKey })
    })
    on('order', (order) => {
      client.setQueryData<OrderWithRefunds>(orderQuery(order.id).queryKey, (before) =>
        before === undefined ? undefined : { ...before, ...order },
      )
      void client.invalidateQueries({ queryKey: ordersQuery.queryKey })
      void client.invalidateQueries({ queryKey: orderQuery(order.id).queryKey })
    })
    on('end', () => {
      // A repeated sign-in ("confirm it is you") ends the session of this stream, so the end does
      // not mean that nobody is signed in: `me` is read again.
      void client.invalidateQueries({ queryKey: meQuery.queryKey })
      reconnectLater()
    })
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) reconnectLater()
    })
    return source
  }

  openIfVisible()
  document.addEventListener('visibilitychange', openIfVisible)
  return () => {
    document.removeEventListener('visibilitychange', openIfVisible)
    close()
  }
}
