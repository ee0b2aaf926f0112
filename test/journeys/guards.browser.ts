// An owner's guards in a real browser: limits and who may loosen them, a stop that is told by
// letter and lifted by one click, a card that is left and buys by itself. Every page of it is
// looked at on a desktop and on a phone, light and dark.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { credits } from '../../src/units/credits.ts'
import { PASSWORD } from '../stages/accounts.ts'
import { assertSound, openBrowser, picture, type TestBrowser, windows } from './support/browser.ts'
import { createGuardsStage, type GuardsStage } from './support/guards-stage.ts'
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

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const DAY = 'Кредитов в день, не больше'
const SPEED = 'Остановить, если потрачено больше'

async function saveLimits(page: Page, limits: { day?: string; speed?: string }): Promise<void> {
  if (limits.day !== undefined) await page.getByLabel(DAY).fill(limits.day)
  if (limits.speed !== undefined) await page.getByLabel(SPEED).fill(limits.speed)
  await button(page, 'Сохранить').first().click()
}

test('limits are set with any session and loosened after "confirm it is you"', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('limits')
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/limits')
    await stage.grownOld(owner)
    await saveLimits(page, { day: '5 000 000', speed: '1000000' })
    await page.getByText('Сохранено.').first().waitFor()
    const set = await stage.ledger.balance(owner.book)
    assert.deepEqual(
      [set?.dayLimit, set?.velocityLimit, set?.velocitySeconds],
      [credits(5_000_000), credits(1_000_000), 600],
    )
    await saveLimits(page, { day: '' })
    await page.getByRole('dialog').getByLabel('Пароль', { exact: true }).fill(PASSWORD)
    await page.getByRole('dialog').getByRole('button', { name: 'Подтвердить' }).first().click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await stage.until('the limit is gone', async () => {
      return (await stage.ledger.balance(owner.book))?.dayLimit === null
    })
    await stage.letter(owner.email, 'limits-loosened')
    await saveLimits(page, { day: 'много' })
    await page.getByText('Введите целое число').waitFor()
  })
})

test('a stop is told within seconds; its link does nothing by itself, a click does', async (t) => {
  const { stage, browser } = at
  const owner = await stage.owner('stop')
  await stage.funded(owner.book)
  await stage.ledger.limit(stage.db, owner.book, {
    dayLimit: null,
    velocityLimit: credits(1_000),
    velocitySeconds: 600,
  })
  const startedMs = performance.now()
  await stage.spend(owner.book, 1_001)
  const letter = await stage.letter(owner.email, 'velocity-stopped')
  const tookMs = Math.round(performance.now() - startedMs)
  t.diagnostic(`the letter was there after ${tookMs} ms`)
  assert.ok(tookMs < 15_000, `the letter took ${tookMs} ms`)
  const link = letter.links.find((one) => one.endsWith('/limits'))
  await browser.within('phone', async (page) => {
    await stage.signIn(page, owner, new URL(link ?? '').pathname)
    await button(page, 'Возобновить запросы').waitFor()
    await assert.rejects(stage.spend(owner.book, 1), { code: 'velocity_stopped' })
    await button(page, 'Возобновить запросы').tap()
    await button(page, 'Поставить на паузу').waitFor()
    await stage.spend(owner.book, 1)
    await button(page, 'Поставить на паузу').tap()
    await button(page, 'Возобновить запросы').waitFor()
    await assert.rejects(stage.spend(owner.book, 1), { code: 'owner_suspended' })
    // The overview says so too, and lets go by one click.
    await page.goto(`${stage.url}/`)
    await page.getByText('Запросы приостановлены вами').waitFor()
    await button(page, 'Возобновить').tap()
    await page.getByText('Запросы приостановлены вами').waitFor({ state: 'hidden' })
    await stage.spend(owner.book, 1)
  })
})

test('a stop shows on an open page without a reload', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('live')
  await stage.funded(owner.book)
  await stage.ledger.limit(stage.db, owner.book, {
    dayLimit: null,
    velocityLimit: credits(1_000),
    velocitySeconds: 600,
  })
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/')
    await page.getByRole('heading', { name: 'Обзор' }).waitFor()
    await stage.spend(owner.book, 1_001)
    await page.getByText('Запросы остановлены: расход резко вырос').waitFor()
    await button(page, 'Возобновить').focus()
    await page.keyboard.press('Enter')
    await page.getByText('Запросы остановлены: расход резко вырос').waitFor({ state: 'hidden' })
  })
})

/** Leaves a card at the bank's page, buying a pack. */
async function keepCard(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Купить пакет и запомнить карту' }).click()
  assert.ok(await page.getByLabel('Запомнить карту для автопополнения').isChecked())
  await page.getByRole('button', { name: /^Оплатить/ }).click()
  await page.getByLabel('Номер карты').waitFor()
  await payByCard(page, cards.good)
  await page.waitForURL(`${at.stage.url}/orders/**`)
}

