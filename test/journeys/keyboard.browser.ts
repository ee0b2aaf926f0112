// Everything by keyboard alone: registering, buying, the key, the second factor, menus and dialogs.
// The focus is always visible, stays inside a dialog, and returns to its place when that closes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { paths } from '../../web/paths.ts'
import { nextCode, PASSWORD, totpCode } from '../stages/accounts.ts'
import { createKeyboard, type Keyboard } from './screen/keyboard.ts'
import { words } from './screen/screen.ts'
import { createScreensStage, type ScreensStage } from './screen/stage.ts'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import { cards } from './support/purchase-stage.ts'

const at = {
  stage: undefined as unknown as ScreensStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createScreensStage()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const said = words.ru
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

/** A page of a signed-in owner. */
async function within(
  name: string,
  path: string,
  work: (page: Page, keys: Keyboard) => Promise<void>,
): Promise<void> {
  const own = await at.stage.person(name)
  await at.stage.buyAndPay(own)
  await at.browser.within('desktop', async (page) => {
    await page.context().addCookies((await own.http.storageState()).cookies)
    await page.goto(`${at.stage.url}${path}`)
    await page.locator('h1').waitFor()
    await work(page, createKeyboard(page))
  })
}

test('a keyboard is enough to register, buy, create a key and replace it', async () => {
  const email = 'keyboard@example.org'
  await at.browser.within('desktop', async (page) => {
    const keys = createKeyboard(page)
    await page.goto(`${at.stage.url}${paths.register}`)
    await keys.type(page.getByLabel(said.signIn.email), email)
    await keys.type(page.getByLabel(said.signIn.password, { exact: true }), PASSWORD)
    for (const box of await page.getByRole('checkbox').all()) await keys.use(box, 'Space')
    await keys.use(button(page, said.register.submit))
    await heading(page, said.mail.title).waitFor()

    const code = await at.stage.codeFor(email, 'confirm-email')
    await page.goto(`${at.stage.url}${paths.confirm}#code=${code}`)
    await keys.use(link(page, said.home.steps.buyAction))

    await buy(page, keys)
    await keys.use(link(page, said.order.toKey))
    await page.getByText(said.key.created, { exact: true }).waitFor()
    await keys.use(button(page, said.key.show))
    await button(page, said.key.hide).waitFor()
    await keys.to(page.getByRole('tab', { name: said.start.tabs.curl }))
    await keys.press('ArrowRight')
    await keys.assertFocused(page.getByRole('tab').nth(1), 'an arrow leads to the next example')

    await replace(page, keys)
  })
})

/** Chooses another pack by arrow keys, pays by card on the bank's page, and returns. */
async function buy(page: Page, keys: Keyboard): Promise<void> {
  await heading(page, said.packs.title).waitFor()
  await keys.to(page.getByRole('radio').first())
  await keys.press('ArrowDown')
  assert.ok(await page.getByRole('radio').nth(1).isChecked(), 'an arrow chooses the next pack')
  await keys.to(page.getByRole('radio', { name: new RegExp(said.method.sbp) }))
  await keys.press('ArrowDown')
  await keys.use(page.getByRole('button', { name: /^Оплатить/ }))
  await keys.type(page.getByLabel('Номер карты'), cards.good)
  await keys.type(page.getByLabel('Срок действия'), '12/48')
  await keys.type(page.getByLabel('CVC'), '123')
  await keys.press('Enter')
  await page.waitForURL(`${at.stage.url}/orders/**`)
  await heading(page, said.order.state.credited).waitFor()
}

async function replace(page: Page, keys: Keyboard): Promise<void> {
  const reissue = button(page, said.key.reissue)
  const dialog = page.getByRole('dialog')
  await keys.use(reissue)
  await dialog.waitFor()
  await keys.assertFocusTrapped(dialog)
  await keys.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await keys.assertFocused(reissue, 'the dialog was closed')
  await keys.press('Enter')
  await keys.use(dialog.getByRole('button', { name: said.key.reissueConfirm }), 'Space')
  await page.getByText(said.key.reissued, { exact: true }).waitFor()
  await dialog.waitFor({ state: 'detached' })
  await keys.assertFocused(reissue, 'the key was replaced')
}

test('the second factor is switched on, used and switched off by keyboard', async () => {
  await within('second', paths.security, async (page, keys) => {
    const dialog = page.getByRole('dialog')
    await keys.use(button(page, said.factor.enable))
    await keys.type(dialog.getByLabel(said.signIn.password, { exact: true }), PASSWORD)
    await keys.press('Enter')
    const secret = await dialog.locator('code').textContent()
    const uri = `otpauth://totp/x?secret=${(secret ?? '').replaceAll(' ', '')}`
    await keys.type(dialog.getByLabel(said.second.app), totpCode(uri))
    await keys.press('Enter')
    await dialog.getByText(said.factor.codesKept).waitFor()
    await keys.press('Escape')
    assert.ok(await dialog.isVisible(), 'codes that are shown once do not go by accident')
    await keys.use(dialog.getByRole('checkbox'), 'Space')
    await keys.use(dialog.getByRole('button', { name: said.action.done }))
    await dialog.waitFor({ state: 'detached' })
    await page.getByText(said.factor.on, { exact: true }).waitFor()
    await keys.assertFocused(
      button(page, said.factor.newCodes),
      'the button that was pressed is gone',
    )

    await keys.to(button(page, said.menu.account), 'Shift+Tab')
    await keys.press('Enter')
    await page.getByRole('menuitem', { name: said.menu.signOut }).waitFor()
    await keys.press('End')
    await keys.assertFocused(
      page.getByRole('menuitem', { name: said.menu.signOut }),
      'the last line',
    )
    await keys.press('Enter')
    await heading(page, said.signIn.title).waitFor()
    await keys.type(page.getByLabel(said.signIn.email), 'second@example.org')
    await keys.type(page.getByLabel(said.signIn.password, { exact: true }), PASSWORD)
    await keys.press('Enter')
    await page.getByLabel(said.second.app).waitFor()
    await keys.assertFocused(page.getByLabel(said.second.app), 'the code is asked for')
    // The code of this half minute was used above and is not accepted twice.
    await page.keyboard.type(nextCode(uri))
    await keys.press('Enter')
    await page.waitForURL(`${at.stage.url}${paths.home}`)
  })
})

test('menus, skip links and dialogs return the focus to where it was', async () => {
  await within('menus', paths.payments, async (page, keys) => {
    await keys.press('Tab')
    await keys.assertFocused(link(page, said.nav.skip), 'the first stop')
    await keys.press('Enter')
    await keys.to(page.getByRole('button', { name: new RegExp(said.refund.action) }))
    await keys.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await keys.assertFocusTrapped(dialog)
    await keys.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await keys.assertFocused(
      page.getByRole('button', { name: new RegExp(said.refund.action) }),
      'the dialog of a row was closed',
    )

    const account = button(page, said.menu.account)
    await keys.to(account, 'Shift+Tab')
    await keys.press('Space')
    const menu = page.getByRole('menu')
    await menu.waitFor()
    await keys.press('ArrowDown')
    await keys.press('ArrowDown')
    await keys.press('Escape')
    await menu.waitFor({ state: 'detached' })
    await keys.assertFocused(account, 'the menu was closed')
  })
})
