// What the usage page states is true: sums add up, what is announced can be shown, dates and
// colours mean one thing, and no number is cut or broken. Each test failed on a page that once said
// otherwise.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { en } from '../../web/words/en/en.ts'
import { ru } from '../../web/words/ru/ru.ts'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import { createUsageStage, lines, MODELS, type UsageStage } from './support/usage-stage.ts'

const DAY_MS = 86_400_000
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

const numberIn = (text = '') => Number(text.replace(/\D/g, ''))

/** What each model cost, in microcredits. */
async function spentByModel(): Promise<Map<string, bigint>> {
  const spent = new Map<string, bigint>()
  for (const { model, amount } of await at.stage.entries()) {
    if (model !== null) spent.set(model, (spent.get(model) ?? 0n) - amount)
  }
  return spent
}

/** Asks until the fractions of the models together are a credit or more. */
async function spendFractions(): Promise<bigint> {
  for (let words = 3; ; words += 1) {
    const spent = [...(await spentByModel()).values()]
    const total = spent.reduce((sum, one) => sum + one, 0n)
    const floors = spent.reduce((sum, one) => sum + one / MILLION, 0n)
    if (total / MILLION > floors) return total / MILLION
    assert.ok(words < 40, 'the prices of the stage have fractions')
    const system = [
      { type: 'text', text: 'b '.repeat(words), cache_control: { type: 'ephemeral' } },
    ]
    await at.stage.ask(MODELS[words % 2] ?? MODELS[0], '[[reply: text 3]]', { system })
  }
}

test('the credits of models add up to the totals on the screen, in both languages', async () => {
  const total = await spendFractions()
  for (const [language, words] of [
    ['ru', ru],
    ['en', en],
  ] as const) {
    const { page, close } = await at.browser.open('desktop', { language })
    await at.stage.signIn(page, at.stage.own)
    await page.goto(`${at.stage.url}/usage?period=today`)
    const table = page.getByRole('table', { name: words.usage.totals.title.model })
    await table.waitFor()
    const rows = (await table.getByRole('row').all()).slice(1)
    const cells = await Promise.all(rows.map((row) => row.getByRole('cell').last().innerText()))
    const byModel = cells.map(numberIn)
    assert.equal(
      byModel.reduce((sum, one) => sum + one, 0),
      Number(total),
      `${language}: ${cells}`,
    )
    const figure = page.locator('figure')
    const legend = (await figure.locator('li [data-figure]').allInnerTexts()).map(numberIn)
    assert.deepEqual(legend, byModel, `${language}: the legend has the numbers of the table`)
    const [above = ''] = await figure.locator('p .font-medium').allInnerTexts()
    assert.equal(numberIn(above), Number(total), `${language}: the total above the chart`)
    await close()
  }
})

test('requests of yesterday are never announced as new in the log of today', async () => {
  await at.browser.within('desktop', async (page) => {
    await at.stage.signIn(page, at.stage.own)
    // For this browser it is tomorrow, so that everything was asked yesterday.
    await page.clock.setFixedTime(Date.now() + DAY_MS)
    const live = page.waitForResponse(/\/api\/live/)
    await page.goto(`${at.stage.url}/usage?period=today`)
    await page.getByText(ru.usage.log.none).waitFor()
    await live
    // The live update follows the answer's head within a moment; a button would stay for ever.
    await page.waitForTimeout(1_000)
    assert.deepEqual(await page.getByRole('button', { name: /новы[йх]/ }).allInnerTexts(), [])
  })
})

test('an address with values that make no sense shows the usual seven days', async () => {
  await at.browser.within('desktop', async (page) => {
    for (const search of [
      '?period=7',
      '?period=["week"]&step=5',
      '?period=own&from=2026-02-30&to=2026-03-01',
      '?period=own&from=1999-01-01&to=1999-01-02',
      '?before=abc&open=7',
      '?model=[7]&ending=none&as=1',
    ]) {
      await at.stage.open(page, search)
      const bars = page.locator('figure').getByRole('button', { name: /:/ })
      assert.equal(await bars.count(), 7, search)
      assert.ok((await lines(page).count()) > 0, search)
      assert.equal(await page.getByRole('alert').count(), 0, search)
    }
  })
})

test('an error inside the account keeps its frame and shows no frame of guests in it', async () => {
  const { page, close } = await at.browser.open('desktop', { allowedErrors: /./ })
  await at.stage.signIn(page, at.stage.own)
  // An answer that this version of the pages cannot read.
  await page.route('**/api/usage?*', (route) => route.fulfill({ json: { totals: [{}] } }))
  await page.goto(`${at.stage.url}/usage`)
  await page.getByRole('heading', { level: 1, name: ru.broken.title }).waitFor()
  assert.equal(await page.getByRole('banner').count(), 1, 'one top bar')
  assert.equal(await page.getByRole('main').count(), 1)
  assert.equal(await page.getByRole('contentinfo').count(), 1, 'one footer')
  await page.getByRole('banner').getByRole('link', { name: ru.nav.usage }).first().waitFor()
  await close()
})

