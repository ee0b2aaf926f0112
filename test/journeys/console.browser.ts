// The console in a real browser: an invitation, signing in, from a request's id to the arithmetic
// of its price in under five clicks, a refund with its plan, and a role that may not do it. Every
// page fits a phone and is accessible. Needs the built pages (npm run web:build); screenshots go to
// .screens/console.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, createConsoleStage } from '../stages/console.ts'
import { assertFitsAndAccessible, looks, openBrowser, type TestBrowser } from './support/browser.ts'
import { confirmPlan, finishDialog } from './support/console-dialog.ts'
import {
  arrangeCustomer,
  type Customer,
  signIn,
  typeSignIn,
  words,
} from './support/console-people.ts'
import { heading, withinWindow } from './support/console-steps.ts'

const { console: text, second, action } = words.en

const at = {
  stage: undefined as unknown as ConsoleStage,
  browser: undefined as unknown as TestBrowser,
  anna: undefined as unknown as Customer,
}

before(async () => {
  at.browser = await openBrowser()
  at.stage = await createConsoleStage({
    pagesDirectory: join(import.meta.dirname, '../../web/console/dist'),
    settings: { approveRefundsAbove: 100 },
  })
  at.anna = await arrangeCustomer(at.stage, 'anna.petrova')
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const within = (work: (page: Page) => Promise<void>) => withinWindow(at.browser, work)

test('an invited operator sets a password and an app by a one-time link', () =>
  within(async (page) => {
    const { code } = await at.stage.people.invite('invited', 'viewer')
    await page.goto(`${at.stage.consoleUrl}/invitation#${code}`)
    await page.getByLabel(text.enrol.password).fill('a long enough sentence')
    await page.getByRole('button', { name: action.continue }).click()
    await page.getByRole('button', { name: text.enrol.app }).click()
    const seed = await page.locator('code').innerText()
    await page.getByLabel(second.app).fill(at.stage.people.codeOf(seed))
    await page.getByRole('button', { name: second.submit }).click()
    await page.getByLabel(text.enrol.kept).check()
    await page.getByRole('button', { name: action.done }).click()
    await heading(page, text.today.title).waitFor()
    // A viewer sees figures, and neither customers nor acts.
    assert.equal(await page.getByRole('link', { name: text.nav.acts }).count(), 0)
    assert.equal(await page.getByRole('search').count(), 0)
  }))

test('the top bar does not break the name of the service, beside the longest words', async () => {
  const person = await at.stage.people.newcomer('reader', 'admin')
  const { page, close } = await at.browser.open('desktop', { language: 'ru' })
  await page.goto(at.stage.consoleUrl)
  await signIn(page, person, 'ru')
  const name = page.getByRole('banner').getByText('Gate', { exact: true })
  const { height = 0 } = (await name.boundingBox()) ?? {}
  assert.ok(height > 0 && height < 40, `it is ${height} px high`)
  await close()
})

test('a request’s id leads to the arithmetic of its price in under five clicks', () =>
  within(async (page) => {
    const person = await at.stage.people.newcomer('finder', 'support')
    await page.goto(at.stage.consoleUrl)
    await signIn(page, person, 'en')
    // One click or the key `/`, and Enter.
    await page.keyboard.press('/')
    await page.keyboard.type(at.anna.request)
    await page.keyboard.press('Enter')
    await heading(page, text.request.title).waitFor()
    await page.getByText(text.request.sum).waitFor()
    const facts = await page.getByRole('main').innerText()
    assert.match(facts, /Charged\n1,287/, 'what was charged')
    assert.match(facts, new RegExp(at.anna.email))
    await page.getByRole('link', { name: at.anna.email }).click()
    await heading(page, at.anna.email).waitFor()
    await page.getByRole('heading', { name: text.account.statement }).waitFor()
  }))

test('a refund shows its plan, is done once, and stands in the list of acts', () =>
  within(async (page) => {
    const person = await at.stage.people.newcomer('refunder', 'finance')
    await page.goto(`${at.stage.consoleUrl}/accounts/${at.anna.book}`)
    await typeSignIn(page, person, 'en')
    await heading(page, at.anna.email).waitFor()
    await page.getByRole('button', { name: text.command.refund.button }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(text.command.roubles).fill('10')
    await dialog.getByLabel(text.command.reason).fill('asked by e-mail')
    await dialog.getByRole('button', { name: text.command.plan }).click()
    await dialog.getByText(/10\.00 RUB goes back/).waitFor()
    assert.equal(await refunds(), 0, 'a plan does nothing')
    await dialog.getByRole('button', { name: text.command.refund.submit }).click()
    await finishDialog(page)
    assert.equal(await refunds(), 1)
    await page.getByText('asked by e-mail').first().waitFor()
    await page.getByRole('link', { name: text.nav.acts }).first().click()
    await heading(page, text.acts.title).waitFor()
    await page.getByText(`refund ${at.anna.order}`).first().waitFor()
  }))

test('above a limit a refund waits until another person approves its plan', () =>
  within(async (page) => {
    const boris = await arrangeCustomer(at.stage, 'boris')
    const asker = await at.stage.people.newcomer('asker', 'finance')
    await page.goto(`${at.stage.consoleUrl}/accounts/${boris.book}`)
    await typeSignIn(page, asker, 'en')
    const before = await refunds()
    await page.getByRole('button', { name: text.command.refund.button }).click()
    await confirmPlan(page, 'refund', { reason: 'asked by phone', amount: '500' })
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('status').getByText(text.command.state.asked).waitFor()
    assert.equal(await refunds(), before, 'one person is not enough')
    await dialog.getByRole('button', { name: action.done }).click()
    await page.goto(`${at.stage.consoleUrl}/queues`)
    await page.getByText(text.queues.own).waitFor()
    const own = await page.getByRole('button', { name: text.command.approve.button }).count()
    assert.equal(own, 0, 'the asker cannot approve')

    await within(async (other) => {
      await other.goto(`${at.stage.consoleUrl}/queues`)
      await typeSignIn(other, await at.stage.people.newcomer('approver', 'finance'), 'en')
      await other.getByRole('button', { name: text.command.approve.button }).click()
      await confirmPlan(other, 'approve')
      await finishDialog(other)
    })
    assert.equal(await refunds(), before + 1)
  }))

test('a payment that differs from its order is credited from the queue', () =>
  within(async (page) => {
    const book = await at.stage.newBook()
    const { id } = await at.stage.buy(book)
    await at.stage.sim('alter', { orderId: id, value: '1299.00' })
    await at.stage.sim('pay', { orderId: id })
    await at.stage.payments.check(id)
    await page.goto(`${at.stage.consoleUrl}/queues`)
    await typeSignIn(page, await at.stage.people.newcomer('reviewer', 'finance'), 'en')
    await page.getByRole('button', { name: text.command.reviewCredit.button }).click()
    await confirmPlan(page, 'reviewCredit', { reason: 'the bank rounds' })
    await finishDialog(page)
    assert.ok(((await at.stage.ledger.balance(book))?.available ?? 0n) > 0n, 'it is credited')
  }))

test('a dispute that the bank decided for us is recorded from the queue', () =>
  within(async (page) => {
    const { order } = await arrangeCustomer(at.stage, 'disputer')
    const admin = await at.stage.people.newcomer('opener', 'admin')
    const opened = await at.stage.opAs(admin.token, [
      ...['disputes', 'open', order, '--note', 'letter 17', '--yes'],
    ])
    assert.equal(opened.code, 0, opened.err)
    await page.goto(`${at.stage.consoleUrl}/queues`)
    await typeSignIn(page, await at.stage.people.newcomer('lawyer', 'finance'), 'en')
    await page.getByRole('button', { name: text.command.disputeWon.button }).click()
    await confirmPlan(page, 'disputeWon', { reason: 'letter 18' })
    await finishDialog(page)
    const { rows } = await at.stage.db.query('select state from disputes where order_id = $1', [
      order,
    ])
    assert.deepEqual(rows, [{ state: 'won' }])
  }))

test('the person on call drains a credential from a phone', async () => {
  const person = await at.stage.people.newcomer('on-call', 'support')
  const opened = await at.browser.open('phone', { language: 'en' })
  try {
    const { page } = opened
    await page.goto(at.stage.consoleUrl)
    await signIn(page, person, 'en')
    await page.getByRole('button', { name: text.command.drain.button, exact: true }).first().click()
    await confirmPlan(page, 'drain')
    await finishDialog(page)
    await page.getByText(text.today.upstream.drained).first().waitFor()
    const drained = (await at.stage.upstreams.overview()).filter(({ isDrained }) => isDrained)
    assert.equal(drained.length, 1)
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
})

test('a viewer who knows the address of an account sees nothing of it', () =>
  within(async (page) => {
    const person = await at.stage.people.newcomer('looker', 'viewer')
    await page.goto(`${at.stage.consoleUrl}/accounts/${at.anna.book}`)
    await typeSignIn(page, person, 'en')
    await page.getByText(words.en.errors.permission_missing).waitFor()
    assert.doesNotMatch(await page.getByRole('main').innerText(), /anna/)
  }))

for (const [window, theme] of looks) {
  test(`every page fits and is accessible: ${window}, ${theme}`, async () => {
    const person = await at.stage.people.newcomer(`look-${window}-${theme}`, 'admin')
    const opened = await at.browser.open(window, { theme, language: 'en' })
    const { page } = opened
    try {
      const month = await at.stage.modules.reports.currentMonth()
      await page.goto(at.stage.consoleUrl)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await assertFitsAndAccessible(page, 'sign-in')
      await signIn(page, person, 'en')
      const pages = {
        '/': text.today.title,
        '/search?text=anna': at.anna.email,
        [`/accounts/${at.anna.book}`]: at.anna.email,
        [`/requests/${at.anna.request}`]: text.request.title,
        '/queues': text.queues.title,
        '/acts': text.acts.title,
        '/months': text.month.title,
        [`/months/${month}`]: monthNameOf(month),
        '/own': text.own.title,
        '/figures/taken': text.today.figure.taken,
        '/figures/requests': text.today.figure.requests,
        '/figures/liability': text.today.figure.liability,
      }
      for (const [path, title] of Object.entries(pages)) {
        await page.goto(`${at.stage.consoleUrl}${path}`)
        await heading(page, title).waitFor()
        await page
          .getByRole('status', { name: words.en.state.loading })
          .waitFor({ state: 'hidden' })
        await assertFitsAndAccessible(page, path)
      }
      opened.assertNoPageErrors()
    } finally {
      await opened.close()
    }
  })
}

function monthNameOf(month: string): string {
  return new Date(month).toLocaleDateString('en', {
    ...{ month: 'long', year: 'numeric', timeZone: 'UTC' },
  })
}

async function refunds(): Promise<number> {
  const { rows } = await at.stage.db.query('select count(*)::int4 as n from refunds')
  return (rows[0] as { n: number }).n
}
