// A screen: a name, the route it shows, the person who is signed in, and the steps that lead there.
// Steps find elements by the words of the pages, so each works in either language. list.ts has all
// screens.
import type { Page } from 'playwright-core'
import { paths } from '../../../web/paths.ts'
import { en } from '../../../web/words/en/en.ts'
import { ru } from '../../../web/words/ru/ru.ts'
import type { People, PersonName } from './people.ts'
import type { ScreensStage } from './stage.ts'

export type Language = 'ru' | 'en'
export const words = { ru, en } as const
export type Words = (typeof words)[Language]
export type PathName = keyof typeof paths

/** What the steps of a screen work with. */
export type ScreenContext = {
  readonly page: Page
  readonly words: Words
  readonly stage: ScreensStage
  readonly people: People
}

export type Screen = {
  readonly name: string
  /** Undefined: a URL that matches no route. */
  readonly route: PathName | undefined
  readonly who: PersonName | 'guest'
  readonly open: (on: ScreenContext) => Promise<void>
  /** Something is broken on purpose, and the browser's console may log it. */
  readonly isBroken?: true
}

type Steps = (on: ScreenContext) => Promise<void>

/** Opens a route and takes the steps from there. */
export function screen(
  name: string,
  route: PathName,
  who: Screen['who'],
  steps: Steps = async () => undefined,
): Screen {
  return {
    ...{ name, route, who },
    async open(on) {
      await visit(on, paths[route])
      await steps(on)
    },
  }
}

/** The same screen, with a step before its page is opened. */
export function withPreparation(one: Screen, prepare: Steps): Screen {
  return {
    ...one,
    async open(on) {
      await prepare(on)
      await one.open(on)
    },
  }
}

/** Opens a URL and waits until all data has loaded. */
export async function visit({ page, stage }: ScreenContext, path: string): Promise<void> {
  await page.goto(`${stage.url}${path}`)
  await waitUntilLoaded(page)
}

export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  // Skeletons mark data that has not loaded yet.
  await page.locator('.animate-pulse').first().waitFor({ state: 'detached' })
}

export async function press(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('button', { name, exact: true }).first().click()
}

const failures = { fault: 500, unavailable: 503, password_needed: 400 } as const

/** From now on the server answers these URLs with an error, or is unreachable. */
export async function failRequests(
  page: Page,
  address: string,
  code: keyof typeof failures = 'fault',
): Promise<void> {
  const body = JSON.stringify({ error: { code, message: '' }, requestId: 'req_0' })
  const status = failures[code]
  await page.route(address, (route) =>
    route.fulfill({ status, contentType: 'application/json', body }),
  )
}