test('the axis of hours names every day of the week', async () => {
  await at.browser.within('desktop', async (page) => {
    await at.stage.open(page, '?period=week&step=hour')
    const axis = await page.locator('figure svg text').allTextContents()
    const format = new Intl.DateTimeFormat('ru-RU', {
      timeZone: 'Europe/Moscow',
      day: 'numeric',
      month: 'short',
    })
    for (let day = 0; day < 7; day += 1) {
      const name = format.format(Date.now() - day * DAY_MS)
      assert.ok(axis.includes(name), `${name} in ${axis.join(' ')}`)
    }
  })
})

test('a model keeps its colour when another one overtakes it', async () => {
  await at.browser.within('desktop', async (page) => {
    await at.stage.open(page, '?period=today')
    const before = await colours(page)
    const [first = ''] = before.keys()
    const other = MODELS.find((model) => model !== first) ?? MODELS[0]
    const usage = { output_tokens: 5_000 }
    for (let more = 0; more < 20 && [...(await colours(page)).keys()][0] === first; more += 1) {
      const words = `[[reply: text 900]] [[fault: usage-members=${JSON.stringify(usage)}]]`
      await at.stage.ask(other, words, { max_tokens: 8_000 })
      await at.stage.open(page, '?period=today')
    }
    const after = await colours(page)
    assert.equal([...after.keys()][0], other, 'the other model is the first now')
    for (const [model, colour] of before) assert.equal(after.get(model), colour, model)
  })
})

/** The fill of each model in the legend, in the order of the legend. */
async function colours(page: Page): Promise<Map<string, string>> {
  const entries = await page.locator('figure li').evaluateAll((items) =>
    items.map((item) => {
      const rect = item.querySelector('svg rect')
      const fill = rect?.getAttribute('fill') ?? rect?.getAttribute('class') ?? ''
      // The first part of the pattern's id is that of the chart.
      return [
        item.querySelector('[data-name]')?.textContent ?? '',
        fill.replace(/^.*-/, ''),
      ] as const
    }),
  )
  return new Map(entries)
}

test('no number breaks in the middle in windows of 768 to 820 pixels', async () => {
  const usage = { cache_read_input_tokens: 123_456_789, cache_creation_input_tokens: 98_765_432 }
  for (const model of MODELS) {
    await at.stage.ask(model, `[[reply: text 3]] [[fault: usage-members=${JSON.stringify(usage)}]]`)
  }
  await at.browser.within('desktop', async (page) => {
    for (const width of [768, 800, 820]) {
      await page.setViewportSize({ width, height: 1_000 })
      for (const search of ['?period=today', '?period=today&as=table']) {
        await at.stage.open(page, search)
        assert.deepEqual(await brokenNumbers(page), [], `${search} at ${width} px`)
        assert.deepEqual(await cutTables(page), [], `${search} at ${width} px`)
      }
    }
  })
})

test('the tables of rejected requests and of errors are not cut off at 1280 pixels', async () => {
  await at.browser.within('desktop', async (page) => {
    for (const search of ['?period=today', '?period=today&as=table']) {
      await at.stage.open(page, search)
      await page.getByRole('table', { name: ru.usage.refused.title }).waitFor()
      assert.deepEqual(await cutTables(page), [], search)
    }
    await page.goto(`${at.stage.url}/docs/errors`)
    await page.getByRole('table').first().waitFor()
    assert.deepEqual(await cutTables(page), [], 'the errors of the documentation')
  })
})

/** Texts of digits and group separators that stand on two lines. */
function brokenNumbers(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const broken = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      for (const found of node.textContent.matchAll(/\\d[\\d\\u00a0\\u202f,.]*\\d/g)) {
        const range = document.createRange()
        range.setStart(node, found.index)
        range.setEnd(node, found.index + found[0].length)
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
        if (tops.size > 1) broken.push(found[0])
      }
    }
    return broken
  })()`)
}

/** Tables that are wider than what is around them, so that their last column is cut off. */
function cutTables(page: Page): Promise<string[]> {
  return page.getByRole('table').evaluateAll((tables) =>
    tables.flatMap((table) => {
      const around = table.parentElement?.getBoundingClientRect().right ?? 0
      const cells = [...table.querySelectorAll('td')]
      const right = Math.max(...cells.map((cell) => cell.getBoundingClientRect().right))
      const isCut = right > around + 1 || table.scrollWidth > table.clientWidth + 1
      return isCut
        ? [`${table.querySelector('caption, th')?.textContent}: ${right} > ${around}`]
        : []
    }),
  )
}
