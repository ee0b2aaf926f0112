// A real Chromium for journeys: windows as wide as a desktop and as a phone, light and dark, a look
// at each page with the eyes of a screen reader, and pictures for people to look at.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

const root = join(import.meta.dirname, '../..')
/** Generous: a page takes 50 ms, and seconds while others use the machine. */
const ACT_MS_MAX = 30_000

export const windows = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const

export type WindowName = keyof typeof windows
export type Theme = 'light' | 'dark'

export type TestBrowser = Awaited<ReturnType<typeof openBrowser>>

export async function openBrowser() {
  const executablePath = process.env.CHROMIUM_PATH || '/usr/bin/chromium'
  // As root, which continuous integration is, Chromium starts only without its sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const browser: Browser = await chromium.launch({ executablePath, args })

  return {
    /** A window of its own, with nothing remembered; closed after the work. */
    async within<T>(
      name: WindowName,
      work: (page: Page) => Promise<T>,
      theme: Theme = 'light',
    ): Promise<T> {
      const context = await browser.newContext({
        ...windows[name],
        colorScheme: theme,
        locale: 'ru-RU',
        reducedMotion: 'reduce',
      })
      context.setDefaultTimeout(ACT_MS_MAX)
      const page = await context.newPage()
      const wrong: string[] = []
      page.on('pageerror', (error) => wrong.push(error.message))
      page.on('console', (message) => {
        // A form with a mistake in it is answered with 422, which Chromium calls an error.
        const isExpected = /status of 4\d\d/.test(message.text())
        if (message.type() === 'error' && !isExpected) wrong.push(message.text())
      })
      try {
        const done = await work(page)
        assert.deepEqual(wrong, [], 'the console stays empty')
        return done
      } finally {
        await context.close()
      }
    },
    close: () => browser.close(),
  }
}

/** A picture of the whole page, for people. */
export async function picture(page: Page, folder: string, name: string): Promise<void> {
  const directory = join(root, '.screens', folder)
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true })
}

/** Nothing sticks out sideways, and nobody is shut out: axe-core finds no fault of any weight. */
export async function assertSound(page: Page, what: string): Promise<void> {
  const wide = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]'
  const [content, window] = await page.evaluate<[number, number]>(wide)
  assert.equal(content, window, `${what} is as wide as its window`)
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  await page.evaluate(readFileSync(axe, 'utf8'))
  const faults = await page.evaluate(async () => {
    // Safe: the script was run a line above.
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await checker.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`)
  })
  assert.deepEqual(faults, [], `${what} is for everybody`)
}
