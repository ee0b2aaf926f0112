// An owner's guards in a real browser: limits and the sessions that may loosen them, and a stop
// that is announced by e-mail and lifted by one click. Every page is checked on a desktop and on a
// phone, light and dark.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { credits } from '../../src/units/credits.ts'
import { PASSWORD } from '../stages/accounts.ts'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { words } from './support/cabinet-steps.ts'
import { createGuardsStage, type GuardsStage } from './support/guards-stage.ts'

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
const { home, limits, topUp } = words.ru

async function saveLimits(page: Page, { day, speed }: { day?: string; speed?: string }) {
  if (day !== undefined) await page.getByLabel(limits.day).fill(day)
  if (speed !== undefined) await page.getByLabel(limits.speed).fill(speed)
  await button(page, limits.save).first().click()
}

test('limits are set with any session and loosened after "confirm it is you"', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('limits')
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/limits')
    await stage.ageSessions(owner)
    await saveLimits(page, { day: '5 000 000', speed: '1000000' })
    await page.getByText(limits.saved).first().waitFor()
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
    await stage.newestEmail(owner.email, 'limits-loosened')
    await saveLimits(page, { day: 'много' })
    await page.getByText(limits.amountWrong).waitFor()
  })
})

test('a stop is e-mailed within seconds; its link does nothing until a click', async (t) => {
  const { stage, browser } = at
  const owner = await stage.owner('stop')
  await stage.buyAndPay(owner.book)
  await stage.ledger.setLimits(stage.db, owner.book, {
    dayLimit: null,
    velocityLimit: credits(1_000),
    velocitySeconds: 600,
  })
  const startedMs = performance.now()
  await stage.spend(owner.book, 1_001)
  const sent = await stage.newestEmail(owner.email, 'velocity-stopped')
  const tookMs = Math.round(performance.now() - startedMs)
  t.diagnostic(`the e-mail arrived after ${tookMs} ms`)
  assert.ok(tookMs < 15_000, `the e-mail took ${tookMs} ms`)
  const link = sent.links.find((one) => one.endsWith('/limits'))
  await browser.within('phone', async (page) => {
    await stage.signIn(page, owner, new URL(link ?? '').pathname)
    await button(page, limits.pause.resume).waitFor()
    await assert.rejects(stage.spend(owner.book, 1), { code: 'velocity_stopped' })
    await button(page, limits.pause.resume).tap()
    await button(page, limits.pause.suspend).waitFor()
    await stage.spend(owner.book, 1)
    await button(page, limits.pause.suspend).tap()
    await button(page, limits.pause.resume).waitFor()
    await assert.rejects(stage.spend(owner.book, 1), { code: 'owner_suspended' })
    // The overview shows the stop too, and one click lifts it.
    await page.goto(`${stage.url}/`)
    await page.getByText(home.notice.ownerSuspended).waitFor()
    await button(page, home.notice.resume).tap()
    await page.getByText(home.notice.ownerSuspended).waitFor({ state: 'hidden' })
    await stage.spend(owner.book, 1)
  })
})

test('a request beyond the daily limit shows both figures until the limit is raised', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('beyond')
  await stage.buyAndPay(owner.book)
  const limit = (dayLimit: number) =>
    stage.ledger.setLimits(stage.db, owner.book, {
      dayLimit: credits(dayLimit),
      velocityLimit: null,
      velocitySeconds: 600,
    })
  await limit(868)
  await assert.rejects(stage.spend(owner.book, 1_292), { code: 'day_limit_reached' })
  await browser.within('phone', async (page) => {
    await stage.signIn(page, owner, '/')
    await page.getByText(home.notice.dayLimit).waitFor()
    await page
      .getByText(/мог стоить 1\s292\sкредита .*, а от дневного лимита осталось 868\sкредитов/)
      .waitFor()
    await assertFitsAndAccessible(page, 'beyond the daily limit')
    await limit(1_292)
    await page.reload()
    await page.getByRole('heading', { name: home.title }).waitFor()
    await page.getByText(home.notice.dayLimit).waitFor({ state: 'hidden' })
  })
})

test('a stop shows on an open page without a reload', async () => {
  const { stage, browser } = at
  const owner = await stage.owner('live')
  await stage.buyAndPay(owner.book)
  await stage.ledger.setLimits(stage.db, owner.book, {
    dayLimit: null,
    velocityLimit: credits(1_000),
    velocitySeconds: 600,
  })
  await browser.within('desktop', async (page) => {
    await stage.signIn(page, owner, '/')
    await page.getByRole('heading', { name: home.title }).waitFor()
    await stage.spend(owner.book, 1_001)
    await page.getByText(home.notice.velocityStopped).waitFor()
    await button(page, home.notice.resume).focus()
    await page.keyboard.press('Enter')
    await page.getByText(home.notice.velocityStopped).waitFor({ state: 'hidden' })
  })
})

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: every page fits, is accessible, and has its screenshot`, async () => {
    const { stage, browser } = at
    const owner = await stage.owner(`look-${name}-${theme}`)
    const show = async (page: Page, what: string) => {
      await assertFitsAndAccessible(page, `${what} on a ${name}, ${theme}`)
      await saveScreenshot(page, 'guards', `${what}-${name}-${theme}`)
    }
    const look = async (page: Page) => {
      await stage.signIn(page, owner, '/limits')
      await page.getByRole('link', { name: topUp.open }).waitFor()
      await show(page, 'empty')
      await stage.buyAndPay(owner.book)
      await stage.ledger.setLimits(stage.db, owner.book, {
        dayLimit: credits(5_000_000),
        velocityLimit: credits(1_000_000),
        velocitySeconds: 600,
      })
      await page.goto(`${stage.url}/packs?method=card&save=true`)
      await page.getByLabel(topUp.keep).waitFor()
      await show(page, 'packs')
      await page.goto(`${stage.url}/limits`)
      await saveLimits(page, { day: 'много' })
      await page.getByText(limits.amountWrong).waitFor()
      await show(page, 'wrong')
      await stage.spend(owner.book, 1_234_567)
      await page.reload()
      await button(page, limits.pause.resume).waitFor()
      await show(page, 'stopped')
      await page.goto(`${stage.url}/`)
      await button(page, home.notice.resume).waitFor()
      await show(page, 'home')
    }
    await browser.within(name, look, theme)
  })
}
