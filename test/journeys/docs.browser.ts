// The documentation, as people read it in a real browser under the cabinet's own content security
// policy: contents, search by keyboard, links to sections, both languages, and examples that copy
// with the reader's address, model and key. Screenshots go to .screens/docs. Needs the built pages.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { listSettings } from '../../src/platform/settings.ts'
import { freePorts } from '../../tools/free-port.ts'
import { docsNames, fileOfDocs } from '../../web/pages/docs/pages.ts'
import { readPage, root } from '../docs/pages.ts'
import { type CabinetStage, createCabinetStage } from '../stages/cabinet.ts'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { copyKey, createKey, pasteClipboard, words } from './support/cabinet-steps.ts'

const { ru, en } = words
/** Not what the files of docs/ have in its place. */
const API = 'https://gateway.example.com'
const at = {
  stage: undefined as unknown as CabinetStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  const [port = 0] = await freePorts(1)
  at.stage = await createCabinetStage({
    pagesDirectory: join(root, 'web/dist'),
    apiUrl: API,
    port,
  })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

/** A merge looks at a page of each kind, --full at every page. */
const seen =
  process.env.FULL === '1' ? docsNames : (['quick-start', 'claude-code', 'errors'] as const)

const open = async (page: Page, name: string) => {
  await page.goto(`${at.stage.url}/docs/${name}`)
  await page.locator('article').waitFor()
  // The server has rendered the text; buttons work once the scripts have taken it over.
  await page.getByRole('button', { name: anySearch }).waitFor()
}
const anySearch = new RegExp(`^(?:${ru.docs.search}|${en.docs.search})$`)
const field = (page: Page, language: 'ru' | 'en' = 'ru') =>
  page.getByRole('combobox', { name: words[language].docs.search })
const options = (page: Page) => page.locator('[role=option]')
const inside = (page: Page, text: string) =>
  page.locator('article figure').filter({ hasText: text }).first()

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: the pages of the documentation fit and are accessible`, () =>
    at.browser.within(
      name,
      async (page) => {
        for (const one of seen) {
          await open(page, one)
          await assertFitsAndAccessible(page, `${one} on a ${name}, ${theme}`)
          await saveScreenshot(page, 'docs', `${one}-${name}-${theme}`)
        }
        await page.getByRole('button', { name: ru.docs.search }).click()
        await field(page).fill('key_unknown')
        await options(page).first().waitFor()
        await assertFitsAndAccessible(page, `the search on a ${name}, ${theme}`)
        await saveScreenshot(page, 'docs', `search-${name}-${theme}`)
      },
      theme,
    ))
}

test('the contents lead to every page, in both languages', () =>
  at.browser.within('desktop', async (page) => {
    await page.goto(at.stage.url)
    await page.getByRole('navigation', { name: ru.site.label }).getByText(ru.docs.title).click()
    await page.getByRole('heading', { level: 1, name: 'Быстрый старт' }).waitFor()
    for (const language of ['ru', 'en'] as const) {
      const { docs } = words[language]
      const contents = page.getByRole('navigation', { name: docs.parts })
      for (const name of docsNames) {
        await contents.getByRole('link', { name: docs.pages[name], exact: true }).click()
        await page.waitForURL(`**/docs/${name}`)
        const title = readPage(fileOfDocs(name, language)).text.split('\n')[0]?.slice(2) ?? ''
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
        const current = contents.locator('[aria-current=page]')
        assert.equal(await current.textContent(), docs.pages[name])
      }
      if (language === 'ru') await page.getByRole('link', { name: 'English' }).click()
    }
    const before = page.getByRole('link', { name: en.docs.previous })
    assert.match((await before.getAttribute('href')) ?? '', /\/docs\/settings$/)
  }))

test('a section keeps its address when the language changes, and is marked while it is read', () =>
  at.browser.within('desktop', async (page) => {
    await open(page, 'charging')
    const onPage = page.getByRole('navigation', { name: ru.docs.onPage })
    await onPage.getByRole('link', { name: 'Сначала резервируем, потом списываем' }).click()
    await page.waitForFunction('scrollY > 100')
    const current = page.locator('nav [aria-current=location]')
    await current.filter({ hasText: 'Сначала резервируем' }).waitFor()
    assert.match(page.url(), /#reserved-first-charged-afterwards$/)
    await page.getByRole('link', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Reserved first, charged afterwards' }).waitFor()
    assert.match(page.url(), /\/docs\/charging#reserved-first-charged-afterwards$/)
  }))

test('the search finds every error code and every setting, each first', () =>
  at.browser.within('desktop', async (page) => {
    await open(page, 'quick-start')
    await page.keyboard.press('/')
    await field(page).fill('key_unknown')
    await options(page).first().waitFor()
    const codes = [...readPage('docs/errors.md').text.matchAll(/^\| `([a-z_]+)` \|/gm)].map(
      ([, code = '']) => [code, `/docs/errors#${code}`] as const,
    )
    const settings = listSettings().map(({ name }) => [name, `/docs/settings#${name}`] as const)
    assert.ok(codes.length > 90 && settings.length > 150)
    const missed = await page.evaluate<string[]>(typeAll([...codes, ...settings]))
    assert.deepEqual(missed, [])
  }))

