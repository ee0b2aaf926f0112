// How every e-mail looks in Chromium: on a phone and in a reading pane, light and dark, in both
// languages. Saves a picture of each to .screens/emails for people to look at. The short form
// checks that nothing is wider than a phone; --full also lets axe-core check each look.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Language } from '../../tools/email-samples.ts'
import { type CabinetStage, createCabinetStage } from '../stages/cabinet.ts'
import { axeViolations, openBrowser, type TestBrowser } from './support/browser.ts'
import { everyEmail, type WrittenEmail } from './support/email-list.ts'

const isFull = process.env.FULL === '1'
const folder = join(import.meta.dirname, '../../.screens/emails')
/** A phone, and the reading pane of a mail program. */
const WIDTHS = [390, 640]
const THEMES = ['light', 'dark'] as const

const at = {
  stage: undefined as unknown as CabinetStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  mkdirSync(folder, { recursive: true })
  at.browser = await openBrowser()
  at.stage = await createCabinetStage({ payments: { hasTopUps: true } })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

/** Shows an e-mail in one look; returns what is wrong with it. */
async function look(page: Page, email: WrittenEmail, name: string, width: number) {
  const wrong: string[] = []
  await page.setViewportSize({ width, height: 400 })
  for (const colorScheme of THEMES) {
    await page.emulateMedia({ colorScheme })
    await page.setContent(email.html)
    const content = await page.evaluate<number>('document.documentElement.scrollWidth')
    if (content > width) wrong.push(`${name} is ${content} px wide in a window of ${width}`)
    const found = isFull ? await axeViolations(page) : []
    wrong.push(...found.map((one) => `${name} ${width} ${colorScheme}: ${JSON.stringify(one)}`))
    const path = join(folder, `${name}-${width}-${colorScheme}.png`)
    if (isFull) await page.screenshot({ path, fullPage: true })
  }
  return wrong
}

for (const language of ['ru', 'en'] as const satisfies readonly Language[]) {
  test(`every e-mail fits a phone and a reading pane, in ${language}`, async (t) => {
    const owner = await at.stage.person(`looks-${language}`, language)
    const { id } = await at.stage.buyPack(owner)
    const emails = await everyEmail(at.stage, { language, owner, order: id })
    const { page, close } = await at.browser.open('desktop', { language })
    const wrong: string[] = []
    for (const [i, email] of emails.entries()) {
      const name = `${email.kind}-${i}-${language}`
      for (const width of WIDTHS) wrong.push(...(await look(page, email, name, width)))
    }
    await close()
    t.diagnostic(`${emails.length} e-mails in ${WIDTHS.length * THEMES.length} looks`)
    assert.deepEqual(wrong, [])
  })
}
