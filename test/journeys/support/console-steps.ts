// Steps that journeys through the console share: a window in English, and the heading of a page.
import type { Page } from 'playwright-core'
import type { TestBrowser } from './browser.ts'

export const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** A window in English, closed after the work; its console stays empty. */
export async function withinWindow(
  browser: TestBrowser,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const opened = await browser.open('desktop', { language: 'en' })
  try {
    await work(opened.page)
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
}