/** Types each question into the focused field; returns those whose first result is another one. */
function typeAll(expected: readonly (readonly [string, string])[]): string {
  return `(async () => {
    const input = document.activeElement
    const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set
    const first = () => document.querySelector('[role=option]')?.dataset.address
    const missed = []
    for (const [question, address] of ${JSON.stringify(expected)}) {
      write.call(input, question)
      input.dispatchEvent(new Event('input', { bubbles: true }))
      const deadline = performance.now() + 5_000
      while (first() !== address && performance.now() < deadline) {
        await new Promise((resolve) => requestAnimationFrame(resolve))
      }
      if (first() !== address) missed.push(question + ': ' + first())
    }
    return missed
  })()`
}

test('the search works by keyboard alone, and leads to the row of a code', () =>
  at.browser.within('desktop', async (page) => {
    await open(page, 'quick-start')
    await page.keyboard.press('Control+K')
    await field(page).waitFor()
    await page.keyboard.type('повтор запроса')
    await options(page).first().waitFor()
    const selected = page.locator('[role=option][aria-selected=true]')
    const firstOne = await selected.getAttribute('data-address')
    await page.keyboard.press('ArrowDown')
    assert.notEqual(await selected.getAttribute('data-address'), firstOne)
    await page.keyboard.press('ArrowUp')
    assert.equal(await selected.getAttribute('data-address'), firstOne)
    await page.keyboard.press('Escape')
    await field(page).waitFor({ state: 'hidden' })

    await page.getByRole('link', { name: 'English' }).click()
    await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor()
    const trigger = page.getByRole('button', { name: en.docs.search })
    await trigger.focus()
    await page.keyboard.press('Enter')
    await field(page, 'en').waitFor()
    await page.keyboard.type('velocity_stopped')
    await options(page).first().getByText('velocity_stopped').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/errors#velocity_stopped')
    const row = page.locator('tr[data-found]')
    await row.getByText('credits were spent faster than the owner allows').waitFor()
    const box = await row.boundingBox()
    assert.ok(box !== null && box.y >= 0 && box.y < 900, 'the row is in the window')
  }))

test('an example of a visitor copies with our address and a model of the catalogue', () =>
  at.browser.within('desktop', async (page) => {
    await open(page, 'curl')
    const examples = page.locator('article figure')
    const buttons = examples.getByRole('button', { name: ru.copy.copy })
    assert.equal(await buttons.count(), await examples.count(), 'every example has its button')
    const variables = inside(page, 'export ANTHROPIC_BASE_URL')
    await variables.getByRole('button', { name: ru.copy.copy }).click()
    await variables.getByRole('button', { name: ru.copy.done }).waitFor()
    assert.equal(
      await pasteClipboard(page),
      `export ANTHROPIC_BASE_URL="${API}"\nexport ANTHROPIC_API_KEY="sk-vendor-api03-…"`,
    )
    await page.getByLabel(ru.start.model).selectOption('model-medium')
    const message = inside(page, 'stream')
    await message.getByRole('button', { name: ru.copy.copy }).click()
    await message.getByRole('button', { name: ru.copy.done }).waitFor()
    assert.match(await pasteClipboard(page), /"model": "model-medium"/)
  }))

test('an owner has the key in the examples of this browser, masked until it is shown', async () => {
  const opened = await at.browser.open('desktop')
  const { page } = opened
  const own = await at.stage.person('reader', 'ru')
  await at.stage.buyPack(own)
  const cookie = [...own.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  await page.setExtraHTTPHeaders({ cookie })
  await createKey(at.stage, page)
  const plain = await copyKey(page, 'ru')
  await open(page, 'quick-start')
  const variables = inside(page, 'export ANTHROPIC_BASE_URL')
  const masked = `sk-vendor-api03-••••••••${plain.slice(-4)}`
  await variables.getByText(masked).waitFor()
  assert.ok(!(await page.content()).includes(plain), 'the page does not have it')
  await variables.getByRole('button', { name: ru.copy.copy }).click()
  await variables.getByRole('button', { name: ru.copy.done }).waitFor()
  assert.equal(
    await pasteClipboard(page),
    `export ANTHROPIC_BASE_URL="${API}"\nexport ANTHROPIC_API_KEY="${plain}"`,
  )
  assert.ok(!(await page.content()).includes(plain), 'copying does not show it')
  await variables.getByRole('button', { name: ru.start.withKey }).click()
  await variables.getByText(plain).waitFor()
  await variables.getByRole('button', { name: ru.start.withoutKey }).click()
  await variables.getByText(masked).waitFor()
  const served = await (await fetch(`${at.stage.url}/docs/quick-start`)).text()
  assert.ok(!served.includes(plain) && !served.includes(plain.slice(-4)), 'the server has no key')

  const other = await at.browser.open('desktop')
  await open(other.page, 'quick-start')
  await other.page.getByText(/В примерах — начало ключа/).waitFor()
  await other.close()
  opened.assertNoPageErrors()
  await opened.close()
})

test('a reader without scripts has the text, the contents and the other language', async () => {
  const { page, close } = await at.browser.open('desktop', { hasScripts: false })
  await page.goto(`${at.stage.url}/docs/quick-start`)
  await page.getByRole('heading', { level: 1, name: 'Быстрый старт' }).waitFor()
  const text = await page.locator('article').innerText()
  assert.ok(text.includes(`export ANTHROPIC_BASE_URL="${API}"`), 'the address is filled in')
  await page.getByRole('link', { name: 'English' }).click()
  const contents = page.getByRole('navigation', { name: en.docs.parts })
  await contents.getByRole('link', { name: en.docs.pages.errors, exact: true }).click()
  await page.getByText('velocity_stopped').first().waitFor()
  await close()
})

test('programs can read how to call the API', async () => {
  const response = await fetch(`${at.stage.url}/llms.txt`)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(await response.text(), /POST \/v1\/messages/)
})
