// The usage page in its variants, on a desktop and on a phone, light and dark: each fits its
// window, passes axe-core, and is saved as a screenshot in .screens/usage.
import { after, before, test } from 'node:test'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { createUsageStage, lines, type UsageStage } from './support/usage-stage.ts'

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

const forms = { week: '', today: '?period=today', year: '?period=year', table: '?as=table' }

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: the page fits, is accessible, and has its screenshots`, async () => {
    await at.browser.within(
      name,
      async (page) => {
        for (const [form, search] of Object.entries(forms)) {
          await at.stage.open(page, search)
          if (form === 'week') {
            await lines(page).first().click()
            await page.getByText('Баланс после запроса').waitFor()
          }
          await assertFitsAndAccessible(page, `${form} on a ${name}, ${theme}`)
          await saveScreenshot(page, 'usage', `${form}-${name}-${theme}`)
        }
      },
      theme,
    )
  })
}
