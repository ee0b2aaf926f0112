// The journey of the specification; only outside services are stand-ins: register, confirm, buy a
// pack, create the key, make the first request with the official library, reissue the key. It runs
// on a desktop in English with a card, and on a phone in Russian with SBP. Afterwards only the
// owner's browser has a plain key. Two more tests show the pages while the database is unavailable.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import Anthropic, { AuthenticationError } from '@anthropic-ai/sdk'
import type { Page } from 'playwright-core'
import { databasePlaces, findLeaks, type Place, type Secret } from '../faults/leaks/leaks.ts'
import {
  assertFitsAndAccessible,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
  type WindowName,
} from './support/browser.ts'
import { createJourneyStage, type JourneyStage } from './support/cabinet-stage.ts'
import * as steps from './support/cabinet-steps.ts'
import { cards } from './support/purchase-stage.ts'

const { words } = steps
const at = {
  stage: undefined as unknown as JourneyStage,
  browser: undefined as unknown as TestBrowser,
  /** Every plain key that an owner ever held. */
  keys: [] as string[],
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createJourneyStage()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

async function payByCard(page: Page): Promise<void> {
  await page.getByLabel('Card number').fill(cards.good)
  await page.getByLabel('Expiry date').fill('12/48')
  await page.getByLabel('CVC').fill('123')
  await page.getByRole('button', { name: /^Pay / }).click()
}

/** The bank's app opens from the page, as it does on a phone. */
async function payBySbp(page: Page): Promise<void> {
  const opening = page.context().waitForEvent('page')
  await page.getByRole('link', { name: /Открыть приложение банка/ }).tap()
  const app = await opening
  await app.getByRole('button', { name: 'Подтвердить перевод' }).tap()
  await page.waitForURL(/\/orders\//)
  await app.close()
}

const clientWith = (apiKey: string) =>
  new Anthropic({ apiKey, baseURL: at.stage.apiUrl, maxRetries: 0 })

function ask(apiKey: string) {
  return clientWith(apiKey).messages.create({
    model: 'model-small',
    max_tokens: 64,
    messages: [{ role: 'user', content: 'Hello' }],
  })
}

/** Microcredits that can be spent, read from the ledger's table. */
async function availableOf(email: string): Promise<bigint> {
  const { rows } = await at.stage.db.query(
    `select b.available from books b join accounts a on a.book_id = b.id where a.email = $1`,
    [email],
  )
  return (rows[0] as { available: bigint }).available
}

const MICRO = 1_000_000n

type Way = {
  readonly window: WindowName
  readonly language: steps.Language
  readonly method: 'card' | 'sbp'
  readonly pay: (page: Page) => Promise<void>
}

async function journey(page: Page, { window, language, method, pay }: Way): Promise<void> {
  const { stage } = at
  const said = words[language]
  const email = `${window}@example.org`
  await steps.register(stage, page, email, language)

  await steps.orderPack(stage, page, method, language)
  await pay(page)
  await page.waitForURL(`${stage.url}/orders/**`)
  // The test does not reload the page: it must show the new state by itself.
  await page.getByRole('heading', { name: said.order.state.credited }).waitFor()
  await steps.link(page, said.order.toKey).click()
  // That click has created the key.
  await page.getByText(said.key.created, { exact: true }).waitFor()
  await page.getByText(said.start.waiting).waitFor()
  const first = await steps.copyKey(page, language)
  at.keys.push(first)

  const bought = BigInt(steps.PACK.credits) * MICRO
  const message = await ask(first)
  assert.equal(message.type, 'message')
  const { input_tokens: input, output_tokens: output } = message.usage
  const charge = BigInt(input + 5 * output)
  await page.getByText(said.start.arrived).waitFor()
  const figure = new RegExp(`model-small: ${charge}\\s`)
  await page.getByRole('status').filter({ hasText: figure }).waitFor()
  assert.equal(await availableOf(email), bought - charge * MICRO)

  await stage.letSessionsAge()
  await steps.reissueKey(page, language)
  const second = await steps.copyKey(page, language)
  at.keys.push(second)
  assert.notEqual(second, first)
  await assert.rejects(ask(first), AuthenticationError, 'the old key is refused at once')
  const balance = (await clientWith(second).get('/v1/me')) as { balance: { available: number } }
  assert.equal(balance.balance.available, steps.PACK.credits - Number(charge))
  assert.equal((await ask(second)).type, 'message')
}

const ways: readonly Way[] = [
  { window: 'desktop', language: 'en', method: 'card', pay: payByCard },
  { window: 'phone', language: 'ru', method: 'sbp', pay: payBySbp },
]

for (const way of ways) {
  const { window, language, method } = way
  test(`${window}, ${language}, ${method}: from registration to a reissued key`, async () => {
    const opened = await at.browser.open(window, { language })
    try {
      await journey(opened.page, way)
      opened.assertNoPageErrors()
    } finally {
      await opened.close()
    }
  })
}

test('no plain key is in the database, a log, an e-mail or a request to the vendor', async () => {
  const { stage, keys } = at
  assert.equal(keys.length, 4, 'both journeys were completed')
  const secrets: Secret[] = keys.flatMap((plain, index) => [
    { what: `key ${index}`, text: plain },
    // Only the secret characters: after the prefix, the cell and the public id, before the tag.
    { what: `the secret part of key ${index}`, text: plain.slice(30, 73) },
  ])
  const places: Place[] = [
    ...(await databasePlaces(stage.db)),
    { name: 'pg_dump', text: await dump(stage.database.url) },
    ...Object.entries(stage.processes).map(([name, one]) => ({ name, text: one.printed() })),
    ...stage.mailbox.list().map((email) => ({
      name: `e-mail ${email.kind}`,
      text: JSON.stringify(email),
    })),
    { name: 'the vendor', text: JSON.stringify(stage.vendor.requests) },
  ]
  assert.deepEqual(findLeaks(places, secrets), [])
  // Check that the search had text to read: at least two places contain each sign of the journeys.
  for (const sign of ['desktop@example.org', '$argon2id$']) {
    assert.ok(places.filter(({ text }) => text.includes(sign)).length >= 2, sign)
  }
  const planted = places.map(({ name, text }) => ({ name, text: text + keys[3] }))
  assert.equal(findLeaks(planted, secrets).length, 2 * planted.length)
})

for (const window of ['desktop', 'phone'] as const) {
  test(`${window}: pages report an unavailable database, then recover`, async () => {
    const { stage } = at
    const opened = await at.browser.open(window, {
      allowedErrors: /status of 503|^ApiRefusal: unavailable/,
    })
    const { page } = opened
    try {
      await steps.createSignedInAccount(stage, page, `away-${window}`, { bought: false })
      await page.goto(`${stage.url}/key`)
      await page.getByText(words.ru.key.locked).waitFor()
      stage.proxy.cut()
      // During a visit: the cabinet stays open; the next page says that the service is unavailable.
      await page.getByRole('link', { name: words.ru.nav.payments }).click()
      await page.getByText(words.ru.errors.unavailable).waitFor()
      await saveScreenshot(page, 'cabinet', `away-inside-${window}`)
      await page.goto(`${stage.url}/payments`)
      await page.getByRole('heading', { name: words.ru.away.title }).waitFor()
      await assertFitsAndAccessible(page, 'the page of an unavailable service')
      await saveScreenshot(page, 'cabinet', `away-${window}`)
      stage.proxy.restore()
      // The page recovers without a click or a reload.
      await page.getByText(words.ru.payments.none).waitFor()
      opened.assertNoPageErrors()
    } finally {
      stage.proxy.restore()
      await opened.close()
    }
  })
}

async function dump(url: string): Promise<string> {
  const { stdout } = await promisify(execFile)('pg_dump', ['--inserts', url], {
    maxBuffer: 256 * 1024 * 1024,
  })
  return stdout
}
