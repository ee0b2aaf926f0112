// The stage of purchases in a browser: an order made through the payments module, the bank's hosted
// page where it is paid, and the shop's page that the payer returns to, which polls the order as
// the account area does.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import type { OrderId } from '../../../src/platform/ids.ts'
import { pack } from '../../stages/payments.ts'
import { createPaymentStage } from '../../stages/served/payments.ts'

export const cards = {
  good: '4111 1111 1111 1111',
  mir: '2202 4743 0132 2987',
  secure: '5555 5555 5555 4477',
  poor: '5555 5555 5555 4600',
} as const

export type PurchaseStage = Awaited<ReturnType<typeof createPurchaseStage>>

export async function createPurchaseStage() {
  const stage = await createPaymentStage({ workers: 1 })
  const visits: string[] = []
  const shop = createServer(async (request, response) => {
    const id = (request.url ?? '').split('/').at(-1) ?? ''
    if (!id.startsWith('pay_')) return void response.writeHead(204).end()
    visits.push(id)
    const { state } = await stage.payments.check(id as OrderId)
    const page = `<!doctype html><html lang="en"><title>Order</title><h1>Order ${state}</h1>`
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  })
  shop.listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`

  return {
    ...stage,
    shopUrl,

    /** An order and the URL where it is paid. */
    async order(changes: Parameters<typeof stage.buy>[1] = {}) {
      const returnUrl = `${shopUrl}/orders/{order}`
      const { id, book, confirmation } = await stage.bought({ returnUrl, ...changes })
      assert.equal(confirmation?.kind, 'redirect')
      return { id, book, payUrl: confirmation?.value ?? '' }
    },

    /** Checks that the payer is back in the shop and has one entry, the pack's credit. */
    async assertPaid(page: Page, id: OrderId): Promise<void> {
      await page.waitForURL(`${shopUrl}/orders/${id}`)
      assert.ok(visits.includes(id), 'the return address was visited')
      await stage.untilState(id, 'credited')
      const { entries, amount } = await stage.credit(id)
      assert.deepEqual([entries, amount], [1, pack.credits])
    },

    /** Checks that the payer is back and nothing was credited. */
    async assertUnpaid(page: Page, id: OrderId, state: string): Promise<void> {
      await page.waitForURL(`${shopUrl}/orders/${id}`)
      await stage.untilState(id, state)
      assert.equal((await stage.credit(id)).entries, 0)
    },

    async end() {
      shop.closeAllConnections()
      shop.close()
      await stage.end()
    },
  }
}

/** Fills the card form and sends it. */
export async function payByCard(page: Page, number: string): Promise<void> {
  await page.getByLabel('Номер карты').fill(number)
  await page.getByLabel('Срок действия').fill('12/48')
  await page.getByLabel('CVC').fill('123')
  await page.getByRole('button', { name: /^Оплатить/ }).click()
}
