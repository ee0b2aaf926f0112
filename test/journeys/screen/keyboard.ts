// Operates a page by keyboard alone, and checks at every stop that the focus is visible.
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { focusOf } from './page-checks.ts'

/** More stops than any page has between two related elements. */
const STOPS_MAX = 60

export type Keyboard = ReturnType<typeof createKeyboard>

export function createKeyboard(page: Page) {
  const press = (key: string) => page.keyboard.press(key)
  const isFocused = (target: Locator) =>
    target.evaluate((element) => element === element.ownerDocument.activeElement)

  /** Presses Tab until the target has the focus. */
  async function to(target: Locator, step: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    await target.waitFor()
    for (let stops = 0; stops < STOPS_MAX; stops += 1) {
      if (await isFocused(target)) return
      await press(step)
      const { name, problem } = await focusOf(page)
      assert.equal(problem, '', `the focus is visible on ${name}`)
    }
    const { name } = await focusOf(page)
    assert.fail(`${STOPS_MAX} stops did not lead to ${target}, but to ${name}`)
  }

  return {
    press,
    to,
    isFocused,

    async type(target: Locator, text: string): Promise<void> {
      await to(target)
      await page.keyboard.type(text)
    },

    /** Moves the focus there and presses Enter, or another key. */
    async use(target: Locator, key = 'Enter'): Promise<void> {
      await to(target)
      await press(key)
    },

    /** Checks that the page itself has moved the focus here. */
    async assertFocused(target: Locator, what: string): Promise<void> {
      // It moves after the frame in which a dialog closes.
      for (let looks = 0; looks < 50; looks += 1) {
        if (await isFocused(target)) return
        await page.evaluate('new Promise((done) => requestAnimationFrame(done))')
      }
      assert.fail(`${what}: the focus is on ${(await focusOf(page)).name}`)
    },

    /** Checks that a dialog keeps the focus: once around, and never outside. */
    async assertFocusTrapped(dialog: Locator): Promise<void> {
      for (let stops = 0; stops < 8; stops += 1) {
        await press('Tab')
        const isInside = await dialog.evaluate((one) =>
          one.contains(one.ownerDocument.activeElement),
        )
        const { name, problem } = await focusOf(page)
        assert.ok(isInside, `${name} is outside of the dialog`)
        assert.equal(problem, '', `the focus is visible on ${name}`)
      }
    },
  }
}
