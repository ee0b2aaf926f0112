// The public pages on a desktop and on a phone, light and dark: each fits its window, passes
// axe-core, and has a title and a description of its own. Screenshots go to .screens/public. The
// test computes the calculator's figures again, in its own way, and compares.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Prices } from '../../src/cabinet/contract/prices.ts'
import { catalogueWithPricedModel, PRICED_MODEL } from '../support/priced-model.ts'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { createSiteStage, type SiteStage } from './support/site-stage.ts'

const at = {
  stage: undefined as unknown as SiteStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createSiteStage({ catalogueText: await catalogueWithPricedModel() })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const pages = {
  front: ['/', 'Языковые модели по API с оплатой в рублях'],
  prices: ['/prices', 'Цены'],
  charging: ['/charging', 'Правила списания'],
  docs: ['/start', 'Быстрый старт'],
  status: ['/status', 'Состояние сервиса'],
} as const

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
const described = (page: Page) => page.locator('meta[name="description"]').getAttribute('content')
/** Replaces the no-break spaces that `Intl` writes by ordinary ones. */
const plain = (text: string | null) => (text ?? '').replace(/[\u00a0\u202f]/g, ' ')
/** What a figure says before its price in roubles. */
const creditsIn = (text: string | null) => plain(text).replace(/около .*/, '')

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: each page fits, is accessible, has a description`, async () => {
    await at.browser.within(
      name,
      async (page) => {
        const descriptions = new Set<string>()
        for (const [what, [path, title]] of Object.entries(pages)) {
          await page.goto(`${at.stage.url}${path}`)
          await heading(page, title).waitFor()
          await page.getByRole('contentinfo').waitFor()
          await page.waitForLoadState('networkidle')
          assert.equal(await page.title(), `${title} · Tollgate`)
          descriptions.add((await described(page)) ?? '')
          await assertFitsAndAccessible(page, `${what} on a ${name}, ${theme}`)
          await saveScreenshot(page, 'public', `${what}-${name}-${theme}`)
        }
        assert.equal(descriptions.size, Object.keys(pages).length)
        assert.ok(!descriptions.has(''))
      },
      theme,
    )
  })
}

test('the front page says what the smallest pack costs and leads to registration', async () => {
  await at.browser.within('phone', async (page) => {
    await page.goto(at.stage.url)
    const price = await page.getByText(/^Пакеты от/).textContent()
    assert.equal(plain(price), 'Пакеты от 1 300 ₽')
    await page.getByRole('link', { name: 'Зарегистрироваться' }).first().tap()
    await heading(page, 'Регистрация').waitFor()
    assert.equal(await described(page), '')
  })
})

test('a visitor who opens a page of the cabinet is asked to sign in', async () => {
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/packs`)
    await heading(page, 'Вход').waitFor()
    assert.match(page.url(), /\/sign-in\?next=%2Fpacks$/)
  })
})

test('a signed-in owner sees the overview at / and can open the public pages', async () => {
  const own = await at.stage.person('reader')
  await at.browser.within('desktop', async (page) => {
    await at.stage.signIn(page, own)
    await page.goto(at.stage.url)
    await heading(page, 'Обзор').waitFor()
    await page.getByRole('link', { name: 'Цены' }).click()
    await heading(page, 'Цены').waitFor()
    await page.getByRole('link', { name: 'В кабинет' }).click()
    await heading(page, 'Обзор').waitFor()
  })
})

