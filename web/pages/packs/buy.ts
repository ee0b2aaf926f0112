// One purchase: creates the order, opens its page, and from there the provider's page. The order's
// page stays in the history, so that "back" leads to the order.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { Method, Order } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { ordersQuery } from '../../runtime/queries.ts'
import { useMe } from '../../runtime/session.ts'
import { attemptIdFor, endAttempt } from '../payments/attempt.ts'
import { openPaymentPage } from '../payments/payment-page.ts'

type Purchase = { readonly pack: string; readonly method: Method; readonly savesMethod: boolean }

export function useBuy() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { account } = useMe()
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>()
  const isBuying = useRef(false)

  async function createAndPay(purchase: Purchase): Promise<void> {
    const order = await createOrder(account, purchase)
    void client.invalidateQueries({ queryKey: ordersQuery.queryKey })
    await navigate({ to: paths.order, params: { id: order.id } })
    openPaymentPage(order)
  }

  async function buy(purchase: Purchase): Promise<void> {
    // A ref, because React state would change too late to stop the second of a double click.
    if (isBuying.current) return
    isBuying.current = true
    setPending(true)
    setError(undefined)
    try {
      await createAndPay(purchase)
    } catch (caught) {
      setError(caught)
    } finally {
      isBuying.current = false
      setPending(false)
    }
  }

  return { buy, isPending, error }
}

async function createOrder(account: string, purchase: Purchase): Promise<Order> {
  const { pack, method, savesMethod } = purchase
  const subject = `buy:${account}:${pack}:${method}${savesMethod ? ':keep' : ''}`
  const post = () =>
    call('POST /api/orders', { body: { ...purchase, attempt: attemptIdFor(subject) } })
  try {
    const order = await post()
    endAttempt(subject)
    return order
  } catch (error) {
    if (!isApiRefusal(error, 'order_attempt_reused')) throw error
    // The pack's price has changed since the attempt began: the purchase needs a new attempt id.
    endAttempt(subject)
    const order = await post()
    endAttempt(subject)
    return order
  }
}
