// The first minutes of a newcomer, while the operator offers a trial: registration, a key without
// a purchase, and the first request from the key page, with the key of this browser.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import { createJourneyStage, type JourneyStage } from './support/cabinet-stage.ts'
import { button, createSignedInAccount, link, words } from './support/cabinet-steps.ts'

const { ru } = words
const at = {
  stage: undefined as unknown as JourneyStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createJourneyStage({ TRIAL_CREDITS: '100000' })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

test('from registration to the first request without a purchase', async () => {
  const opened = await at.browser.open('phone')
  const { page } = opened
  await page.goto(`${at.stage.url}/register`)
  await page.getByText('100 000').waitFor()
  await createSignedInAccount(at.stage, page, 'trial', { bought: false })
  await page.goto(at.stage.url)
  await page.getByText(ru.home.steps.trial.split('{{')[0] as string).waitFor()
  await link(page, ru.home.steps.keyAction).click()
  await page.getByText(ru.try.title).waitFor()
  // Neither a reload nor the way back creates another one.
  await page.reload()
  await page.getByText(ru.try.title).waitFor()
  assert.equal((await at.stage.db.query('select from keys')).rows.length, 1)
  const plain = await page.content()
  await button(page, ru.try.send).click()
  await page.getByText(ru.try.cost, { exact: true }).waitFor()
  const id = page.getByRole('link', { name: /^req_/ })
  await id.waitFor()
  const html = await page.content()
  for (const text of [plain, html]) {
    assert.doesNotMatch(text, /sk-[a-z]+-api03-[\w-]{20}/, 'the key is in no element')
  }
  await id.click()
  await page.waitForURL(/\/usage/)
  const { rows } = await at.stage.db.query(
    `select kind::text as kind from entries order by at, kind`,
  )
  assert.deepEqual(
    rows.map((row) => (row as { kind: string }).kind),
    ['promo', 'charge'],
  )
  opened.assertNoPageErrors()
  await opened.close()
})
