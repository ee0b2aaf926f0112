// The owner's usage page after requests through the real gateway: its totals, lines and arithmetic
// agree with the ledger to the microcredit.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { LogPage } from '../../src/cabinet/contract/usage.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newHoldId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { millionths } from '../../src/units/price.ts'
import { noTokens, tokens } from '../../src/units/tokens.ts'
import { ru } from '../../web/words/ru/ru.ts'
import { PRICED_MODEL } from '../support/priced-model.ts'
import { assertFitsAndAccessible, openBrowser, type TestBrowser } from './support/browser.ts'
import { createUsageStage, lines, MODELS, type UsageStage } from './support/usage-stage.ts'

const at = {
  stage: undefined as unknown as UsageStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createUsageStage()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const open = (page: Page, search?: string) => at.stage.open(page, search)
const digits = (text: string | null = '') => (text ?? '').replace(/\D/g, '')
/** `1 234,5` → microcredits. */
function microOf(shown: string): bigint {
  const [whole = '', fraction = ''] = shown.replace(/[^\d,]/g, '').split(',')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

test('totals by model are the sums of the ledger', async () => {
  const spent = await at.stage.entries()
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today')
    const table = page.getByRole('table', { name: 'По моделям' })
    for (const model of MODELS) {
      const own = spent.filter((entry) => entry.model === model)
      const micro = own.reduce((sum, { amount }) => sum - amount, 0n)
      const row = table.getByRole('row').filter({ hasText: model })
      const cells = await row.getByRole('cell').allInnerTexts()
      // Rounded together with the other model, so that both add up to the total.
      const apart = BigInt(digits(cells.at(-1))) * 1_000_000n - micro
      assert.ok(apart > -1_000_000n && apart < 1_000_000n, `${model}: ${cells.at(-1)}`)
      assert.equal(digits(cells[1]?.split('\n')[0]), String(own.length))
      const exact = await row.getByTitle(/^Точно: /).getAttribute('title')
      assert.equal(microOf((exact ?? '').replace('.', ',')), micro)
    }
  })
})

test('a line opens by keyboard and shows arithmetic that adds up to its charge', async () => {
  const charges = (await at.stage.entries()).filter(({ kind }) => kind === 'charge')
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today&ending=charged')
    assert.equal(await lines(page).count(), charges.length)
    for (const [index, charge] of charges.entries()) {
      await lines(page).nth(index).focus()
      await page.keyboard.press('Enter')
      const sum = page.getByRole('table', { name: 'Расчёт стоимости' })
      await sum.waitFor()
      const rows = await sum.getByRole('row').allInnerTexts()
      const parts = rows.filter((row) => row.includes('×')).map(partOf)
      for (const { tokens, weight, credits } of parts) {
        assert.equal(tokens * weight, credits)
      }
      const total = parts.reduce((all, { credits }) => all + credits, 0n)
      assert.equal(total, -charge.amount)
      const sumRow = rows.find((row) => row.startsWith(ru.usage.one.sum))
      assert.equal(microOf(sumRow ?? ''), total)
      await page.keyboard.press('Enter')
      await sum.waitFor({ state: 'detached' })
    }
  })
})

test('a refused request costs nothing, says so, and is found by the filter', async () => {
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today')
    await page.getByLabel(ru.usage.log.ending).selectOption('free')
    await page.waitForURL(/ending=free/)
    await lines(page).nth(1).waitFor({ state: 'detached' })
    await page.locator('td').getByText(ru.usage.ending.refused, { exact: true }).waitFor()
    await lines(page).first().click()
    const why = page.getByText(ru.usage.one.status.replace('{{status}}', '400'))
    await why.waitFor()
    await page.reload()
    await why.waitFor()
  })
})

test('rejected requests are listed by reason, and those of the model lead to the log', async () => {
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today')
    const table = page.getByRole('table', { name: ru.usage.refused.title })
    const rows = (await table.getByRole('row').allInnerTexts()).slice(1)
    const { reasons, show } = ru.usage.refused
    const expected = [
      [reasons.invalid, 1],
      [reasons.model, 2],
      [reasons.byModel, 1],
    ] as const
    assert.equal(rows.length, expected.length)
    for (const [i, [reason, requests]] of expected.entries()) {
      const [first = '', ...others] = (rows[i] ?? '').split('\t')
      assert.ok(first.startsWith(reason), first)
      assert.equal(digits(others[0]), String(requests))
    }
    await table.getByRole('button', { name: show }).click()
    await page.waitForURL(/ending=refused/)
    await lines(page).nth(1).waitFor({ state: 'detached' })
    await page.locator('td').getByText(ru.usage.ending.refused, { exact: true }).waitFor()
  })
})