test('the calculator prices requests like a charge, and its URL keeps the numbers', async () => {
  const { body } = await at.stage.browser().expectOk<Prices>('GET /api/prices')
  const model = body.models[1]
  const list = model?.lists[0]
  assert.ok(model && list)
  const load = { input: 1_234_567, output: 89_012, cacheRead: 3_456_789, cacheWrite: 777, day: 41 }
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/prices`)
    await page.getByLabel('Модель').selectOption(model.id)
    await page.getByLabel('Входные токены').fill(String(load.input))
    await page.getByLabel('Выходные токены').fill(String(load.output))
    await page.getByLabel('Прочитано из кэша').fill(String(load.cacheRead))
    await page.getByLabel('Записано в кэш на 5 минут').fill(String(load.cacheWrite))
    await page.getByLabel('Запросов в день').fill(String(load.day))
    // In hundredths of a credit: every weight in the catalogue is a whole number of them.
    const hundredths = (text: string) => BigInt(Math.round(Number(text) * 100))
    const perRequest =
      BigInt(load.input) * 100n +
      BigInt(load.output) * hundredths(list.output) +
      BigInt(load.cacheRead) * hundredths(list.cacheRead) +
      BigInt(load.cacheWrite) * hundredths(list.cacheWrite5m)
    const perDay = perRequest * BigInt(load.day)
    const figures = async () => (await page.locator('dl dd').allTextContents()).map(creditsIn)
    const expected = [perRequest, perDay, perDay * 30n].map(shownCredits)
    assert.deepEqual(await figures(), expected)
    const table = page.getByRole('table', { name: 'На сколько хватит пакетов' })
    for (const [index, pack] of body.packs.entries()) {
      const credits = BigInt(pack.credits.whole) * 100n
      const days = credits / perDay
      const kopecks = ceil(perDay * 30n * BigInt(pack.priceKopecks), credits)
      const row = table.getByRole('row').nth(index + 1)
      // Only visible text: the column names inside the cells are shown only on phones.
      const cells = await row.getByRole('cell').allInnerTexts()
      assert.equal(digits(cells[1]), String(kopecks))
      assert.equal(digits(cells[2]), days === 0n ? '' : String(days))
    }
    await page.reload()
    await page.getByLabel('Входные токены').waitFor()
    assert.equal(await page.getByLabel('Входные токены').inputValue(), String(load.input))
    assert.deepEqual(await figures(), expected)
  })
})

test('the calculator prices long prompts, speed and tools, and its URL keeps them', async () => {
  await at.browser.within('desktop', async (page) => {
    const first = async () => creditsIn(await page.locator('dl dd').first().textContent())
    await page.goto(`${at.stage.url}/prices?model=${PRICED_MODEL}&input=100000&output=10`)
    await page.getByLabel('Запросов в день').waitFor()
    assert.equal(await first(), '60 030 кредитов')
    await page.getByLabel('Прочитано из кэша').fill('1')
    // 100000 × 1.2 + 10 × 4.5 + 1 × 0.12
    await page.getByText('Применены цены: запрос длиннее 100').waitFor()
    assert.equal(await first(), '120 045,12 кредита')
    await page.getByLabel('Скорость').selectOption('fast')
    await page.getByLabel('Регион обработки').selectOption('us')
    await page.getByLabel('Поиск в интернете').fill('2')
    await page.waitForURL(/web_search=2/)
    // The sum before × 2 × 1.1, and 2 × 2500.
    assert.equal(await first(), '269 099,264 кредита')
    await page.reload()
    await page.getByText('быстрый режим, США').waitFor()
    assert.equal(await first(), '269 099,264 кредита')
    await page.getByLabel('Поиск в интернете').fill('11')
    await page.getByText('Введите целое число до 10.').waitFor()
    await page.getByLabel('Модель').selectOption('model-large')
    assert.equal(await page.getByLabel('Скорость').count(), 0)
  })
})

test('the former address of the quick start opens it in the documentation', async () => {
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/start`)
    await page.waitForURL(/\/docs\/quick-start$/)
  })
})

test('the foot of a page links to a legal document of the operator', async () => {
  await at.browser.within('phone', async (page) => {
    await page.goto(`${at.stage.url}/charging`)
    await page.getByRole('contentinfo').getByRole('link', { name: 'Оферта' }).tap()
    await heading(page, 'Оферта').first().waitFor()
    await assertFitsAndAccessible(page, 'a legal page')
  })
})

function ceil(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}

function digits(text = ''): string {
  return text.replace(/\D/g, '')
}

/** 12 345,67 кредита */
function shownCredits(hundredths: bigint): string {
  const whole = String(hundredths / 100n).replace(/\B(?=(?:\d{3})+$)/g, ' ')
  const fraction = String(hundredths % 100n)
    .padStart(2, '0')
    .replace(/0+$/, '')
  if (fraction !== '') return `${whole},${fraction} кредита`
  const form = new Intl.PluralRules('ru').select(Number((hundredths / 100n) % 100n))
  const words: Record<string, string> = { one: 'кредит', few: 'кредита', many: 'кредитов' }
  return `${whole} ${words[form]}`
}