/** The next page that is opened shows the pack's price of before a change. */
async function showOldPrice(page: Page): Promise<void> {
  const alter = async (route: Route) => {
    const response = await route.fetch()
    const body = (await response.text()).replaceAll('"130000"', '"120000"')
    await route.fulfill({ response, body })
  }
  await page.route('**/api/packs', alter, { times: 1 })
}

test('a card is left once, agreed to, buys by itself, and is off after a decline', async (t) => {
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
    await stage.signIn(page, owner, '/limits')
    await keepCard(page)
    await stage.until('the card is kept', async () => {
      return (await stage.payments.topUps.read(owner.book)).method !== undefined
    })
    await showOldPrice(page)
    await page.goto(`${stage.url}/limits`)
    await button(page, 'Включить автопополнение').click()
    await page.getByText('Без разрешения включить автопополнение нельзя.').waitFor()
    await page.getByText(/по 1\s200,00\s₽ за/).waitFor()
    await page.getByRole('checkbox').check()
    await button(page, 'Включить автопополнение').click()
    await page.getByText('Цена или число кредитов пакета изменились').waitFor()
    await page.getByText(/по 1\s300,00\s₽ за/).waitFor()
    assert.equal(await page.getByRole('checkbox').isChecked(), false, 'agreed to anew')
    await page.getByRole('checkbox').check()
    await button(page, 'Включить автопополнение').click()
    await page.getByText('включено', { exact: true }).waitFor()
    await stage.letter(owner.email, 'top-up-on')

    const startedMs = performance.now()
    await stage.spend(owner.book, 34_000_000)
    await stage.until('the top-up is credited', async () => {
      return (await ofOwner()).some(({ isTopUp, state }) => isTopUp && state === 'credited')
    })
    t.diagnostic(`topped up after ${Math.round(performance.now() - startedMs)} ms`)
    await stage.letter(owner.email, 'top-up-credited')
    await page.goto(`${stage.url}/payments`)
    await page.getByText('автопополнение', { exact: true }).first().waitFor()

    const [first] = await ofOwner()
    await stage.sim('method', { orderId: first?.id, decline: 'insufficient_funds' })
    await stage.spend(owner.book, 34_000_000)
    await stage.letter(owner.email, 'top-up-declined')
    await page.goto(`${stage.url}/limits`)
    await page.getByText('Банк отклонил списание').waitFor()
    await button(page, 'Забыть карту').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Забыть карту' }).click()
    await page.getByRole('link', { name: 'Купить пакет и запомнить карту' }).waitFor()
  })
  assert.equal((await ofOwner()).filter(({ isTopUp }) => isTopUp).length, 2)
})

for (const name of Object.keys(windows) as (keyof typeof windows)[]) {
  for (const theme of ['light', 'dark'] as const) {
    test(`${name}, ${theme}: every page fits, is for everybody, and has its picture`, async () => {
      const { stage, browser } = at
      const owner = await stage.owner(`look-${name}-${theme}`)
      const show = async (page: Page, what: string) => {
        await assertSound(page, `${what} on a ${name}, ${theme}`)
        await picture(page, 'guards', `${what}-${name}-${theme}`)
      }
      const look = async (page: Page) => {
        await stage.signIn(page, owner, '/limits')
        await page.getByText('Сначала нужна карта').waitFor()
        await show(page, 'empty')
        const first = await stage.funded(owner.book, { savesMethod: true })
        await stage.ledger.limit(stage.db, owner.book, {
          dayLimit: credits(5_000_000),
          velocityLimit: credits(1_000_000),
          velocitySeconds: 600,
        })
        await page.goto(`${stage.url}/packs?method=card&save=true`)
        await page.getByLabel('Запомнить карту').waitFor()
        await show(page, 'packs')
        await page.goto(`${stage.url}/limits`)
        await button(page, 'Включить автопополнение').click()
        await page.getByText('Без разрешения').waitFor()
        await saveLimits(page, { day: 'много' })
        await page.getByText('Введите целое число').waitFor()
        await show(page, 'wrong')
        await page.reload()
        await page.getByRole('checkbox').check()
        await button(page, 'Включить автопополнение').click()
        await page.getByText('включено', { exact: true }).waitFor()
        await stage.spend(owner.book, 1_234_567)
        await page.reload()
        await button(page, 'Возобновить запросы').waitFor()
        await show(page, 'stopped')
        await page.goto(`${stage.url}/`)
        await button(page, 'Возобновить').waitFor()
        await show(page, 'home')
        await button(page, 'Возобновить').click()
        await stage.sim('method', { orderId: first, decline: 'card_expired' })
        await stage.ledger.limit(stage.db, owner.book, {
          ...{ dayLimit: null, velocityLimit: null, velocitySeconds: 600 },
        })
        await stage.until('requests are served', async () => {
          return (await stage.ledger.balance(owner.book))?.blockedReason === null
        })
        await stage.spend(owner.book, 33_000_000)
        await stage.letter(owner.email, 'top-up-declined')
        await page.goto(`${stage.url}/limits`)
        await page.getByText('Банк отклонил списание').waitFor()
        await show(page, 'declined')
      }
      await browser.within(name, look, theme)
    })
  }
}
