// Makes the server ask the payment provider about an order: when the owner clicks, and repeatedly
// after the owner has come back from the provider's page.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import type { Order, OrderWithRefunds } from '../../../src/cabinet/contract/contract.ts'
import { call } from '../../runtime/api.ts'
import { homeQuery, keyQuery, orderQuery, ordersQuery } from '../../runtime/queries.ts'
import { orderStates } from './order-states.ts'
import { hasOpenedPaymentPage } from './payment-page.ts'

/** A third of the rate that the server allows. */
const CHECK_EVERY_MS = 3_000
/** A bank that has not answered by then may need an hour; the server keeps checking. */
const WAITING_MS_MAX = 120_000

export function useCheck(order: Order) {
  const client = useQueryClient()
  const { id, state } = order
  const ask = useCallback(async () => {
    const latest = await call('POST /api/orders/:id/check', { params: { id } })
    client.setQueryData<OrderWithRefunds>(orderQuery(id).queryKey, (before) =>
      before === undefined ? undefined : { ...before, ...latest },
    )
    if (latest.state !== state) {
      for (const { queryKey } of [orderQuery(id), ordersQuery, homeQuery, keyQuery]) {
        void client.invalidateQueries({ queryKey })
      }
    }
    return latest
  }, [client, id, state])

  const isAwaitingPayment = orderStates[state].isOpen === true && hasOpenedPaymentPage(id)
  useEffect(() => {
    if (!isAwaitingPayment) return
    const endsAt = performance.now() + WAITING_MS_MAX
    const look = () => {
      if (performance.now() > endsAt) window.clearInterval(timer)
      // An automatic check shows no error: live updates and the button remain.
      else if (document.visibilityState === 'visible') ask().catch(() => undefined)
    }
    const timer = window.setInterval(look, CHECK_EVERY_MS)
    look()
    return () => window.clearInterval(timer)
  }, [ask, isAwaitingPayment])

  return useMutation({ mutationFn: ask })
}
