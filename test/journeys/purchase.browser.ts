// Buying in a real browser, on a desktop and on a phone: by card with and without 3-D Secure,
// through every decline, by SBP from a QR code and from a phone's button, and abandoned. The payer
// returns to the shop, and the credit follows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { testCards } from '../../stand-ins/bank/pages-cards.ts'
import { reasonsRu } from '../../stand-ins/bank/pages-reasons.ts'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import {
  cards,
  createPurchaseStage,
  type PurchaseStage,
  payByCard,
} from './support/purchase-stage.ts'

const at = {
  stage: undefined as unknown as PurchaseStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createPurchaseStage()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name })

for (const name of ['desktop', 'phone'] as const) {
  test(`${name}: a card pays, and the credit is there when the payer returns`, async () => {
    const { id, payUrl } = await at.stage.order()
    await at.browser.within(name, async (page) => {
      await page.goto(payUrl)
      await payByCard(page, name === 'phone' ? cards.mir : cards.good)
      await at.stage.assertPaid(page, id)
      assert.match(await page.textContent('h1').then(String), /Order (?:credited|pending)/)
    })
  })

  test(`${name}: a card with 3-D Secure pays after its code; a refused code does not`, async () => {
    const { id, payUrl } = await at.stage.order()
    await at.browser.within(name, async (page) => {
      await page.goto(payUrl)
      await payByCard(page, cards.secure)
      await page.getByRole('button', { name: 'Отказаться' }).click()
      await heading(page, 'Платёж отклонён').waitFor()
      await page.getByText(reasonsRu['3d_secure_failed'].title).waitFor()
      await page.getByRole('link', { name: 'Попробовать ещё раз' }).click()
      await payByCard(page, cards.secure)
      await page.getByLabel('Код из сообщения').fill('0000')
      await page.getByRole('button', { name: 'Подтвердить' }).click()
      await at.stage.assertPaid(page, id)
    })
  })
}

test('every decline says why and what to do; the same payment can still be paid', async () => {
  const declines = [...testCards].flatMap(([number, outcome]) =>
    outcome.kind === 'declined' ? [{ number, reason: outcome.reason }] : [],
  )
  assert.equal(new Set(declines.map(({ reason }) => reason)).size, 12)
  const { id, payUrl } = await at.stage.order()
  await at.browser.within('desktop', async (page) => {
    await page.goto(payUrl)
    for (const { number, reason } of declines) {
      await payByCard(page, number)
      await heading(page, 'Платёж отклонён').waitFor()
      const { title, advice } = reasonsRu[reason as keyof typeof reasonsRu]
      await page.getByText(title, { exact: true }).waitFor()
      await page.getByText(advice, { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Попробовать ещё раз' }).click()
    }
    assert.equal(await at.stage.stateOf(id), 'pending', 'a failed try is not the end')
    await payByCard(page, cards.good)
    await at.stage.assertPaid(page, id)
  })
})

test('a wrong field says what is wrong, keeps the right ones, and can be corrected', async () => {
  const { id, payUrl } = await at.stage.order()
  await at.browser.within('desktop', async (page) => {
    await page.goto(payUrl)
    await page.getByLabel('Номер карты').fill(cards.good)
    await page.getByLabel('Срок действия').fill('13/30')
    await page.getByRole('button', { name: /^Оплатить/ }).click()
    await page.getByText('Введите месяц и год в виде ММ/ГГ').waitFor()
    await page.getByText('Введите CVC').waitFor()
    assert.equal(await page.getByLabel('Номер карты').inputValue(), cards.good)
    await payByCard(page, cards.good)
    await at.stage.assertPaid(page, id)
  })
})

test('giving up after a decline returns to the shop, and the order says why', async () => {
  const { id, book, payUrl } = await at.stage.order()
  await at.browser.within('desktop', async (page) => {
    await page.goto(payUrl)
    await payByCard(page, cards.poor)
    await page.getByRole('button', { name: 'Вернуться в магазин' }).click()
    await at.stage.assertUnpaid(page, id, 'canceled')
  })
  const order = await at.stage.payments.order(id, book)
  assert.equal(order.cancelReason, 'insufficient_funds')
})

test('desktop: SBP by the link of the QR code; the waiting page goes on by itself', async () => {
  const { id, payUrl } = await at.stage.order({ method: 'sbp' })
  await at.browser.within('desktop', async (page) => {
    await page.goto(payUrl)
    await page.getByRole('img', { name: 'QR-код для оплаты через СБП' }).waitFor()
    assert.equal(await page.getByRole('link', { name: /Открыть приложение/ }).isVisible(), false)
    const opening = page.context().waitForEvent('page')
    await page.getByRole('link', { name: /Открыть ссылку из кода/ }).click()
    const app = await opening
    await app.getByRole('button', { name: 'Подтвердить перевод' }).click()
    await heading(app, 'Перевод выполнен').waitFor()
    await at.stage.assertPaid(page, id)
  })
})

test('phone: SBP by its button; refused at first, then confirmed', async () => {
  const { id, payUrl } = await at.stage.order({ method: 'sbp' })
  await at.browser.within('phone', async (page) => {
    await page.goto(payUrl)
    assert.equal(await page.getByRole('img', { name: /QR/ }).isVisible(), false)
    const open = async () => {
      const opening = page.context().waitForEvent('page')
      await page.getByRole('link', { name: /Открыть приложение банка/ }).tap()
      return opening
    }
    const first = await open()
    await first.getByRole('button', { name: 'Отказаться' }).tap()
    await heading(first, 'Вы отказались от перевода').waitFor()
    await heading(page, 'Перевод не подтверждён').waitFor()
    await page.getByRole('link', { name: 'Попробовать ещё раз' }).tap()
    const second = await open()
    await second.getByRole('button', { name: 'Подтвердить перевод' }).tap()
    await at.stage.assertPaid(page, id)
  })
})

test('a payment closed without paying credits nothing and can be opened again', async () => {
  const { stage, browser } = at
  const { id, book, payUrl } = await stage.order()
  await browser.within('desktop', async (page) => {
    await page.goto(payUrl)
    await page.getByRole('link', { name: 'Закрыть без оплаты' }).click()
    await stage.assertUnpaid(page, id, 'pending')
    // Buying again from another tab opens the same payment, not a second one.
    const again = await stage.buy(book)
    assert.deepEqual([again.id, again.confirmation?.value], [id, payUrl])
    await page.goto(payUrl)
    await payByCard(page, cards.good)
    await stage.assertPaid(page, id)
    await page.goto(payUrl)
    await heading(page, 'Платёж прошёл').waitFor()
  })
})

test('when the hour ends on an open page, it says so, and the order is canceled', async () => {
  const { stage, browser } = at
  const { id, payUrl } = await stage.order()
  await browser.within('phone', async (page) => {
    await page.goto(payUrl)
    await stage.turn({ oursSeconds: 3_601, theirsSeconds: 3_601 })
    await payByCard(page, cards.good)
    await heading(page, 'Время на оплату истекло').waitFor()
    await page.getByRole('link', { name: 'Вернуться в магазин' }).click()
    await stage.assertUnpaid(page, id, 'canceled')
  })
})

test('the payment page works in English as in Russian', async () => {
  const { id, payUrl } = await at.stage.order({ locale: 'en' })
  await at.browser.within('phone', async (page) => {
    await page.goto(payUrl)
    await page.getByLabel('Card number').fill(cards.good)
    await page.getByLabel('Expiry date').fill('12/48')
    await page.getByLabel('CVC').fill('123')
    await page.getByRole('button', { name: /^Pay / }).click()
    await at.stage.assertPaid(page, id)
  })
})
