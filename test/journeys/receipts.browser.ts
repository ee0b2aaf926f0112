// npm run journeys -- receipts: what a payer sees of the tax receipts of a pack. The prepayment is
// registered late, refused, and registered when an operator sends it again; then come the refund
// and, at the end of the month, the credits that were used. The numbers, the link and the sums are
// those of the bank. The tests are one story: each begins where the one before ended.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { turnClock } from '../support/harness.ts'
import { runProgram } from '../support/run-to-end.ts'
import {
  assertFitsAndAccessible,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
  type TestWindow,
} from './support/browser.ts'
import { createJourneyStage, type JourneyStage } from './support/cabinet-stage.ts'
import { button, callFrom, createSignedInAccount, PACK, words } from './support/cabinet-steps.ts'

const { ru } = words
/** The worker looks every 5 s; beside other work on two cores it takes longer. */
const SHOWN_MS_MAX = 60_000
const CHECK = 'https://receipts.example.org/?fn={fn}&i={i}&fp={fp}'

type BankReceipt = {
  readonly id: string
  readonly type: 'payment' | 'refund'
  readonly status: string
  readonly fiscal_document_number?: string
  readonly fiscal_storage_number?: string
  readonly fiscal_attribute?: string
  readonly settlements: readonly { readonly type: string }[]
  readonly items: readonly { readonly amount: { readonly value: string } }[]
}

