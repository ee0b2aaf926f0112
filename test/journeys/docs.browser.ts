// The documentation in the cabinet, as a guest reads it in a real browser under the cabinet's own
// content security policy: in the reader's language, with this deployment's address in the
// examples. Needs the built pages (npm run web:build); screenshots go to .screens/docs.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../stages/cabinet.ts'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'

const names = ['quick-start', 'charging', 'api', 'errors', 'versioning']
const at = {
  stage: undefined as unknown as CabinetStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createCabinetStage({
    pagesDirectory: join(import.meta.dirname, '../../web/dist'),
  })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: every page of the documentation fits and is accessible`, () =>
    at.browser.within(
      name,
      async (page) => {
        for (const one of names) {
          await page.goto(`${at.stage.url}/docs/${one}`)
          await page.locator('article h2').first().waitFor()
          await assertFitsAndAccessible(page, `${one} on a ${name}, ${theme}`)
          await saveScreenshot(page, 'docs', `${one}-${name}-${theme}`)
        }
      },
      theme,
    ))
}

test('examples show our address, and a link opens the page at its section', () =>
  at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/docs/quick-start`)
    await page.getByRole('heading', { name: 'Быстрый старт' }).waitFor()
    const text = await page.locator('article').innerText()
    assert.ok(text.includes('export ANTHROPIC_BASE_URL="https://api.example.org"'))
    await page.getByRole('link', { name: 'стоимость', exact: true }).click()
    const section = page.getByRole('heading', { name: 'Сначала резервируем, потом списываем' })
    await section.waitFor()
    await page.waitForFunction('scrollY > 100')
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Reserved first, charged afterwards' }).waitFor()
  }))

test('programs can read how to call the API', async () => {
  const response = await fetch(`${at.stage.url}/llms.txt`)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(await response.text(), /POST \/v1\/messages/)
})
