// One purchase: makes the order, shows its page, and from there leaves for the provider's page. The
// order's page stays behind in the history, so that the way back leads to the order.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { Method, Order } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { call, isNo } from '../../runtime/api.ts'
import { ordersAsk } from '../../runtime/asks.ts'
import { useMe } from '../../runtime/session.ts'
import { attemptFor, attemptOver } from '../payments/attempt.ts'
import { leaveToPay } from '../payments/leaving.ts'

type Purchase = { readonly pack: string; readonly method: Method; readonly savesMethod: boolean }

export function useBuy() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { account } = useMe()
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const guard = useRef(false)

  async function run(purchase: Purchase): Promise<void> {
    const order = await make(account, purchase)
    void client.invalidateQueries({ queryKey: ordersAsk.queryKey })
    await navigate({ to: paths.order, params: { id: order.id } })
    leaveToPay(order)
  }

  async function buy(purchase: Purchase): Promise<void> {
    // State comes a moment late for a double click; a reference does not.
    if (guard.current) return
    guard.current = true
    setPending(true)
    setError(undefined)
    try {
      await run(purchase)
    } catch (caught) {
      setError(caught)
    } finally {
      guard.current = false
      setPending(false)
    }
  }

  return { buy, isPending, error }
}

async function make(account: string, purchase: Purchase): Promise<Order> {
  const { pack, method, savesMethod } = purchase
  const subject = `buy:${account}:${pack}:${method}${savesMethod ? ':keep' : ''}`
  const post = () =>
    call('POST /api/orders', { body: { ...purchase, attempt: attemptFor(subject) } })
  try {
    const order = await post()
    attemptOver(subject)
    return order
  } catch (error) {
    if (!isNo(error, 'order_attempt_reused')) throw error
    // The pack was given another price under this number: then it is another purchase.
    attemptOver(subject)
    const order = await post()
    attemptOver(subject)
    return order
  }
}