const at = {
  stage: undefined as unknown as JourneyStage,
  browser: undefined as unknown as TestBrowser,
  owner: undefined as unknown as TestWindow,
  order: '',
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createJourneyStage({
    YOOKASSA_RECEIPTS: 'on',
    YOOKASSA_COMPLETION_RECEIPTS: 'monthly',
    YOOKASSA_RECEIPT_URL: CHECK,
  })
  at.owner = await at.browser.open('phone')
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

/** The receipts at the bank, oldest first. */
async function bankReceipts(): Promise<readonly BankReceipt[]> {
  const { receipts } = (await at.stage.look('receipts?last=100')) as {
    receipts: readonly BankReceipt[]
  }
  return receipts
}

const sumOf = ({ items }: BankReceipt): bigint =>
  items.reduce((sum, { amount }) => sum + BigInt(amount.value.replace('.', '')), 0n)

const line = (page: Page, kind: keyof typeof ru.receipts.kinds) =>
  page.getByRole('listitem').filter({ hasText: ru.receipts.kinds[kind] })

/** Loads the order again until its receipt has this state: the page does not ask by itself. */
async function untilShown(
  kind: keyof typeof ru.receipts.kinds,
  state: keyof typeof ru.receipts.states,
): Promise<void> {
  const { page } = at.owner
  const beganMs = performance.now()
  for (;;) {
    await page.goto(`${at.stage.url}/orders/${at.order}`)
    await page.getByRole('heading', { name: ru.receipts.title }).waitFor()
    const found = line(page, kind).getByText(ru.receipts.states[state], { exact: true }).first()
    if (await found.isVisible()) return
    if (performance.now() - beganMs > SHOWN_MS_MAX) {
      throw new Error(`the receipt of ${kind} was never ${state}\n${await page.innerText('main')}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** The page has the numbers of this receipt, and the link to check it. */
async function assertNumbers(kind: keyof typeof ru.receipts.kinds, receipt: BankReceipt) {
  const shown = line(at.owner.page, kind)
  const numbers = {
    i: receipt.fiscal_document_number ?? '',
    fn: receipt.fiscal_storage_number ?? '',
    fp: receipt.fiscal_attribute ?? '',
  }
  for (const number of Object.values(numbers)) {
    assert.match(number, /^\d+$/)
    await shown.getByText(number, { exact: true }).waitFor()
  }
  const url = CHECK.replace(/\{(\w+)\}/g, (_, name: keyof typeof numbers) => numbers[name])
  const check = shown.getByRole('link', { name: ru.receipts.check })
  assert.equal(await check.getAttribute('href'), url)
}

async function op(...args: string[]): Promise<string> {
  const command = ['op', '--yes', '--as', 'olga', ...args]
  const { code, out, err } = await runProgram(command, { env: at.stage.settings })
  assert.equal(code, 0, out + err)
  return out
}

test('a receipt that the tax service has not registered yet is shown as such', async () => {
  const { stage, owner } = at
  await stage.sim('settings', { receiptStatus: 'pending' })
  await createSignedInAccount(stage, owner.page, 'payer')
  const { rows } = await stage.db.query('select id from orders')
  at.order = (rows[0] as { id: string }).id
  await untilShown('prepayment', 'waiting')
  await assertFitsAndAccessible(owner.page, 'an order whose receipt waits')
})

test('a refused receipt is listed, and the operator sends it again', async () => {
  const { stage } = at
  const [refused] = await bankReceipts()
  assert.ok(refused)
  await stage.sim('receipt', { receiptId: refused.id, status: 'canceled' })
  const beganMs = performance.now()
  while (!(await op('receipts')).includes(at.order)) {
    assert.ok(performance.now() - beganMs < SHOWN_MS_MAX, 'the failed receipt is listed')
  }
  await untilShown('prepayment', 'waiting')
  await stage.sim('settings', { receiptStatus: 'succeeded' })
  await op('receipts', 'retry', at.order)
  await untilShown('prepayment', 'registered')
  const [, again] = await bankReceipts()
  assert.ok(again)
  assert.equal(sumOf(again), 130_000n)
  await assertNumbers('prepayment', again)
})

test('the QR code of a receipt is shown on request', async () => {
  const { page } = at.owner
  const qr = page.getByRole('img', { name: ru.receipts.qr })
  assert.equal(await qr.isVisible(), false)
  await button(page, ru.receipts.showQr).click()
  await qr.waitFor()
  await assertFitsAndAccessible(page, 'an order with a registered receipt')
})

test('a refund has a receipt, and the used part is completed when the month ends', async () => {
  const { stage, owner } = at
  const { page } = owner
  await spend()
  await page.reload()
  await button(page, ru.refund.action).click()
  const dialog = page.getByRole('dialog', { name: ru.refund.title })
  await dialog.getByRole('button', { name: /₽/ }).click()
  await untilShown('return', 'registered')
  const returned = (await bankReceipts()).at(-1)
  assert.equal(returned?.type, 'refund')
  await assertNumbers('return', returned)

  await turnClock(stage.db, '32 days')
  await untilShown('completion', 'registered')
  const completed = (await bankReceipts()).at(-1)
  assert.equal(completed?.settlements[0]?.type, 'prepayment')
  await assertNumbers('completion', completed)
  assert.ok(sumOf(completed) > 0n)
  assert.equal(sumOf(completed) + sumOf(returned), 130_000n, 'every kopeck is used or returned')
  await assertFitsAndAccessible(page, 'an order with all its receipts')
  await saveScreenshot(page, 'receipts', 'all-phone')
})

/** A request that costs more than a kopeck. */
async function spend(): Promise<void> {
  const { body } = await callFrom(at.owner.page, '/api/key', {})
  const { plain, id } = body as { plain: string; id: string }
  await callFrom(at.owner.page, `/api/key/${id}/confirm`, {})
  const response = await fetch(`${at.stage.apiUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': plain, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'model-large', max_tokens: 100 },
      messages: [{ role: 'user', content: 'a long text '.repeat(5_000) }],
    }),
  })
  assert.equal(response.status, 200, await response.text())
  const { rows } = await at.stage.db.query(
    `select -amount as cost from entries where kind = 'charge'`,
  )
  const { cost } = rows[0] as { cost: bigint }
  assert.ok(cost > (BigInt(PACK.credits) * 1_000_000n) / 130_000n, `${cost} microcredits`)
}
