// Error pages in the right frame: the account area's for an owner, the public pages' for a visitor,
// the console's for an operator. A public page stays readable while nobody can say who is signed
// in. Screenshots go to .screens/problems.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, createConsoleStage } from '../stages/console.ts'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { createJourneyStage, type JourneyStage } from './support/cabinet-stage.ts'
import * as steps from './support/cabinet-steps.ts'
import { words as consoleWords, signIn } from './support/console-people.ts'

const at = {
  stage: undefined as unknown as JourneyStage,
  desk: undefined as unknown as ConsoleStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createJourneyStage()
  const pagesDirectory = join(import.meta.dirname, '../../web/console/dist')
  at.desk = await createConsoleStage({ pagesDirectory })
})
after(async () => {
  await at.browser.close()
  await at.desk.end()
  await at.stage.end()
})

const { ru } = steps.words
const said = consoleWords.ru
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })
/** What only one frame has. */
const site = (page: Page) => page.getByRole('navigation', { name: ru.site.label })
const account = (page: Page) => page.getByRole('button', { name: ru.menu.account })
const desk = (page: Page) => page.getByText(said.console.name, { exact: true })

/** Answers requests as a server that fails or is away does. */
async function failMe(page: Page, status: 500 | 503): Promise<void> {
  const code = status === 500 ? 'fault' : 'unavailable'
  const body = JSON.stringify({ error: { code, message: '' }, requestId: 'req_0' })
  await page.route('**/api/me', (route) =>
    route.fulfill({ status, contentType: 'application/json', body }),
  )
}

const ALLOWED = /status of 50\d|ERR_FAILED|Failed to fetch|^ApiRefusal|^TypeError/

async function within(
  [window, theme]: (typeof looks)[number],
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const opened = await at.browser.open(window, { theme, allowedErrors: ALLOWED })
  try {
    await work(opened.page)
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
}

const checked = async (page: Page, name: string, look: (typeof looks)[number]) => {
  await assertFitsAndAccessible(page, name)
  await saveScreenshot(page, 'problems', `${name}-${look.join('-')}`)
}

for (const look of looks) {
  const where = look.join(', ')
  test(`${where}: a visitor sees error pages in the frame of the public pages`, () =>
    within(look, async (page) => {
      await page.goto(`${at.stage.url}/nowhere`)
      await heading(page, ru.notFound.title).waitFor()
      await site(page).first().waitFor({ state: 'attached' })
      await checked(page, 'visitor-404', look)
      for (const [status, title] of [
        [500, ru.broken.title],
        [503, ru.away.title],
      ] as const) {
        await failMe(page, status)
        await page.goto(`${at.stage.url}/usage`)
        await heading(page, title).waitFor()
        await site(page).first().waitFor({ state: 'attached' })
        await checked(page, `visitor-${status}`, look)
      }
    }))

  test(`${where}: an owner keeps the frame of the account area`, () =>
    within(look, async (page) => {
      await steps.createSignedInAccount(at.stage, page, `framed-${look.join('-')}`, {
        bought: false,
      })
      await page.goto(`${at.stage.url}/nowhere`)
      await heading(page, ru.notFound.title).waitFor()
      await account(page).waitFor()
      assert.equal(await site(page).count(), 0)
      await checked(page, 'owner-404', look)
      await page.route('**/assets/Payments-*.js', (route) => route.abort())
      await page.goto(`${at.stage.url}/payments`)
      await heading(page, ru.broken.title).waitFor()
      await account(page).waitFor()
      await checked(page, 'owner-broken', look)
    }))

  test(`${where}: an operator keeps the frame of the console`, () =>
    within(look, async (page) => {
      const url = at.desk.consoleUrl
      await page.goto(`${url}/nowhere`)
      await heading(page, said.notFound.title).waitFor()
      assert.equal(await desk(page).count(), 0, 'nobody is signed in')
      await page.goto(url)
      const person = await at.desk.people.newcomer(`framed-${look.join('-')}`, 'admin')
      await signIn(page, person, 'ru')
      await page.goto(`${url}/nowhere`)
      await heading(page, said.notFound.title).waitFor()
      await desk(page).waitFor()
      await checked(page, 'console-404', look)
      await page.route('**/assets/Months-*.js', (route) => route.abort())
      await page.goto(`${url}/months`)
      await heading(page, said.broken.title).waitFor()
      await desk(page).waitFor()
      await checked(page, 'console-broken', look)
    }))
}

test('public pages and their forms stay readable while the session cannot be read', () =>
  within(['desktop', 'light'], async (page) => {
    // A browser with a session renders every page by itself.
    await steps.createSignedInAccount(at.stage, page, 'public', { bought: false })
    for (const [status, path, title] of [
      [500, '/prices', ru.prices.title],
      [500, '/status', ru.status.title],
      [500, '/sign-in', ru.signIn.title],
      [503, '/charging', ru.charging.title],
      [503, '/register', ru.register.title],
    ] as const) {
      await failMe(page, status)
      await page.goto(`${at.stage.url}${path}`)
      await heading(page, title).waitFor()
    }
  }))

test('a visitor reads the front page while the session cannot be read', () =>
  within(['desktop', 'light'], async (page) => {
    for (const status of [500, 503] as const) {
      await failMe(page, status)
      await page.goto(at.stage.url)
      await heading(page, ru.front.title).waitFor()
      await page.waitForLoadState('networkidle')
      await heading(page, ru.front.title).waitFor()
    }
  }))
