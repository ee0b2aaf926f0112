// Hands that have a keyboard and nothing else. Wherever they come to, the focus must be seen.
import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'
import { focusOf } from './looks.ts'

/** No page has so many stops between two things that belong together. */
const STOPS_MAX = 60

export type Keys = ReturnType<typeof createKeys>

export function createKeys(page: Page) {
  const press = (key: string) => page.keyboard.press(key)
  const isFocused = (target: Locator) =>
    target.evaluate((element) => element === element.ownerDocument.activeElement)

  /** Goes from stop to stop until the target has the focus. */
  async function to(target: Locator, step: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    await target.waitFor()
    for (let stops = 0; stops < STOPS_MAX; stops += 1) {
      if (await isFocused(target)) return
      await press(step)
      const { name, problem } = await focusOf(page)
      assert.equal(problem, '', `the focus is seen on ${name}`)
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

    /** Goes there and presses Enter, or another key. */
    async use(target: Locator, key = 'Enter'): Promise<void> {
      await to(target)
      await press(key)
    },

    /** The focus is here, without anybody having gone there. */
    async assertAt(target: Locator, what: string): Promise<void> {
      // It moves after the frame in which a dialog closes.
      for (let looks = 0; looks < 50; looks += 1) {
        if (await isFocused(target)) return
        await page.evaluate('new Promise((done) => requestAnimationFrame(done))')
      }
      assert.fail(`${what}: the focus is on ${(await focusOf(page)).name}`)
    },

    /** A dialog keeps the focus: once around, and never outside. */
    async assertKept(dialog: Locator): Promise<void> {
      for (let stops = 0; stops < 8; stops += 1) {
        await press('Tab')
        const isInside = await dialog.evaluate((one) =>
          one.contains(one.ownerDocument.activeElement),
        )
        const { name, problem } = await focusOf(page)
        assert.ok(isInside, `${name} is outside of the dialog`)
        assert.equal(problem, '', `the focus is seen on ${name}`)
      }
    },
  }
}
