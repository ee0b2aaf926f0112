// Screens with other eyes: axe-core finds no fault in either theme, all text can be read when it is
// twice as large, nothing is said in the other language, and the console stays empty. The parts of
// the list have a file each, access-*.browser.ts, so that two of them run side by side.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { strangeWords, unreadable } from '../screen/looks.ts'
import { arrange } from '../screen/people.ts'
import type { Screen } from '../screen/screen.ts'
import { createScreensStage, type ScreensStage } from '../screen/stage.ts'
import { createWindows, type Windows } from '../screen/windows.ts'
import { faultsOf, openBrowser, type TestBrowser } from '../support/browser.ts'

/** While one screen waits for an answer, another is looked at. */
const suite = { concurrency: 3, timeout: 300_000 }
const SCREEN_MS_MAX = 120_000
/** Twice what browsers come with. */
const LARGE = { standard: 32, fixed: 26 }

const at = {
  stage: undefined as unknown as ScreensStage,
  browser: undefined as unknown as TestBrowser,
  windows: undefined as unknown as Windows,
}

/** The tests of a file: one for each screen. */
export function accessOf(screens: readonly Screen[]): void {
  before(open)
  after(close)
  describe('for everybody, in both themes, sizes and languages', suite, () => {
    for (const screen of screens) {
      test(screen.name, { timeout: SCREEN_MS_MAX }, async () => {
        assert.deepEqual([...(await inRussian(screen)), ...(await inEnglish(screen))], [])
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
    found.push(...named('in Russian', await strangeWords(page, 'ru')))
    found.push(...named('light', await faultsOf(page)))
    found.push(...named('as it is', await unreadable(page)))
    // A window of 1280 that is enlarged to 200 % is as wide as 640.
    await page.setViewportSize({ width: 640, height: 450 })
    found.push(...named('at 200 %', await unreadable(page)))
    await page.setViewportSize({ width: 390, height: 844 })
    await enlarge(page)
    found.push(...named('in letters twice as large', await unreadable(page)))
  })
  return found
}

async function inEnglish(screen: Screen): Promise<Found> {
  const found: Found = []
  await at.windows.show(screen, { window: 'phone', language: 'en' }, async (page, complaints) => {
    found.push(...named('in English', await strangeWords(page, 'en')))
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    found.push(...named('dark', await faultsOf(page)))
    found.push(...named('on a phone', await unreadable(page)))
    if (!screen.isBroken) found.push(...named('the console', complaints))
  })
  return found
}

/** As in the browser's settings, which media queries in `em` follow too. */
async function enlarge(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Page.setFontSizes', { fontSizes: LARGE })
}
