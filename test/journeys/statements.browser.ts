// Statements on the pages that were false, one test each: the page says what is true now. The
// browser is in Moscow, where a day of UTC begins at 03:00. The sentences are written out here, as
// a customer reads them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { OrderId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { kopecks } from '../../src/units/kopecks.ts'
import { pack } from '../stages/payments.ts'
import { assertFitsAndAccessible, openBrowser, type TestBrowser } from './support/browser.ts'
import { createGuardsStage, type GuardsStage, type Owner } from './support/guards-stage.ts'

const at = {
  stage: undefined as unknown as GuardsStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createGuardsStage()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

/** The text of the page's content, with ordinary spaces. */
async function contentOf(page: Page): Promise<string> {
  return (await page.locator('main').innerText()).replace(/[\u00a0\u202f]/g, ' ')
}

async function waitForText(page: Page, text: RegExp): Promise<void> {
  await at.stage.until(`the page says ${text}`, async () => text.test(await contentOf(page)))
}

async function ownerWithPack(name: string): Promise<Owner & { readonly order: OrderId }> {
  const owner = await at.stage.owner(name)
  return { ...owner, order: await at.stage.buyAndPay(owner.book) }
}

test('the notice and the forecast of the overview give the same number of days', async () => {
  const { stage, browser } = at
  const owner = await ownerWithPack('days')
  // The guard has watched for five days; the requests came today.
  await stage.db.query(
    `update guards set low_days = 21, pace_at = pace_at - interval '5 days',
       mark_at = mark_at - interval '2 days' where book_id = $1`,
    [owner.book],
  )
  await stage.spend(owner.book, 7_000_000)
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/')
    await waitForText(page, /хватит меньше чем на 21 день/)
    await waitForText(page, /Примерно на 20 дней/)
    await waitForText(page, /1,39 млн кредитов \(около 52,\d\d ₽\) в день/)
  })
})

test('a daily limit says when it resets in the time of its owner', async () => {
  const { stage, browser } = at
  const owner = await ownerWithPack('resets')
  const limits = { dayLimit: credits(868), velocityLimit: null, velocitySeconds: 600 }
  await stage.ledger.setLimits(stage.db, owner.book, limits)
  await assert.rejects(stage.spend(owner.book, 1_292), { code: 'day_limit_reached' })
  await browser.within('phone', async (page) => {
    await stage.signIn(page, owner, '/')
    await waitForText(page, /868 кредитов \(около 0,04 ₽\), он обновится в 03:00 по вашему времени/)
    await page.goto(`${stage.url}/limits`)
    await waitForText(page, /Потрачено с 03:00: 0 кредитов/)
    await waitForText(page, /Лимит обновится в 03:00 по вашему времени, в полночь по UTC/)
    await page.getByLabel('Дневной лимит, кредитов').fill('5 000 000')
    await waitForText(page, /5 000 000 кредитов: около 185,72 ₽, по цене последней покупки/)
    await assertFitsAndAccessible(page, 'the limits in roubles')
  })
})

test('an order that was refunded offers no refund and does not claim it was spent', async () => {
  const { stage, browser } = at
  const owner = await ownerWithPack('refunded')
  const { order } = owner
  await stage.spend(owner.book, 14_000_000)
  await stage.payments.requestRefund({
    ...{ order, book: owner.book, attempt: 'all' },
    ...{ by: 'a test', reason: 'the owner asked' },
  })
  await stage.untilState(order, 'partially_refunded')
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, `/orders/${order}`)
    await waitForText(page, /Возвращено 780,00 ₽\. Остальные кредиты этого заказа потрачены\./)
    assert.equal(await button(page, 'Вернуть деньги').count(), 0)
    await page.goto(`${stage.url}/payments`)
    await waitForText(page, /Возвращено частично/)
    assert.equal(await button(page, /Вернуть деньги/).count(), 0)
  })
})

test('an order whose credits are spent does not say that they are on the balance', async () => {
  const { stage, browser } = at
  const owner = await ownerWithPack('spent')
  await stage.spend(owner.book, 35_000_000)
  await browser.within('phone', async (page) => {
    await stage.signIn(page, owner, `/orders/${owner.order}`)
    await waitForText(page, /Оплачено, все кредиты потрачены/)
    assert.equal(await button(page, 'Вернуть деньги').count(), 0)
    await page.goto(`${stage.url}/payments`)
    await waitForText(page, /Потрачено/)
    assert.doesNotMatch(await contentOf(page), /Зачислено/)
    await assertFitsAndAccessible(page, 'the payments with a spent pack')
  })
})

