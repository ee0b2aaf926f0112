// A screen: a name, the route it shows, who looks at it, and the steps that lead there. Steps speak
// in the words of the pages, so each opens in either language. list.ts has all of them.
import type { Page } from 'playwright-core'
import { paths } from '../../../web/paths.ts'
import { en } from '../../../web/words/en/en.ts'
import { ru } from '../../../web/words/ru/ru.ts'
import type { People, Who } from './people.ts'
import type { ScreensStage } from './stage.ts'

export type Language = 'ru' | 'en'
export const words = { ru, en } as const
export type Words = (typeof words)[Language]
export type PathName = keyof typeof paths

/** What the steps of a screen work with. */
export type On = {
  readonly page: Page
  readonly words: Words
  readonly stage: ScreensStage
  readonly people: People
}

export type Screen = {
  readonly name: string
  /** Undefined: an address that no route has. */
  readonly route: PathName | undefined
  readonly who: Who | 'guest'
  readonly open: (on: On) => Promise<void>
  /** Something is broken on purpose, and the browser's console may say so. */
  readonly isBroken?: true
}

type Steps = (on: On) => Promise<void>

/** Shows a route, and goes on from there. */
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

/** The same screen, with something done before its page is opened. */
export function prepared(one: Screen, prepare: Steps): Screen {
  return {
    ...one,
    async open(on) {
      await prepare(on)
      await one.open(on)
    },
  }
}

/** Goes to an address and waits until everything that was asked for is there. */
export async function visit({ page, stage }: On, path: string): Promise<void> {
  await page.goto(`${stage.url}${path}`)
  await settled(page)
}

export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  // Skeletons stand where answers will be.
  await page.locator('.animate-pulse').first().waitFor({ state: 'detached' })
}

export async function press(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('button', { name, exact: true }).first().click()
}

/** From now on the server answers these addresses with a fault, or is away. */
export async function broken(
  page: Page,
  address: string,
  code: 'fault' | 'unavailable' = 'fault',
): Promise<void> {
  const body = JSON.stringify({ error: { code, message: '' }, requestId: 'req_0' })
  const status = code === 'fault' ? 500 : 503
  await page.route(address, (route) =>
    route.fulfill({ status, contentType: 'application/json', body }),
  )
}
