// Every page that a payer can see, on a desktop and on a phone, light and dark: each fits its
// window, passes axe-core, and is saved as a screenshot in .screens/purchase for people to look at.
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
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

type Show = (name: string, page: Page) => Promise<void>

async function cardPages(page: Page, show: Show): Promise<void> {
  const { payUrl } = await at.stage.order()
  await page.goto(payUrl)
  await show('card', page)
  await page.getByText('Тестовые карты').click()
  await show('card-numbers', page)
  await page.getByLabel('Номер карты').fill('4111')
  await page.getByRole('button', { name: /^Оплатить/ }).click()
  await page.getByText('Введите CVC').waitFor()
  await show('card-wrong', page)
  await payByCard(page, cards.poor)
  await page.getByRole('heading', { name: 'Платёж отклонён' }).waitFor()
  await show('declined', page)
  await page.getByRole('link', { name: 'Попробовать ещё раз' }).click()
  await payByCard(page, cards.secure)
  await page.getByLabel('Код из сообщения').waitFor()
  await show('secure', page)
  await page.getByLabel('Код из сообщения').fill('0000')
  await page.getByRole('button', { name: 'Подтвердить' }).click()
  await page.waitForURL(`${at.stage.shopUrl}/**`)
  await page.goto(payUrl)
  await show('paid', page)
}

async function sbpPages(page: Page, show: Show): Promise<void> {
  const { payUrl, id } = await at.stage.order({ method: 'sbp' })
  await page.goto(payUrl)
  await show('sbp', page)
  const app = await page.context().newPage()
  await app.goto(payUrl.replace('/pay/', '/sbp/'))
  await show('app', app)
  await app.getByRole('button', { name: 'Отказаться' }).click()
  await show('app-refused', app)
  await page.getByRole('heading', { name: 'Перевод не подтверждён' }).waitFor()
  await show('sbp-refused', page)
  await app.getByRole('link', { name: 'Вернуться к переводу' }).click()
  await app.getByRole('button', { name: 'Подтвердить перевод' }).click()
  await app.getByRole('heading', { name: 'Перевод выполнен' }).waitFor()
  await show('app-done', app)
  await at.stage.untilState(id, 'credited')
}

async function otherPages(page: Page, show: Show): Promise<void> {
  const { stage } = at
  const canceled = await stage.order()
  await stage.sim('decline', { orderId: canceled.id, reason: 'fraud_suspected' })
  await page.goto(canceled.payUrl)
  await show('canceled', page)
  const expired = await stage.order()
  await stage.sim('expire', { orderId: expired.id })
  await page.goto(expired.payUrl)
  await show('expired', page)
  await page.goto(canceled.payUrl.replace(/[^/]+$/, 'nobody'))
  await show('not-found', page)
  const english = await stage.order({ locale: 'en' })
  await page.goto(english.payUrl)
  await show('card-english', page)
}

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: every page fits, is accessible, and has its screenshot`, async () => {
    const show: Show = async (what, page) => {
      await assertFitsAndAccessible(page, `${what} on a ${name}, ${theme}`)
      await saveScreenshot(page, 'purchase', `${what}-${name}-${theme}`)
    }
    for (const pages of [cardPages, sbpPages, otherPages]) {
      await at.browser.within(name, (page) => pages(page, show), theme)
    }
  })
}