test('a new key says that the last request was made with a former key', async () => {
  const { stage, browser } = at
  const owner = await ownerWithPack('former')
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/key')
    await button(page, 'Создать ключ').click()
    await page.getByText('Ключ создан', { exact: true }).waitFor()
    await stage.spend(owner.book, 1_000)
    await waitForText(page, /1 000 кредитов/)
    await button(page, 'Перевыпустить').first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Перевыпустить' }).click()
    await page.getByText('Новый ключ действует', { exact: true }).waitFor()
    await page.reload()
    await waitForText(page, /С этим ключом ещё не было/)
    await waitForText(page, /Последний запрос .*, ещё с прежним ключом: .*1 000 кредитов/)
  })
})

test('the navigation marks the section of the limits page', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('marked')
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/limits')
    const current = page.locator('header [aria-current=page]:visible')
    assert.deepEqual(await current.allInnerTexts(), ['Настройки'])
  })
  await browser.within('phone', async (page) => {
    await stage.signIn(page, owner, '/limits')
    // A phone has the settings in the account menu.
    await button(page, 'Меню аккаунта').waitFor()
    const current = page.locator('header [aria-current]:visible')
    assert.deepEqual(
      await current.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label'))),
      ['Меню аккаунта'],
    )
    await button(page, 'Меню аккаунта').tap()
    const item = page.getByRole('menuitem', { name: 'Настройки' })
    assert.equal(await item.getAttribute('aria-current'), 'page')
  })
})

test('a page opened without a connection keeps the application, and opens later', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('offline')
  const opened = await browser.open('desktop', {
    allowedErrors: /ERR_INTERNET_DISCONNECTED|dynamically imported module|ApiRefusal: offline/,
  })
  const { page, context } = opened
  try {
    await stage.signIn(page, owner, '/')
    await page.getByRole('link', { name: 'Платежи' }).first().waitFor()
    await context.setOffline(true)
    await page.getByRole('link', { name: 'Ключ', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Нет соединения' }).waitFor()
    // The frame is the account's own, once: no second header, no guest's frame.
    assert.equal(await button(page, 'Меню аккаунта').count(), 1)
    assert.equal(await page.locator('main').count(), 1)
    await assertFitsAndAccessible(page, 'a page without a connection')
    await context.setOffline(false)
    await button(page, 'Повторить').click()
    await page.getByRole('heading', { name: 'API-ключ', level: 1 }).waitFor()
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
})

test('the file with the key is saved under the name that its button gives', async () => {
  const { stage, browser } = at
  const owner = await ownerWithPack('file')
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/key')
    await button(page, 'Создать ключ').click()
    const save = button(page, /^Скачать /)
    await save.waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), save.click()])
    assert.equal(`Скачать ${download.suggestedFilename()}`, (await save.innerText()).trim())
  })
})

test('the calculator shows no sum while a field is invalid', async () => {
  const { stage, browser } = at
  await browser.within('phone', async (page) => {
    await page.goto(`${stage.url}/prices`)
    await waitForText(page, /Один запрос/)
    await page.getByLabel('Входные токены').fill('много')
    await waitForText(page, /Введите целое число до 999 999 999/)
    await waitForText(page, /Исправьте отмеченные поля/)
    assert.doesNotMatch(await contentOf(page), /Один запрос/)
    await assertFitsAndAccessible(page, 'a calculator with an invalid field')
    await page.getByLabel('Входные токены').fill('2000')
    await waitForText(page, /Один запрос/)
  })
})

test('a Russian page has the Russian names of models and packs', async () => {
  const { stage, browser } = at
  await browser.within('desktop', async (page) => {
    await page.goto(`${stage.url}/prices`)
    await waitForText(page, /Большая от 15 января 2026/)
    assert.doesNotMatch(await contentOf(page), /Large|Medium|Small|million|January/)
  })
})

test('prices have roubles at a price that the page names', async () => {
  const { stage, browser } = at
  await browser.within('desktop', async (page) => {
    await page.goto(`${stage.url}/prices`)
    await waitForText(page, /по цене пакета «35 млн кредитов», 37,15 ₽ за миллион кредитов/)
    await waitForText(page, /185,72 ₽ за млн токенов/)
    const owner = await stage.owner('rate')
    const larger = { credits: credits(100_000_000), priceKopecks: kopecks(350_000) }
    await stage.buyAndPay(owner.book, { pack: { ...pack, ...larger } })
    await stage.signIn(page, owner, '/')
    await page.goto(`${stage.url}/prices`)
    await waitForText(page, /по цене последней покупки, 35,00 ₽ за миллион кредитов/)
    await waitForText(page, /175,00 ₽ за млн токенов/)
    await waitForText(page, /4 500 кредитов\s+около 0,16 ₽/)
  })
})
