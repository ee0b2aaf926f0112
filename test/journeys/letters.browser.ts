// Every link of every letter, in both languages, opened in a browser against the account area: it
// shows the page of ours that the letter speaks of. Who is signed in sees it at once; who is not
// signs in first and is brought there.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { PASSWORD } from '../stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../stages/cabinet.ts'
import { freePorts } from '../stages/served/gateway.ts'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import { button, saying, words } from './support/cabinet-steps.ts'
import {
  isForGuests,
  kinds,
  type Language,
  lettersOf,
  type Written,
  writers,
} from './support/letters-list.ts'

const root = join(import.meta.dirname, '../..')
/** A page is there in half a second; beside other work on two cores, in a few. */
const PAGE_MS_MAX = 10_000
const at = {
  stage: undefined as unknown as CabinetStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  const [port = 0] = await freePorts(1)
  at.browser = await openBrowser()
  at.stage = await createCabinetStage({
    port,
    pagesDirectory: join(root, 'web/dist'),
    payments: { hasTopUps: true },
  })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

type Words = (typeof words)[Language]

/** Headings by which a page is known; a link to a page that is not here belongs to none. */
const pages: Readonly<Record<string, (said: Words) => readonly (string | RegExp)[]>> = {
  '/confirm': ({ confirm }) => [confirm.title],
  '/sign-in': ({ signIn }) => [signIn.title],
  '/forgot': ({ forgot }) => [forgot.title],
  '/reset': ({ reset }) => [reset.title],
  '/email': ({ emailChange }) => [emailChange.title],
  '/security': ({ nav, security, factor }) => [nav.settings, security.password, factor.title],
  '/limits': ({ nav, limits, topUp }) => [nav.settings, limits.spending, topUp.title],
  '/packs': ({ packs }) => [packs.title],
  '/key': ({ key }) => [key.title],
  '/orders/:id': ({ order }) => [saying(order.title), order.facts.title],
}

/** Every address in a letter: what its text shows, and what its HTML shows or links to. */
function linksOf({ text, html }: Written): string[] {
  const shown = [text, html].flatMap((body) => body.match(/https?:\/\/[^\s"'<>]+/g) ?? [])
  const linked = [...html.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link)
  const ours = linked.filter((link) => link !== `mailto:${at.stage.brand.supportEmail}`)
  return [...new Set([...shown, ...ours].map((link) => link.replace(/[.,;:)]+$/, '')))]
}

/** Opens a link; why the page that is shown does not belong to it, or nothing. */
async function follow(page: Page, link: string, said: Words, orderId: string): Promise<string> {
  const { origin, pathname } = new URL(link)
  if (origin !== at.stage.url) return 'it leads elsewhere'
  await page.goto(link)
  const first = page.getByRole('heading', { level: 1 })
  await first.waitFor()
  const headings = pages[pathname.replace(orderId, ':id')]?.(said) ?? []
  const marks = headings.map((name) => page.getByRole('heading', { name, exact: true }).first())
  if (pathname.includes(orderId)) marks.push(page.getByText(orderId).first())
  const isShown = await Promise.all(marks.map((one) => one.waitFor({ timeout: PAGE_MS_MAX }))).then(
    () => marks.length > 0,
    () => false,
  )
  const isThere = new URL(page.url()).pathname === pathname
  return isShown && isThere ? '' : `it shows “${await first.textContent()}” at ${page.url()}`
}

/** Follows the links of some letters, each address once; what leads nowhere. */
async function followAll(letters: readonly Written[], page: Page, said: Words, orderId: string) {
  const followed = new Map<string, string>()
  const lost: string[] = []
  for (const letter of letters) {
    for (const link of linksOf(letter)) {
      const why = followed.get(link) ?? (await follow(page, link, said, orderId))
      followed.set(link, why)
      if (why !== '') lost.push(`${letter.kind}: ${link}: ${why}`)
    }
  }
  return { lost, count: followed.size }
}

async function open(language: Language, person?: Person) {
  const opened = await at.browser.open('desktop', { language })
  const cookies = [...(person?.jar ?? [])].map(([name, value]) => ({
    ...{ name, value, url: at.stage.url },
  }))
  await opened.context.addCookies(cookies)
  return opened
}

test('every place that writes letters is known to the list of letters', () => {
  const writes = /\bcomposeLetter\(|\bmail\.post\(|<!doctype html>/
  const found = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .filter((file) => writes.test(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(found.sort(), writers, 'add its letters to support/letters-list.ts')
})

for (const language of ['ru', 'en'] as const) {
  test(`every link of every letter leads to its page, in ${language}`, async (t) => {
    const { stage } = at
    const said = words[language]
    const owner = await stage.person(`letters-${language}`, language)
    const { id } = await stage.bought(owner)
    const written = await lettersOf(stage, { language, owner, order: id })
    const unwritten = kinds.filter((kind) => !written.some((letter) => letter.kind === kind))
    assert.deepEqual(unwritten, [], 'add its facts to support/letters-list.ts')
    const [guests, owners] = [
      written.filter(isForGuests),
      written.filter((letter) => !isForGuests(letter)),
    ]
    const [guest, own] = [await open(language), await open(language, owner)]
    const results = await Promise.all([
      followAll(guests, guest.page, said, id),
      followAll(owners, own.page, said, id),
    ])
    const followed = results.reduce((sum, { count }) => sum + count, 0)
    t.diagnostic(`${written.length} letters with ${followed} different links`)
    assert.deepEqual(
      results.flatMap(({ lost }) => lost),
      [],
    )
    for (const { assertCalm, close } of [guest, own]) {
      assertCalm()
      await close()
    }
  })
}

test('an order’s link leads there also through the sign-in', async () => {
  const { stage } = at
  const owner = await stage.person('elsewhere', 'ru')
  const { id } = await stage.bought(owner)
  const { page, close } = await open('ru')
  const { ru } = words
  await page.goto(`${stage.url}/orders/${id}`)
  await page.getByLabel(ru.signIn.email).fill(owner.email)
  await page.getByLabel(ru.signIn.password, { exact: true }).fill(PASSWORD)
  await button(page, ru.signIn.submit).click()
  await page.getByText(id).first().waitFor()
  assert.equal(page.url(), `${stage.url}/orders/${id}`)
  await close()
})
