// A real Chromium for journeys: windows as wide as a desktop and as a phone, light and dark, an
// axe-core check of each page, and screenshots for people to look at.
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
/** Generous: a page takes 50 ms, and seconds while other work uses the machine. */
const ACT_MS_MAX = 30_000

export const windows = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const

export type WindowName = keyof typeof windows
export type Theme = 'light' | 'dark'

type Look = readonly [WindowName, Theme]
const twoLooks: readonly Look[] = [
  ['desktop', 'light'],
  ['phone', 'dark'],
]
const otherLooks: readonly Look[] = [
  ['desktop', 'dark'],
  ['phone', 'light'],
]
/** The looks in which a page is checked. Only --full checks all four: CI's time is limited. */
export const looks = process.env.FULL === '1' ? [...twoLooks, ...otherLooks] : twoLooks

export type WindowOptions = {
  readonly theme?: Theme
  readonly language?: 'ru' | 'en'
  /** The user agent. */
  readonly agent?: string
  /** False: the window runs no scripts. */
  readonly hasScripts?: boolean
  /** Console errors that are allowed, besides answers of 4xx. */
  readonly allowedErrors?: RegExp
}

export type TestBrowser = Awaited<ReturnType<typeof openBrowser>>

export async function openBrowser() {
  const browser: Browser = await chromium.launch(launchOptions())

  /** A new window with an empty profile, until it is closed. */
  async function open(name: WindowName, look: WindowOptions = {}): Promise<TestWindow> {
    return createWindow(await browser.newContext(contextOptions(name, look)), look)
  }

  return {
    open,
    /** A new window with an empty profile, closed after the work. */
    async within<T>(
      name: WindowName,
      work: (page: Page) => Promise<T>,
      theme: Theme = 'light',
    ): Promise<T> {
      const opened = await open(name, { theme })
      try {
        const done = await work(opened.page)
        opened.assertNoPageErrors()
        return done
      } finally {
        await opened.close()
      }
    },
    close: () => browser.close(),
  }
}

/** A browser that keeps its profile in a directory, so that its storage survives a restart. */
export async function openProfile(
  directory: string,
  name: WindowName,
  look: WindowOptions = {},
): Promise<TestWindow> {
  const settings = { ...launchOptions(), ...contextOptions(name, look) }
  return createWindow(await chromium.launchPersistentContext(directory, settings), look)
}

export type TestWindow = Awaited<ReturnType<typeof createWindow>>

async function createWindow(context: BrowserContext, { allowedErrors: mayFail }: WindowOptions) {
  context.setDefaultTimeout(ACT_MS_MAX)
  const wrong = await collectContextErrors(context, mayFail)
  return {
    context,
    page: context.pages()[0] ?? (await context.newPage()),
    /**
     * No script failed, the console has no errors, and nothing violated the content security
     * policy.
     */
    assertNoPageErrors: () => assert.deepEqual(wrong, [], 'the console stays empty'),
    close: () => context.close(),
  }
}

/** Errors of all pages of a context, including future ones. */
async function collectContextErrors(
  context: BrowserContext,
  mayFail: RegExp | undefined,
): Promise<readonly string[]> {
  const wrong: string[] = []
  // The console reports these too, but not for every directive.
  const content = `addEventListener('securitypolicyviolation', (event) =>
    console.error('policy', event.violatedDirective, event.blockedURI, event.sample))`
  await context.addInitScript({ content })
  context.on('weberror', (error) => wrong.push(error.error().message))
  context.on('console', (message) => {
    if (isPageError(message, mayFail)) wrong.push(message.text())
  })
  return wrong
}

/** The errors that one page logs from now on: of scripts, and of the console. */
export function collectPageErrors(page: Page): readonly string[] {
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('console', (message) => {
    if (isPageError(message)) wrong.push(message.text())
  })
  return wrong
}

function isPageError(message: ConsoleMessage, mayFail?: RegExp): boolean {
  // The server answers an invalid form with 422, which Chromium logs as an error.
  const isExpected = /status of 4\d\d/.test(message.text()) || mayFail?.test(message.text())
  return message.type() === 'error' && isExpected !== true
}

function launchOptions() {
  const executablePath = process.env.CHROMIUM_PATH || '/usr/bin/chromium'
  // As root, as in continuous integration, Chromium starts only without its sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return { executablePath, args }
}

function contextOptions(
  name: WindowName,
  { theme = 'light', language = 'ru', agent, hasScripts = true }: WindowOptions,
) {
  return {
    ...windows[name],
    colorScheme: theme,
    locale: language === 'ru' ? 'ru-RU' : 'en-US',
    timezoneId: 'Europe/Moscow',
    reducedMotion: 'reduce',
    javaScriptEnabled: hasScripts,
    ...(agent !== undefined && { userAgent: agent }),
  } as const
}

/** Saves a screenshot of the whole page, for people to look at. */
export async function saveScreenshot(page: Page, folder: string, name: string): Promise<void> {
  const directory = join(root, '.screens', folder)
  mkdirSync(directory, { recursive: true })
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true })
}

/** Nothing overflows sideways, and axe-core finds no violation of any severity. */
export async function assertFitsAndAccessible(page: Page, what: string): Promise<void> {
  const wide = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]'
  const [content, window] = await page.evaluate<[number, number]>(wide)
  assert.equal(content, window, `${what} is as wide as its window`)
  assert.deepEqual(await axeViolations(page), [], `${what} is accessible`)
}

/** The violations that axe-core finds, of any severity. */
export async function axeViolations(page: Page): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
  await page.evaluate(readFileSync(axe, 'utf8'))
  return page.evaluate(async () => {
    // Safe: the line above ran the script.
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await checker.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`),
    )
  })
}

/** A virtual authenticator that always confirms. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
