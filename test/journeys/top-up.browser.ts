// Automatic top-up in a real browser: a card that is saved with consent and tops up by itself, an
// e-mail before a charge, the history, and the end of a mandate. The page is checked on a desktop
// and on a phone, light and dark.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { words } from './support/cabinet-steps.ts'
import { createGuardsStage, type GuardsStage, type Owner } from './support/guards-stage.ts'
import { cards, payByCard } from './support/purchase-stage.ts'

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

const { topUp } = words.ru
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const consent = (page: Page) => page.getByRole('checkbox', { name: /Разрешаю списывать/ })
const notice = (page: Page) => page.getByRole('checkbox', { name: /Присылать письмо/ })
const chargesOf = (page: Page) =>
  page.getByRole('table', { name: topUp.charges.table }).getByRole('link')

/** Saves a card on the bank's page while buying a pack. */
async function keepCard(page: Page): Promise<void> {
  await page.getByRole('link', { name: topUp.keepCard }).click()
  assert.ok(await page.getByLabel(topUp.keep).isChecked())
  await page.getByRole('button', { name: /^Оплатить/ }).click()
  await page.getByLabel('Номер карты').waitFor()
  await payByCard(page, cards.good)
  await page.waitForURL(`${at.stage.url}/orders/**`)
}

/** The next page that opens shows the pack's price from before a change. */
async function showOldPrice(page: Page): Promise<void> {
  const alter = async (route: Route) => {
    const response = await route.fetch()
    const body = (await response.text()).replaceAll('"130000"', '"120000"')
    await route.fulfill({ response, body })
  }
  await page.route('**/api/packs', alter, { times: 1 })
}

test('a card is saved with consent, tops up by itself, and is off after a decline', async (t) => {
  const { stage, browser } = at
  const owner = await stage.owner('topup')
  const ofOwner = async () => {
    const { rows } = await stage.db.query(
      'select id, state, is_top_up as "isTopUp" from orders where book_id = $1 order by id',
      [owner.book],
    )
    return rows as { id: string; state: string; isTopUp: boolean }[]
  }
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/top-up')
    await keepCard(page)
    await stage.until('the card is saved', async () => {
      return (await stage.payments.topUps.read(owner.book)).method !== undefined
    })
    await showOldPrice(page)
    await page.goto(`${stage.url}/top-up`)
    const day = page.getByLabel(topUp.dayCeiling)
    assert.match(await day.inputValue(), /^1\s200$/)
    await page.getByLabel(topUp.pack).selectOption('pack-100m')
    assert.doesNotMatch(await day.inputValue(), /^1\s200$/, 'a dearer pack raises the ceiling')
    await page.getByLabel(topUp.pack).selectOption('pack-35m')
    await button(page, topUp.turnOn).click()
    await page.getByText(topUp.agreeFirst).waitFor()
    await page.getByText(/по 1\s200,00\s₽ за/).waitFor()
    await consent(page).check()
    await button(page, topUp.turnOn).click()
    await page.getByText(words.ru.errors.pack_changed).waitFor()
    await page.getByText(/по 1\s300,00\s₽ за/).waitFor()
    assert.equal(await consent(page).isChecked(), false, 'the consent is not preselected')
    await consent(page).check()
    await button(page, topUp.turnOn).click()
    await page.getByText(topUp.on, { exact: true }).waitFor()
    await stage.newestEmail(owner.email, 'top-up-on')

    const startedMs = performance.now()
    await stage.spend(owner.book, 34_000_000)
    await stage.until('the top-up is credited', async () => {
      return (await ofOwner()).some(({ isTopUp, state }) => isTopUp && state === 'credited')
    })
    t.diagnostic(`topped up after ${Math.round(performance.now() - startedMs)} ms`)
    await stage.newestEmail(owner.email, 'top-up-credited')
    await page.goto(`${stage.url}/payments`)
    await page.getByText(topUp.mark, { exact: true }).first().waitFor()

    const [first] = await ofOwner()
    await stage.sim('method', { orderId: first?.id, decline: 'insufficient_funds' })
    await stage.spend(owner.book, 34_000_000)
    await stage.newestEmail(owner.email, 'top-up-declined')
    await page.goto(`${stage.url}/top-up`)
    await page.getByText(topUp.stopped.declined).first().waitFor()
    await page.getByRole('heading', { name: topUp.past.title }).waitFor()
    await page.getByText('№ ').first().waitFor()
    assert.equal(await chargesOf(page).count(), 2, 'both charges are in the history')
    await button(page, topUp.forget).click()
    await page.getByRole('dialog').getByRole('button', { name: topUp.forget }).click()
    await page.getByRole('link', { name: topUp.keepCard }).waitFor()
  })
  assert.equal((await ofOwner()).filter(({ isTopUp }) => isTopUp).length, 2)
})

