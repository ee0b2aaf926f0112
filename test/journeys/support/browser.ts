// A real Chromium for journeys: windows as wide as a desktop and as a phone, light and dark, a look
// at each page with the eyes of a screen reader, and pictures for people to look at.
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  chromium,
  type Page,
} from 'playwright-core'

const root = join(import.meta.dirname, '../../..')
/** Generous: a page takes 50 ms, and seconds while others use the machine. */
const ACT_MS_MAX = 30_000

export const windows = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const

export type WindowName = keyof typeof windows
export type Theme = 'light' | 'dark'

export type Look = {
  readonly theme?: Theme
  readonly language?: 'ru' | 'en'
  /** What the browser calls itself. */
  readonly agent?: string
  /** What the console may complain of, besides answers of 4xx. */
  readonly mayFail?: RegExp
}

export type TestBrowser = Awaited<ReturnType<typeof openBrowser>>

export async function openBrowser() {
  const browser: Browser = await chromium.launch(starting())

  /** A window of its own, with nothing remembered, until it is closed. */
  async function open(name: WindowName, look: Look = {}): Promise<TestWindow> {
    return windowOf(await browser.newContext(contextOf(name, look)), look)
  }

  return {
    open,
    /** A window of its own, with nothing remembered; closed after the work. */
    async within<T>(
      name: WindowName,
      work: (page: Page) => Promise<T>,
      theme: Theme = 'light',
    ): Promise<T> {
      const opened = await open(name, { theme })
      try {
        const done = await work(opened.page)
        opened.assertCalm()
        return done
      } finally {
        await opened.close()
      }
    },
    close: () => browser.close(),
  }
}

/** A browser that keeps its profile in a directory: what it stores outlives its end. */
export async function openProfile(
  directory: string,
  name: WindowName,
  look: Look = {},
): Promise<TestWindow> {
  const settings = { ...starting(), ...contextOf(name, look) }
  return windowOf(await chromium.launchPersistentContext(directory, settings), look)
}

export type TestWindow = Awaited<ReturnType<typeof windowOf>>

async function windowOf(context: BrowserContext, { mayFail }: Look) {
  context.setDefaultTimeout(ACT_MS_MAX)
  const wrong = await complaintsOfAll(context, mayFail)
  return {
    context,
    page: context.pages()[0] ?? (await context.newPage()),
    /** No script failed, no console complained, and nothing tried what its policy forbids. */
    assertCalm: () => assert.deepEqual(wrong, [], 'the console stays empty'),
    close: () => context.close(),
  }
}

/** Of all pages of a context, those to come too. */
async function complaintsOfAll(
  context: BrowserContext,
  mayFail: RegExp | undefined,
): Promise<readonly string[]> {
  const wrong: string[] = []
  // Also told by the console, but not for every directive.
  const content = `addEventListener('securitypolicyviolation', (event) =>
    console.error('policy', event.violatedDirective, event.blockedURI, event.sample))`
  await context.addInitScript({ content })
  context.on('weberror', (error) => wrong.push(error.error().message))
  context.on('console', (message) => {
    if (isComplaint(message, mayFail)) wrong.push(message.text())
  })
  return wrong
}

/** What one page complains about from now on: errors of scripts, and of the console. */
export function complaintsOf(page: Page): readonly string[] {
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('console', (message) => {
    if (isComplaint(message)) wrong.push(message.text())
  })
  return wrong
}

function isComplaint(message: ConsoleMessage, mayFail?: RegExp): boolean {
  // A form with a mistake in it is answered with 422, which Chromium calls an error.
  const isExpected = /status of 4\d\d/.test(message.text()) || mayFail?.test(message.text())
  return message.type() === 'error' && isExpected !== true
}

function starting() {
  const executablePath = process.env.CHROMIUM_PATH || '/usr/bin/chromium'
  // As root, which continuous integration is, Chromium starts only without its sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return { executablePath, args }
}

function contextOf(name: WindowName, { theme = 'light', language = 'ru', agent }: Look) {
  return {
    ...windows[name],
    colorScheme: theme,
    locale: language === 'ru' ? 'ru-RU' : 'en-US',
    timezoneId: 'Europe/Moscow',
    reducedMotion: 'reduce',
    ...(agent !== undefined && { userAgent: agent }),
  } as const
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
  assert.deepEqual(await faultsOf(page), [], `${what} is for everybody`)
}

/** What axe-core finds, of any weight. */
export async function faultsOf(page: Page): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  await page.evaluate(readFileSync(axe, 'utf8'))
  return page.evaluate(async () => {
    // Safe: the script was run a line above.
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await checker.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`),
    )
  })
}
