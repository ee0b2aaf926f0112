// The usage page in its forms, as a desktop and as a phone show it, light and dark: each fits its
// window, is sound for a screen reader, and is photographed into .screens/usage.
import { after, before, test } from 'node:test'
import { assertSound, openBrowser, picture, type TestBrowser, windows } from './support/browser.ts'
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

for (const name of Object.keys(windows) as (keyof typeof windows)[]) {
  for (const theme of ['light', 'dark'] as const) {
    test(`${name}, ${theme}: the page fits, is for everybody, and has its pictures`, async () => {
      await at.browser.within(
        name,
        async (page) => {
          for (const [form, search] of Object.entries(forms)) {
            await at.stage.open(page, search)
            if (form === 'week') {
              await lines(page).first().click()
              await page.getByText('Баланс после запроса').waitFor()
            }
            await assertSound(page, `${form} on a ${name}, ${theme}`)
            await picture(page, 'usage', `${form}-${name}-${theme}`)
          }
        },
        theme,
      )
    })
  }
}
