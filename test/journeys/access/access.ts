// Accessibility checks of every screen: axe-core finds no violation in either theme, all text stays
// readable at twice the font size, no text is in the other language, and the console stays empty.
// Each part of the list has its own file, access/*.browser.ts, so that two of them run in parallel.
// `npm run journeys -- access --full` checks each screen in both ways, as CI's time does not allow:
// without --full, one screen is checked on a desktop in Russian, the next on a phone in English.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { foreignTexts, unreadableTexts } from '../screen/page-checks.ts'
import { arrange } from '../screen/people.ts'
import type { Screen } from '../screen/screen.ts'
import { createScreensStage, type ScreensStage } from '../screen/stage.ts'
import { createWindows, type Windows } from '../screen/windows.ts'
import { axeViolations, openBrowser, type TestBrowser } from '../support/browser.ts'

/** Three screens run at a time: one is checked while the others wait for the server. */
const suite = { concurrency: 3 }
const isFull = process.env.FULL === '1'
const SCREEN_MS_MAX = 120_000
/** Twice the default font size of browsers. */
const LARGE = { standard: 32, fixed: 26 }

const at = {
  stage: undefined as unknown as ScreensStage,
  browser: undefined as unknown as TestBrowser,
  windows: undefined as unknown as Windows,
}

/** Declares one test for each screen. */
export function declareAccessTests(screens: readonly Screen[]): void {
  before(open)
  after(close)
  describe('accessible in both themes, sizes and languages', suite, () => {
    for (const [index, screen] of screens.entries()) {
      const ways = isFull ? [inRussian, inEnglish] : [index % 2 === 0 ? inRussian : inEnglish]
      test(screen.name, { timeout: SCREEN_MS_MAX }, async () => {
        for (const way of ways) assert.deepEqual(await way(screen), [])
      })
    }
  })
}

async function open(): Promise<void> {
  at.stage = await createScreensStage()
  at.browser = await openBrowser()
  at.windows = createWindows(at.browser, at.stage, await arrange(at.stage))
}

async function close(): Promise<void> {
  await at.browser.close()
  await at.stage.end()
}

type Found = string[]
const named = (what: string, list: readonly string[]) => list.map((one) => `${what}: ${one}`)

async function inRussian(screen: Screen): Promise<Found> {
  const found: Found = []
  await at.windows.show(screen, { window: 'desktop', language: 'ru' }, async (page) => {
    found.push(...named('in Russian', await foreignTexts(page, 'ru')))
    found.push(...named('light', await axeViolations(page)))
    found.push(...named('at 100 %', await unreadableTexts(page)))
    // A 1280 px window at 200 % zoom lays out like one of 640 px.
    await page.setViewportSize({ width: 640, height: 450 })
    found.push(...named('at 200 %', await unreadableTexts(page)))
    await page.setViewportSize({ width: 390, height: 844 })
    await enlarge(page)
    found.push(...named('at twice the font size', await unreadableTexts(page)))
  })
  return found
}

async function inEnglish(screen: Screen): Promise<Found> {
  const found: Found = []
  await at.windows.show(screen, { window: 'phone', language: 'en' }, async (page, complaints) => {
    found.push(...named('in English', await foreignTexts(page, 'en')))
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    found.push(...named('dark', await axeViolations(page)))
    found.push(...named('on a phone', await unreadableTexts(page)))
    if (!screen.isBroken) found.push(...named('the console', complaints))
  })
  return found
}

/** Changes the browser's default font size, which media queries in `em` follow too. */
async function enlarge(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setFontSizes', { fontSizes: LARGE })
}
