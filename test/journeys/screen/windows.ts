// Browser windows: one for each person, size and language, signed in with the person's cookies and
// with the person's key in its keyring. They stay open, so a screen costs only a page.
import type { BrowserContext, Page } from 'playwright-core'
import { paths } from '../../../web/paths.ts'
import { collectPageErrors, type TestBrowser, type WindowName } from '../support/browser.ts'
import type { People } from './people.ts'
import { type Language, press, type Screen, type ScreenContext, visit, words } from './screen.ts'
import type { ScreensStage } from './stage.ts'

/** `complaints`: the errors that the page has logged so far. */
type Work = (page: Page, complaints: readonly string[]) => Promise<void>
type WindowChoice = { readonly window: WindowName; readonly language: Language }

export type Windows = ReturnType<typeof createWindows>

export function createWindows(browser: TestBrowser, stage: ScreensStage, people: People) {
  const opened = new Map<string, Promise<BrowserContext>>()
  const onOf = (page: Page, language: Language): ScreenContext => ({
    ...{ page, stage, people, words: words[language] },
  })

  async function open(
    who: Screen['who'],
    { window, language }: WindowChoice,
  ): Promise<BrowserContext> {
    const { context, page: first } = await browser.open(window)
    await first.close()
    await context.addCookies([{ name: 'language', value: language, url: stage.url }])
    if (who === 'guest') return context
    const { http, plain, isClosed } = people[who]
    const { cookies } = await http.storageState()
    await context.addCookies(cookies)
    if (isClosed) {
      const closed = `Object.defineProperty(globalThis, 'indexedDB', { value: undefined })`
      await context.addInitScript(closed)
    }
    if (plain !== undefined) await keepKey(onOf(await context.newPage(), language), plain)
    return context
  }

  return {
    /** Opens a screen on its own page, which is closed after the work. */
    async show(screen: Screen, look: WindowChoice, work: Work): Promise<void> {
      const name = `${screen.who} ${look.window} ${look.language}`
      if (!opened.has(name)) opened.set(name, open(screen.who, look))
      // Safe: the line above set it.
      const context = (await opened.get(name)) as BrowserContext
      const page = await context.newPage()
      const complaints = collectPageErrors(page)
      try {
        await screen.open(onOf(page, look.language))
        await work(page, complaints)
      } finally {
        await page.close()
      }
    },

    async close(): Promise<void> {
      for (const context of opened.values()) await (await context).close()
    },
  }
}

/** Does what an owner does in a new browser: pastes the key, and the browser keeps it. */
async function keepKey(on: ScreenContext, plain: string): Promise<void> {
  const { page, words: said } = on
  await visit(on, paths.key)
  await page.getByLabel(said.key.paste, { exact: true }).fill(plain)
  await press(page, said.key.pasteAction)
  await page.getByRole('button', { name: said.key.show, exact: true }).waitFor()
  await page.close()
}