/** Gives a mandate on the page. */
async function turnOn(page: Page): Promise<void> {
  await consent(page).check()
  await button(page, topUp.turnOn).click()
  await page.getByText(topUp.on, { exact: true }).waitFor()
}

test('with the keyboard: an announced charge is shown and canceled with its mandate', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('announced')
  await stage.buyAndPay(owner.book, { savesMethod: true })
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/top-up')
    await consent(page).focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText(topUp.on, { exact: true }).waitFor()
    await notice(page).focus()
    await page.keyboard.press('Space')
    await page.getByText(topUp.notice.on).waitFor()
    await stage.spend(owner.book, 34_000_000)
    const { text } = await stage.newestEmail(owner.email, 'top-up-soon')
    assert.match(text, /мы спишем [\d\s,]+₽ с карты •••• 4444/)
    await page.reload()
    await page.getByText(topUp.charges.planned, { exact: true }).waitFor()
    await button(page, topUp.turnOff).focus()
    await page.keyboard.press('Enter')
    await page.getByText(topUp.past.reason.owner).waitFor()
    await page.getByText(words.ru.order.short.canceled, { exact: true }).waitFor()
  })
  assert.equal((await stage.payments.topUps.read(owner.book)).daySpent, 0n)
})

/** An ended mandate, a paid charge and a living mandate. */
async function fillHistory(page: Page, owner: Owner): Promise<void> {
  const { stage } = at
  await stage.spend(owner.book, 34_000_000)
  await stage.newestEmail(owner.email, 'top-up-credited')
  await button(page, topUp.change).click()
  await page.getByLabel(topUp.threshold).fill('2 000 000')
  await consent(page).check()
  await button(page, topUp.replace).click()
  await page.getByText(topUp.past.reason.replaced).waitFor()
  await page.reload()
  await chargesOf(page).first().waitFor()
}

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: the page fits, is accessible, and has its screenshot`, async () => {
    const { stage, browser } = at
    const owner = await stage.owner(`top-up-${name}-${theme}`)
    const show = async (page: Page, what: string) => {
      await assertFitsAndAccessible(page, `${what} on a ${name}, ${theme}`)
      await saveScreenshot(page, 'top-up', `${what}-${name}-${theme}`)
    }
    const look = async (page: Page) => {
      await stage.signIn(page, owner, '/top-up')
      await page.getByText(topUp.noCard).waitFor()
      await show(page, 'empty')
      await stage.buyAndPay(owner.book, { savesMethod: true })
      await page.reload()
      await page.getByLabel(topUp.dayCeiling).fill('1')
      await button(page, topUp.turnOn).click()
      await page.getByText(topUp.agreeFirst).waitFor()
      await page.getByText(topUp.tooLow).waitFor()
      await show(page, 'wrong')
      await page.reload()
      await turnOn(page)
      await page.goto(`${stage.url}/packs?method=card&save=true`)
      await page.getByText(/Заменит сохранённую карту •••• 4444/).waitFor()
      await page.goto(`${stage.url}/top-up`)
      await fillHistory(page, owner)
      await show(page, 'living')
    }
    await browser.within(name, look, theme)
  })
}
