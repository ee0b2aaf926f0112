// The usage explorer: from a bar to the arithmetic of one request, by mouse, finger and keyboard;
// the address holds what is shown; chart, table and files have the same numbers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { metrics, splits } from '../../web/pages/usage/period.ts'
import { ru } from '../../web/words/ru/ru.ts'
import { assertFitsAndAccessible, openBrowser, type TestBrowser } from './support/browser.ts'
import { createUsageStage, lines, MODELS, type UsageStage } from './support/usage-stage.ts'

const MILLION = 1_000_000n
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

const words = ru.usage
const digits = (text: string | null | undefined) => (text ?? '').replace(/\D/g, '')
const bars = (page: Page) => page.locator('figure').getByRole('button', { name: /:/ })
const figures = (page: Page) => page.locator('figure li [data-figure]').allInnerTexts()
const total = (page: Page) => page.locator('figure p .font-medium').innerText()

test('two clicks lead from a bar to the arithmetic of one request', async () => {
  const charges = (await at.stage.entries()).filter(({ kind }) => kind === 'charge')
  await at.browser.within('desktop', async (page) => {
    await at.stage.open(page, '?period=today&ending=charged')
    await usedBar(page).click()
    await page.waitForURL(/hour=/)
    await page
      .getByRole('button', { name: new RegExp(`^${words.log.remove.split('{{')[0]}`) })
      .waitFor()
    await lines(page).first().click()
    const arithmetic = page.getByRole('table', { name: words.one.formula })
    await arithmetic.waitFor()
    const rows = await arithmetic.getByRole('row').allInnerTexts()
    const sum = rows.find((row) => row.startsWith(words.one.sum)) ?? ''
    const spent = charges.map(({ amount }) => String(-amount / MILLION))
    assert.ok(spent.includes(digits(sum.split(',')[0])), `${sum} is one of ${spent}`)
  })
})

test('the keyboard leads from a day to its hours and to the requests of an hour', async () => {
  await at.browser.within('desktop', async (page) => {
    await at.stage.open(page)
    assert.equal(await bars(page).count(), 7)
    await bars(page).last().focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.waitForURL(/period=own/)
    await bars(page).nth(23).waitFor()
    await usedBar(page).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/hour=/)
    await page.goBack()
    await page.waitForURL((url) => !url.search.includes('hour='))
    await page.goBack()
    await page.waitForURL((url) => !url.search.includes('period='))
    await bars(page).nth(7).waitFor({ state: 'detached' })
  })
})

test('a finger shows the figures first and goes down with the second touch', async () => {
  await at.browser.within('phone', async (page) => {
    await at.stage.open(page)
    await bars(page).last().tap()
    assert.ok(!page.url().includes('period=own'))
    await bars(page).last().tap()
    await page.waitForURL(/period=own/)
  })
})

test('for every metric the parts add up to the total, in the chart and in the table', async () => {
  await at.browser.within('desktop', async (page) => {
    for (const split of splits) {
      await at.stage.open(page, `?period=today&split=${split}`)
      for (const metric of metrics) {
        await page.getByLabel(words.explorer.metricLabel).selectOption(metric)
        await page.waitForURL((url) => (url.searchParams.get('metric') ?? 'credits') === metric)
        const parts = (await figures(page)).map(digits)
        if (!['firstByte', 'total', 'cacheShare'].includes(metric)) {
          const sum = parts.reduce((all, one) => all + BigInt(one), 0n)
          assert.equal(sum, BigInt(digits(await total(page))), `${metric} by ${split}: ${parts}`)
        }
        await page.getByText(words.chart.asTable, { exact: true }).click()
        const table = page.getByRole('table', { name: words.table.title })
        const row = (await table.getByRole('row').allInnerTexts())[1]?.split('\t').slice(1) ?? []
        assert.deepEqual(row.slice(0, parts.length).map(digits), parts, `${metric} by ${split}`)
        await page.getByText(words.chart.asBars, { exact: true }).click()
      }
    }
  })
})

test('the address holds metric, split, comparison and what the legend hides', async () => {
  await at.browser.within('desktop', async (page) => {
    await at.stage.open(page, '?period=today')
    await page.getByLabel(words.explorer.metricLabel).selectOption('output')
    await page.getByLabel(words.explorer.compare).check()
    const before = BigInt(digits(await total(page)))
    const [first = ''] = await figures(page)
    await page.locator('figure li').first().getByRole('button').click()
    await page.waitForURL(/hidden=/)
    const rest = String(before - BigInt(digits(first)))
    assert.equal(digits((await total(page)).split(' ')[0]), rest)
    await page.reload()
    await page.locator('[data-previous]').waitFor({ state: 'attached' })
    assert.equal(await page.getByLabel(words.explorer.metricLabel).inputValue(), 'output')
    assert.equal(digits((await total(page)).split(' ')[0]), rest)
    assert.equal(
      await page.locator('figure li').first().getByRole('button').getAttribute('aria-pressed'),
      'false',
    )
  })
})

test('a name in the totals filters the log', async () => {
  await at.browser.within('desktop', async (page) => {
    await at.stage.open(page, '?period=today')
    const table = page.getByRole('table', { name: words.totals.title.model })
    await table.getByRole('button', { name: MODELS[1], exact: true }).click()
    await page.waitForURL(new RegExp(`model=${MODELS[1]}`))
    const own = (await at.stage.entries()).filter(({ model }) => model === MODELS[1])
    await lines(page).nth(own.length).waitFor({ state: 'detached' })
    assert.equal(await lines(page).count(), own.length)
  })
})

test('CSV and JSON have the numbers of the chart', async () => {
  await at.browser.within('desktop', async (page) => {
    await at.stage.open(page, '?period=today')
    const shown = digits(await total(page))
    for (const [name, type] of [
      [words.explorer.csv, /^text\/csv/],
      [words.explorer.json, /^application\/json/],
    ] as const) {
      const link = page.getByRole('link', { name, exact: true })
      const address = new URL((await link.getAttribute('href')) ?? '', at.stage.url)
      const response = await fetch(address, { headers: at.stage.own.headers() })
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type') ?? '', type)
      assert.ok((await response.text()).length > shown.length)
    }
  })
})

test('the explorer fits every window, also at twice the size, and is accessible', async () => {
  for (const theme of ['light', 'dark'] as const) {
    await at.browser.within(
      'desktop',
      async (page) => {
        // 640 pixels are a window of 1280 at 200 %.
        for (const width of [390, 640, 768, 1280, 1920]) {
          await page.setViewportSize({ width, height: 900 })
          for (const search of ['?compare=true', '?period=today&metric=firstByte&as=table']) {
            await at.stage.open(page, search)
            await assertFitsAndAccessible(page, `${search} at ${width} px, ${theme}`)
          }
        }
      },
      theme,
    )
  }
})

/** The last bar that has requests: the present hour. */
function usedBar(page: Page) {
  return page.locator('figure button[aria-label]:not([aria-label$="не было"])').last()
}
