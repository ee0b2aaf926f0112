// The pages that everybody may read, as a desktop and as a phone show them, light and dark: each
// fits its window, is sound for a screen reader, names and describes itself, and is photographed
// into .screens/public. The calculator is checked against an arithmetic of its own.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Prices } from '../../src/cabinet/contract/contract.ts'
import { assertSound, openBrowser, picture, type TestBrowser, windows } from './support/browser.ts'
import { createSiteStage, type SiteStage } from './support/site-stage.ts'

const at = {
  stage: undefined as unknown as SiteStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createSiteStage()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const pages = {
  front: ['/', 'Языковые модели по API с оплатой в рублях'],
  prices: ['/prices', 'Цены'],
  charging: ['/charging', 'Правила списания'],
  start: ['/start', 'Быстрый старт'],
  status: ['/status', 'Состояние сервиса'],
} as const

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
const described = (page: Page) => page.locator('meta[name="description"]').getAttribute('content')
/** Locales put spaces that do not break where a reader sees a space. */
const plain = (text: string | null) => (text ?? '').replace(/[\u00a0\u202f]/g, ' ')

for (const name of Object.keys(windows) as (keyof typeof windows)[]) {
  for (const theme of ['light', 'dark'] as const) {
    test(`${name}, ${theme}: each page fits, is for everybody, has its picture`, async () => {
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
            await assertSound(page, `${what} on a ${name}, ${theme}`)
            await picture(page, 'public', `${what}-${name}-${theme}`)
          }
          assert.equal(descriptions.size, Object.keys(pages).length)
          assert.ok(!descriptions.has(''))
        },
        theme,
      )
    })
  }
}

test('the front page says what the smallest pack costs and leads to registration', async () => {
  await at.browser.within('phone', async (page) => {
    await page.goto(at.stage.url)
    const price = await page.getByText(/^Пакеты от/).textContent()
    assert.equal(plain(price), 'Пакеты от 1 300,00 ₽')
    await page.getByRole('link', { name: 'Зарегистрироваться' }).first().tap()
    await heading(page, 'Регистрация').waitFor()
    assert.equal(await described(page), '')
  })
})

test('a visitor who wants a page of the owner is asked to sign in', async () => {
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/packs`)
    await heading(page, 'Вход').waitFor()
    assert.match(page.url(), /\/sign-in\?next=%2Fpacks$/)
  })
})

test('an owner has the overview at the same address, and the public pages beside it', async () => {
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

test('the calculator counts as a charge does, and its address keeps the numbers', async () => {
  const { body } = await at.stage.visitor().must<Prices>('GET /api/prices')
  const model = body.models[1]
  assert.ok(model)
  const load = { input: 1_234_567, output: 89_012, cacheRead: 3_456_789, cacheWrite: 777, day: 41 }
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/prices`)
    await page.getByLabel('Модель').selectOption(model.id)
    await page.getByLabel('Входные токены').fill(String(load.input))
    await page.getByLabel('Выходные токены').fill(String(load.output))
    await page.getByLabel('Прочитано из кэша').fill(String(load.cacheRead))
    await page.getByLabel('Записано в кэш на 5 минут').fill(String(load.cacheWrite))
    await page.getByLabel('Запросов в день').fill(String(load.day))
    // In units of a hundredth of a credit, which the weights of the catalogue are whole numbers of.
    const hundredths = (text: string) => BigInt(Math.round(Number(text) * 100))
    const perRequest =
      BigInt(load.input) * 100n +
      BigInt(load.output) * hundredths(model.coefficient) +
      BigInt(load.cacheRead) * hundredths(model.weights.cacheRead) +
      BigInt(load.cacheWrite) * hundredths(model.weights.cacheWrite5m)
    const perDay = perRequest * BigInt(load.day)
    const figures = () => page.locator('dl dd').allTextContents()
    const expected = [perRequest, perDay, perDay * 30n].map(shownCredits)
    assert.deepEqual((await figures()).map(plain), expected)
    const table = page.getByRole('table', { name: 'На сколько хватит пакетов' })
    for (const [index, pack] of body.packs.entries()) {
      const credits = BigInt(pack.credits.whole) * 100n
      const days = credits / perDay
      const kopecks = ceil(perDay * 30n * BigInt(pack.priceKopecks), credits)
      const row = table.getByRole('row').nth(index + 1)
      // What is seen: names of columns inside of cells are for phones.
      const cells = await row.getByRole('cell').allInnerTexts()
      assert.equal(digits(cells[1]), String(kopecks))
      assert.equal(digits(cells[2]), days === 0n ? '' : String(days))
    }
    await page.reload()
    await page.getByLabel('Входные токены').waitFor()
    assert.equal(await page.getByLabel('Входные токены').inputValue(), String(load.input))
    assert.deepEqual((await figures()).map(plain), expected)
  })
})

test('a number that is none is said so, and counts as nothing', async () => {
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/prices?output=0&requests=1`)
    await page.getByLabel('Входные токены').fill('много')
    await page.getByText('Целое число до 999 999 999.').waitFor()
    assert.equal(await page.locator('dl dd').first().textContent(), '0 кредитов')
  })
})

test('the quick start is for every client, with our address and a place for the key', async () => {
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/start`)
    for (const client of ['curl', 'Python', 'TypeScript', 'AI SDK', 'LangChain', 'Claude Code']) {
      await page.getByRole('tab', { name: client, exact: true }).click()
      const code = await page.getByRole('region', { name: `Пример: ${client}` }).textContent()
      assert.match(code ?? '', /https:\/\/api\.example\.org/)
      assert.match(code ?? '', /YOUR_API_KEY/)
    }
  })
})

test('a legal page of the operator is reached from the foot of every page', async () => {
  await at.browser.within('phone', async (page) => {
    await page.goto(`${at.stage.url}/charging`)
    await page.getByRole('contentinfo').getByRole('link', { name: 'Оферта' }).tap()
    await heading(page, 'Оферта').first().waitFor()
    await assertSound(page, 'a legal page')
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
