// The documentation in the cabinet, as a guest reads it in a real browser under the cabinet's own
// policy: in the reader's language, with this deployment's address in the examples. Needs the built
// pages (npm run web:build); pictures go to .screens/docs.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../stages/cabinet.ts'
import { assertSound, openBrowser, picture, type TestBrowser, windows } from './support/browser.ts'

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

for (const name of Object.keys(windows) as (keyof typeof windows)[]) {
  for (const theme of ['light', 'dark'] as const) {
    test(`${name}, ${theme}: every page of the documentation fits and is for everybody`, () =>
      at.browser.within(
        name,
        async (page) => {
          for (const one of names) {
            await page.goto(`${at.stage.url}/docs/${one}`)
            await page.locator('article h2').first().waitFor()
            await assertSound(page, `${one} on a ${name}, ${theme}`)
            await picture(page, 'docs', `${one}-${name}-${theme}`)
          }
        },
        theme,
      ))
  }
}

test('a reader gets the examples with our address, and from a link to its very section', () =>
  at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/docs/quick-start`)
    await page.getByRole('heading', { name: 'Быстрый старт' }).waitFor()
    const text = await page.locator('article').innerText()
    assert.ok(text.includes('export ANTHROPIC_BASE_URL="https://api.example.org"'))
    await page.getByRole('link', { name: 'стоимость', exact: true }).click()
    const section = page.getByRole('heading', { name: 'Сначала откладываем, потом списываем' })
    await section.waitFor()
    await page.waitForFunction('scrollY > 100')
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Held first, charged afterwards' }).waitFor()
  }))

test('programs are told how to call it', async () => {
  const response = await fetch(`${at.stage.url}/llms.txt`)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(await response.text(), /POST \/v1\/messages/)
})
