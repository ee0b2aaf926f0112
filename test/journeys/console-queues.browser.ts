// The tasks of the console's queues in a real browser: a dispute from the provider's e-mail to the
// file for the bank, an order whose notification was lost until it is credited, a failed receipt,
// and a figure of Today down to the rows whose total it is. Needs the built pages.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, createConsoleStage } from '../stages/console.ts'
import { turnClock } from '../support/harness.ts'
import { assertFitsAndAccessible, looks, openBrowser, type TestBrowser } from './support/browser.ts'
import { confirmPlan, finishDialog } from './support/console-dialog.ts'
import { arrangeCustomer, signIn, typeSignIn, words } from './support/console-people.ts'

const { console: text } = words.en

const at = {
  stage: undefined as unknown as ConsoleStage,
  browser: undefined as unknown as TestBrowser,
}

before(async () => {
  at.browser = await openBrowser()
  at.stage = await createConsoleStage({
    pagesDirectory: join(import.meta.dirname, '../../web/console/dist'),
  })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

/** A window in English with an operator who signed in; its console stays empty. */
async function asOperator(
  name: string,
  role: 'support' | 'finance' | 'admin',
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const opened = await at.browser.open('desktop', { language: 'en' })
  try {
    await opened.page.goto(at.stage.consoleUrl)
    await signIn(opened.page, await at.stage.people.newcomer(name, role), 'en')
    await work(opened.page)
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
}

/** Types into the search field; one result opens at once. */
async function search(page: Page, what: string): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type(what)
  await page.keyboard.press('Enter')
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
const openQueues = async (page: Page) => {
  await page.getByRole('link', { name: text.nav.queues }).first().click()
  await heading(page, text.queues.title).waitFor()
}
/** The part of the queues with this heading, whatever its number. */
const queue = (page: Page, title: string) =>
  page.locator('section', { has: page.getByRole('heading', { name: title.split(':')[0] ?? '' }) })

test('a dispute goes from the provider’s e-mail to the file for the bank', async () => {
  const anna = await arrangeCustomer(at.stage, 'anna.petrova')
  const letter = await at.stage.sim('dispute', { orderId: anna.order, days: 4 })
  const [, payment = ''] = /Номер платежа: (\S+)/.exec(String(letter.text)) ?? []
  const [, until = ''] = /до (\d{4}-\d\d-\d\d)/.exec(String(letter.text)) ?? []
  await asOperator('lawyer', 'finance', async (page) => {
    await search(page, payment)
    await heading(page, anna.email).waitFor()
    await page.getByRole('button', { name: text.command.disputeOpen.button }).first().click()
    const plan = await confirmPlan(page, 'disputeOpen', { until, reason: String(letter.subject) })
    assert.match(plan, /the bank accepts evidence until 20\d\d-\d\d-\d\d 00:00:00 UTC/)
    await finishDialog(page)
    await openQueues(page)
    const own = queue(page, text.queues.disputes)
    await own.getByText(anna.order).waitFor()
    await own.getByText(text.queues.answerBy).waitFor()
    const saving = page.waitForEvent('download')
    await own.getByRole('button', { name: /^File for the bank, EN/ }).click()
    const file = await saving
    assert.match(file.suggestedFilename(), /^dispute-dsp_[0-9a-f]{32}\.en\.html$/)
    const html = await readFile(await file.path(), 'utf8')
    for (const part of [payment, anna.order, anna.email, anna.request, '53 597']) {
      assert.ok(html.includes(part), `the file has ${part}`)
    }
    const { rows: reads } = await at.stage.db.query(
      `select command from operator_reads where command like 'disputes evidence %'`,
    )
    assert.equal(reads.length, 1, 'the read leaves a line')
    await openFile(page, html)
    await own.getByRole('button', { name: text.command.disputeWon.button }).click()
    await confirmPlan(page, 'disputeWon', { reason: 'letter 18' })
    await finishDialog(page)
    await own.getByText(text.queues.empty).waitFor()
  })
})

/** The bank opens the file without us: it is complete and accessible by itself. */
async function openFile(page: Page, html: string): Promise<void> {
  const other = await page.context().newPage()
  const requests: string[] = []
  other.on('request', (request) => requests.push(request.url()))
  await other.setContent(html)
  await other.getByRole('heading', { level: 1, name: /Evidence in a dispute/ }).waitFor()
  await assertFitsAndAccessible(other, 'the file for the bank')
  assert.deepEqual(requests, [])
  await other.close()
}

test('what is overdue is marked, and what ends first is first', async () => {
  const [late, soon] = [
    await arrangeCustomer(at.stage, 'later'),
    await arrangeCustomer(at.stage, 'sooner'),
  ]
  for (const [{ order }, days] of [[late, 9] as const, [soon, 2] as const]) {
    await at.stage.payments.dispute({
      ...{ order: order as never, by: 'test', note: 'letter', act: 'open' },
      answerBy: new Date(Date.now() + days * 86_400_000),
    })
  }
  await at.stage.db.query(
    `update disputes set opened_at = opened_at - interval '5 days',
       answer_by = answer_by - interval '3 days' where order_id = $1`,
    [soon.order],
  )
  await asOperator('clerk', 'support', async (page) => {
    await openQueues(page)
    const rows = queue(page, text.queues.disputes).getByRole('listitem')
    await rows.first().getByText(text.queues.overdue).waitFor()
    assert.match(await rows.first().innerText(), new RegExp(soon.order))
    assert.match(await rows.nth(1).innerText(), new RegExp(late.order))
    assert.equal(await rows.nth(1).getByText(text.queues.overdue).count(), 0)
  })
})

test('an order whose notification was lost is found, and credited from the console', async () => {
  const person = await at.stage.person('waiting')
  const { id } = await at.stage.buy(person.book)
  await at.stage.sim('pay', { orderId: id })
  await turnClock(at.stage.db, '2 hours')
  try {
    await asOperator('helper', 'support', async (page) => {
      await openQueues(page)
      const own = queue(page, text.queues.stuckOrders)
      await own.getByRole('link', { name: id }).click()
      await heading(page, person.email).waitFor()
      await page.getByText(text.orderState.pending).waitFor()
      await page.getByRole('button', { name: text.command.orderCheck.button }).click()
      const plan = await confirmPlan(page, 'orderCheck')
      assert.match(
        plan,
        /here: pending, not credited\n.*the provider: succeeded at .* 1300\.00 RUB/,
      )
      await finishDialog(page)
      await page.getByText(text.orderState.credited).waitFor()
      assert.equal((await at.stage.ledger.balance(person.book))?.available, 35_000_000_000_000n)
      await openQueues(page)
      await own.getByText(text.queues.empty).waitFor()
    })
  } finally {
    await turnClock(at.stage.db, '0 seconds')
  }
})

test('a failed receipt leaves its queue when a person has dealt with it', async () => {
  const { order } = await arrangeCustomer(at.stage, 'unreceipted')
  await at.stage.db.query(`update orders set receipt_state = 'canceled' where id = $1`, [order])
  await asOperator('accountant', 'finance', async (page) => {
    await openQueues(page)
    const own = queue(page, text.queues.receipts)
    await own.getByRole('button', { name: text.command.receiptDismiss.button }).click()
    await confirmPlan(page, 'receiptDismiss', { reason: 'made in the portal' })
    await finishDialog(page)
    await own.getByText(text.queues.empty).waitFor()
  })
})

test('an e-mail that waits after a failure is sent again', async () => {
  await at.stage.db.query(
    `insert into letters (kind, recipient, subject, body_text, body_html, attempts, last_error)
     values ('payment-credited', 'slow@example.org', 's', 't', 'h', 3, '451 later')`,
  )
  await asOperator('postman', 'admin', async (page) => {
    await openQueues(page)
    const own = queue(page, text.queues.letters)
    await own.getByRole('button', { name: text.command.letterRetry.button }).click()
    const plan = await confirmPlan(page, 'letterRetry')
    assert.match(plan, /sent 3 times: 451 later/)
    await finishDialog(page)
  })
})

test('figures of Today lead to rows whose total is the figure', async () => {
  await arrangeCustomer(at.stage, 'figured')
  await asOperator('reader', 'support', async (page) => {
    for (const name of [
      'taken',
      'credited',
      'spent',
      'requests',
      'liability',
      'revenue',
    ] as const) {
      await page.goto(at.stage.consoleUrl)
      const label = text.today.figure[name]
      const fact = page.locator('dl > div', { hasText: new RegExp(`^${label}`) }).first()
      const link = fact.getByRole('link')
      const shown = await link.innerText()
      await link.click()
      await heading(page, label).waitFor()
      const total = page.locator('dl > div', { hasText: text.figureRows.total }).locator('dd')
      assert.equal(await total.innerText(), shown, name)
      assert.ok((await page.getByRole('row').count()) > 1, `${name} has rows`)
    }
    await page.getByLabel(text.figureRows.day).fill('2026-01-31')
    await page.getByText(text.figureRows.none).waitFor()
    assert.match(page.url(), /\/figures\/revenue\?day=/)
  })
})

for (const [window, theme] of looks) {
  test(`full queues fit and are accessible: ${window}, ${theme}`, async () => {
    const opened = await at.browser.open(window, { theme, language: 'en' })
    const { page } = opened
    try {
      const person = await at.stage.people.newcomer(`look-${window}-${theme}`, 'admin')
      for (const [path, title] of [
        ['/queues', text.queues.title],
        ['/figures/spent', text.today.figure.spent],
      ] as const) {
        await page.goto(`${at.stage.consoleUrl}${path}`)
        if (path === '/queues') await typeSignIn(page, person, 'en')
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
