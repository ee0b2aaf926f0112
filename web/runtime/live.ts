// Live updates: one stream of server-sent events while the page is looked at, written into the
// answers that the pages already show. Hidden pages close it, since a browser has few connections
// for all its tabs; who comes back gets everything anew when it opens.
import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { LiveEvents, OrderWithRefunds } from '../../src/cabinet/contract/contract.ts'
import { addressOf } from './api.ts'
import { homeAsk, keyAsk, meAsk, orderAsk, ordersAsk, requestsKey } from './asks.ts'
import { useZone } from './zone.ts'

/** Browsers reopen a broken stream by themselves, but not one that was refused. */
const AGAIN_MS_MIN = 2_000
const AGAIN_MS_MAX = 60_000

/** For the frame of signed-in pages. */
export function useLive(): void {
  const client = useQueryClient()
  const zone = useZone()
  useEffect(() => listen(client, zone), [client, zone])
}

function listen(client: QueryClient, zone: string): () => void {
  const state: { source?: EventSource; timer?: number; againMs: number } = { againMs: AGAIN_MS_MIN }

  function close(): void {
    state.source?.close()
    delete state.source
    window.clearTimeout(state.timer)
  }

  function later(): void {
    close()
    state.timer = window.setTimeout(look, state.againMs)
    state.againMs = Math.min(state.againMs * 2, AGAIN_MS_MAX)
  }

  function look(): void {
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
        state.againMs = AGAIN_MS_MIN
        take(JSON.parse(data) as LiveEvents[Name])
      })
    }
    // An answer that is still on its way is older than what comes here, and must not replace it.
    const put = async (queryKey: QueryKey, value: unknown) => {
      await client.cancelQueries({ queryKey })
      client.setQueryData(queryKey, value)
    }
    on('home', (home) => void put(homeAsk.queryKey, home))
    on('key', (key) => void put(keyAsk.queryKey, key))
    on('requests', (requests) => void put(requestsKey, requests))
    on('order', (order) => {
      client.setQueryData<OrderWithRefunds>(orderAsk(order.id).queryKey, (before) =>
        before === undefined ? undefined : { ...before, ...order },
      )
      void client.invalidateQueries({ queryKey: ordersAsk.queryKey })
      void client.invalidateQueries({ queryKey: orderAsk(order.id).queryKey })
    })
    on('end', () => {
      // Signing in again, to confirm that it is you, ends the session that the stream was opened
      // with. Whether anybody is still signed in is for `me` to say.
      void client.invalidateQueries({ queryKey: meAsk.queryKey })
      later()
    })
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) later()
    })
    return source
  }

  look()
  document.addEventListener('visibilitychange', look)
  return () => {
    document.removeEventListener('visibilitychange', look)
    close()
  }
}
