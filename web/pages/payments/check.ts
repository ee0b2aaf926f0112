// Asking the payment provider about an order: by the owner's click, and by itself while somebody
// who came back from the provider's page waits in front of ours.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import type { Order, OrderWithRefunds } from '../../../src/cabinet/contract/contract.ts'
import { call } from '../../runtime/api.ts'
import { homeAsk, keyAsk, orderAsk, ordersAsk } from '../../runtime/asks.ts'
import { hasLeftToPay } from './leaving.ts'
import { meanings } from './states.ts'

/** A third of what the server allows. */
const AGAIN_MS = 3_000
/** A bank that has not answered by then may need an hour; the server goes on looking. */
const WAITING_MS_MAX = 120_000

export function useCheck(order: Order) {
  const client = useQueryClient()
  const { id, state } = order
  const ask = useCallback(async () => {
    const news = await call('POST /api/orders/:id/check', { params: { id } })
    client.setQueryData<OrderWithRefunds>(orderAsk(id).queryKey, (before) =>
      before === undefined ? undefined : { ...before, ...news },
    )
    if (news.state !== state) {
      for (const { queryKey } of [ordersAsk, homeAsk, keyAsk]) {
        void client.invalidateQueries({ queryKey })
      }
    }
    return news
  }, [client, id, state])

  const isAwaited = meanings[state].isOpen === true && hasLeftToPay(id)
  useEffect(() => {
    if (!isAwaited) return
    const endsAt = performance.now() + WAITING_MS_MAX
    const look = () => {
      if (performance.now() > endsAt) window.clearInterval(timer)
      // Nobody asked, so nobody is told when it fails: live updates and the button remain.
      else if (document.visibilityState === 'visible') ask().catch(() => undefined)
    }
    const timer = window.setInterval(look, AGAIN_MS)
    look()
    return () => window.clearInterval(timer)
  }, [ask, isAwaited])

  return useMutation({ mutationFn: ask })
}