test('an owner whose every request was rejected sees why', async () => {
  const own = await at.stage.person('beginner')
  at.stage.ledger.usage.refused.count(own.book, 'credits_insufficient')
  await at.stage.ledger.usage.refused.flush()
  await at.browser.within('phone', async (page) => {
    await at.stage.signIn(page, own)
    await page.goto(`${at.stage.url}/usage`)
    await page.getByText(ru.usage.never).waitFor()
    await page.getByText(ru.usage.refused.reasons.credits).waitFor()
    await assertFitsAndAccessible(page, 'rejected requests only')
  })
})

test('bars can be focused by keyboard and show their exact figures', async () => {
  const micro = (await at.stage.entries()).reduce((sum, { amount }) => sum - amount, 0n)
  await at.browser.within('desktop', async (page) => {
    await open(page)
    const bars = page.locator('figure').getByRole('button', { name: /:/ })
    assert.equal(await bars.count(), 7)
    await bars.last().focus()
    const said = (await bars.last().getAttribute('aria-label')) ?? ''
    assert.equal(BigInt(digits(said.split(':')[1]?.split('кредит')[0])), micro / 1_000_000n)
    for (const model of MODELS) assert.ok(said.includes(model), said)
    await page.keyboard.press('ArrowLeft')
    assert.match((await page.evaluate('document.activeElement.ariaLabel')) as string, /не было$/)
    await page.getByText('Таблица').click()
    const table = page.getByRole('table', { name: ru.usage.table.title })
    const rows = await table.getByRole('row').allInnerTexts()
    // The heading, the whole period, and today.
    assert.equal(rows.length, 3)
    const [whole, today] = rows.slice(1).map((row) => row.split('\t').slice(1).map(digits))
    assert.deepEqual(today, whole)
    assert.deepEqual(today?.at(-1), String(micro / 1_000_000n))
  })
})

test('a new request waits behind a button until the owner presses it', async () => {
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today')
    const before = await lines(page).count()
    await at.stage.ask(MODELS[0], '[[reply: text 3]]')
    await page.getByRole('button', { name: '1 новый запрос' }).click()
    await lines(page).nth(before).waitFor()
    assert.equal(await page.getByRole('button', { name: /новый запрос/ }).count(), 0)
  })
})

test('the statement of the chosen days downloads as a file', async () => {
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today')
    const link = page.getByRole('link', { name: ru.usage.statement })
    const address = new URL((await link.getAttribute('href')) ?? '', at.stage.url)
    const response = await fetch(address, { headers: at.stage.own.headers() })
    assert.equal(response.status, 200)
    assert.match(response.headers.get('content-type') ?? '', /^text\/csv/)
    const rows = (await response.text()).trim().split('\r\n')
    assert.ok(
      rows.length > (await at.stage.entries()).length,
      'requests, the purchase and the heading',
    )
  })
})

test('a request with every priced dimension shows each, and they add up', async () => {
  const pass = { type: 'advisor_message', model: 'model-small', input_tokens: 500 }
  const usage = {
    ...{ speed: 'fast', inference_geo: 'us', service_tier: 'priority' },
    // With these the prompt is longer than 100,000 tokens.
    cache_read_input_tokens: 150_000,
    server_tool_use: { web_search_requests: 2 },
    iterations: [{ ...pass, output_tokens: 50 }],
  }
  const words = `[[reply: text 7]] [[fault: usage-members=${JSON.stringify(usage)}]]`
  const tools = [{ type: 'web_search_20260318', name: 'web_search' }, { type: 'advisor_20260301' }]
  await at.stage.ask(PRICED_MODEL, words, { speed: 'fast', inference_geo: 'us', tools })
  const [charge] = await at.stage.entries()
  assert.deepEqual([charge?.model, charge?.writtenOff], [PRICED_MODEL, 0n])
  await at.browser.within('phone', async (page) => {
    await open(page, '?period=today')
    await lines(page).first().tap()
    const table = page.getByRole('table', { name: 'Расчёт стоимости' })
    await table.waitFor()
    const rows = await table.getByRole('row').allInnerTexts()
    const text = rows.join('\n').replace(/[\u00a0\u202f]/g, ' ')
    assert.match(text, /Запрос длиннее 100 000 токенов, быстрый режим, США, приоритет/)
    assert.match(text, /Дополнительный проход: model-small/)
    assert.match(text, /Поиск в интернете\s+2 × 2 500 =\s+5 000/)
    const parts = rows.filter((row) => row.includes('×')).map(partOf)
    for (const { tokens, weight, credits } of parts) assert.equal(tokens * weight, credits)
    const total = parts.reduce((all, { credits }) => all + credits, 0n)
    assert.equal(total, -(charge?.amount ?? 0n))
    await assertFitsAndAccessible(page, 'a cost breakdown on a phone')
  })
})

test('the log shows times, speed, stream, stop reason and roubles of each request', async () => {
  await at.stage.ask(MODELS[0], '[[reply: text 200]]', { stream: true })
  const [charge] = await at.stage.entries()
  const { totalMs = 0, firstByteMs = 0, stopReason = '' } = charge?.details ?? {}
  assert.ok(totalMs >= firstByteMs && stopReason !== '')
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today')
    const table = page.getByRole('table', { name: ru.usage.log.table })
    const [row = ''] = (await table.getByRole('row').allInnerTexts()).slice(1)
    assert.match(row, / с → [\d,]+ с/)
    assert.match(row, /[\d\u00a0]+ ток\/с/)
    assert.ok(row.includes(ru.usage.log.stream) && row.includes(stopReason), row)
    assert.match(row, /\d,\d\d\u00a0₽/)
    const boxes = await table
      .getByRole('row')
      .evaluateAll((rows) => rows.map((one) => one.getBoundingClientRect().height))
    assert.ok(Math.max(...boxes) <= 44, `one line a row: ${boxes}`)
    await lines(page).first().click()
    for (const name of [ru.usage.one.firstByte, ru.usage.one.speed, ru.usage.one.stopReason]) {
      await page.getByText(name, { exact: true }).waitFor()
    }
  })
})

test('a failed request shows its error type', async () => {
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today&ending=refused')
    const table = page.getByRole('table', { name: ru.usage.log.table })
    await table.getByText('invalid_request_error').first().waitFor()
  })
})

test('a request from before times were recorded shows none, not 0', async () => {
  await chargeWithoutTimes()
  const { body } = await at.stage.own.expectOk<LogPage>('GET /api/log?limit=1')
  const [line] = body.lines
  assert.deepEqual([line?.input, line?.output], ['5', '7'])
  const unknown = [line?.firstByteMs, line?.totalMs, line?.isStream, line?.stopReason]
  assert.deepEqual([...unknown, line?.errorType], [null, null, null, null, null])
  await at.browser.within('desktop', async (page) => {
    await open(page, '?period=today')
    const row = page.getByRole('table', { name: ru.usage.log.table }).getByRole('row').nth(1)
    const cells = await row.getByRole('cell').allInnerTexts()
    assert.equal(cells[3], '', 'no times')
    await lines(page).first().click()
    await page.getByText(ru.usage.one.balanceAfter).waitFor()
    assert.equal(await page.getByText(ru.usage.one.firstByte, { exact: true }).count(), 0)
  })
})

/** A request as a version that recorded no times left it. */
async function chargeWithoutTimes(): Promise<void> {
  const { ledger, own } = at.stage
  const one = millionths(1_000_000)
  const price = {
    input: one,
    coefficient: one,
    cacheRead: one,
    cacheWrite5m: one,
    cacheWrite1h: one,
  }
  const tariff = await ledger.tariff({ catalogueVersion: 1_000, model: MODELS[0], price })
  const fence = (await ledger.balance(own.book))?.fence ?? 0n
  const id = newHoldId(0, systemClock.nowMs())
  const priced = credits(12)
  await ledger.hold({ id, book: own.book, tariff, fence, worst: priced, floor: priced })
  const counts = { ...noTokens, input: tokens(5), output: tokens(7) }
  const ending = { ending: 'complete', isEstimated: false, messageId: null } as const
  await ledger.settle({ id, book: own.book, counts, priced, ...ending })
}

test('25 requests fit three screens of a phone', async () => {
  while ((await at.stage.entries()).length < 25) await at.stage.ask(MODELS[1], '[[reply: text 3]]')
  await at.browser.within('phone', async (page) => {
    await open(page, '?period=today')
    await lines(page).nth(24).waitFor()
    const table = page.getByRole('table', { name: ru.usage.log.table })
    const height = (await table.boundingBox())?.height ?? 0
    const screen = page.viewportSize()?.height ?? 0
    assert.ok(height <= 3 * screen, `${height} px on screens of ${screen}`)
    await assertFitsAndAccessible(page, 'the log on a phone')
  })
})

test('an owner without requests sees what to do first', async () => {
  const own = await at.stage.person('newcomer')
  await at.browser.within('phone', async (page) => {
    await at.stage.signIn(page, own)
    await page.goto(`${at.stage.url}/usage`)
    await page.getByText('Запросов ещё не было').waitFor()
    await page.getByRole('link', { name: 'Выбрать пакет' }).tap()
    await page.getByRole('heading', { level: 1, name: 'Пополнить баланс' }).waitFor()
  })
})

/** `Входные токены 12 × 1 = 12` in whole tokens, millionths and microcredits. */
function partOf(row: string): { tokens: bigint; weight: bigint; credits: bigint } {
  const [left = '', credits = ''] = row.split('=')
  const [tokens = '', weight = ''] = left.replace(/5 минут/, '').split('×')
  return { tokens: BigInt(digits(tokens)), weight: microOf(weight), credits: microOf(credits) }
}
