// Opens every link of every e-mail, in both languages, in a browser: each shows the page that the
// e-mail names. A signed-in owner sees it at once; a visitor signs in first and is then taken
// there.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Language } from '../../tools/email-samples.ts'
import { freePorts } from '../../tools/free-port.ts'
import { PASSWORD } from '../stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../stages/cabinet.ts'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import { button, sentencePattern, words } from './support/cabinet-steps.ts'
import { everyEmail, isForGuests, kinds, type WrittenEmail, writers } from './support/email-list.ts'

const root = join(import.meta.dirname, '../..')
/** A page takes half a second; beside other work on two cores, a few. */
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

/** The heading that identifies each page; a link to a page that is not listed here fails. */
const pages: Readonly<Record<string, (said: Words) => readonly (string | RegExp)[]>> = {
  // The page asks at once, and nobody has a code of the samples.
  '/confirm': ({ confirm }) => [confirm.spentTitle],
  '/sign-in': ({ signIn }) => [signIn.title],
  '/forgot': ({ forgot }) => [forgot.title],
  '/reset': ({ reset }) => [reset.title],
  '/email': ({ emailChange }) => [emailChange.title],
  '/undo-email': ({ undoEmail }) => [undoEmail.title],
  '/invitation': ({ invitation }) => [invitation.title],
  '/recover': ({ recovery }) => [recovery.spentTitle],
  '/confirm-recovery': ({ confirmRecovery }) => [confirmRecovery.title],
  '/finish-recovery': ({ finishRecovery }) => [finishRecovery.title],
  '/stop-recovery': ({ stopRecovery }) => [stopRecovery.title],
  '/unsubscribe': ({ unsubscribe }) => [unsubscribe.title],
  '/usage': ({ usage }) => [usage.title],
  '/payments': ({ payments }) => [payments.title],
  '/security': ({ nav, security, factor }) => [nav.settings, security.password, factor.title],
  '/limits': ({ nav, limits, topUp }) => [nav.settings, limits.spending, topUp.title],
  '/top-up': ({ topUp }) => [topUp.title, topUp.mandate],
  '/packs': ({ packs }) => [packs.title],
  '/key': ({ key }) => [key.title],
  '/orders/:id': ({ order }) => [sentencePattern(order.title), order.facts.title],
}

/** Every URL in an e-mail: those its text shows, and those its HTML shows or links to. */
function linksOf({ text, html }: WrittenEmail): string[] {
  const shown = [text, html].flatMap((body) => body.match(/https?:\/\/[^\s"'<>]+/g) ?? [])
  const linked = [...html.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => link)
  const ours = linked.filter((link) => link !== `mailto:${at.stage.brand.supportEmail}`)
  return [...new Set([...shown, ...ours].map((link) => link.replace(/[.,;:)]+$/, '')))]
}

/** Opens a link; returns why the page shown is not the right one, or nothing. */
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

/** Follows the links of some e-mails, each URL once; returns those that lead nowhere. */
async function followAll(
  emails: readonly WrittenEmail[],
  page: Page,
  said: Words,
  orderId: string,
) {
  const followed = new Map<string, string>()
  const lost: string[] = []
  for (const email of emails) {
    for (const link of linksOf(email)) {
      const why = followed.get(link) ?? (await follow(page, link, said, orderId))
      followed.set(link, why)
      if (why !== '') lost.push(`${email.kind}: ${link}: ${why}`)
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

test('every file that writes e-mails is in the list of writers', () => {
  const writes = /\bcomposeEmail\(|\bmail\.post\(|<!doctype html>/
  const found = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    // The file of a dispute, which an operator sends to the bank.
    .filter((file) => file !== 'src/operator/evidence/page.ts')
    .filter((file) => writes.test(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(found.sort(), writers, 'add its e-mails to support/email-list.ts')
})

for (const language of ['ru', 'en'] as const) {
  test(`every link of every e-mail leads to its page, in ${language}`, async (t) => {
    const { stage } = at
    const said = words[language]
    const owner = await stage.person(`letters-${language}`, language)
    const { id } = await stage.buyPack(owner)
    const written = await everyEmail(stage, { language, owner, order: id })
    const unwritten = kinds.filter((kind) => !written.some((email) => email.kind === kind))
    assert.deepEqual(unwritten, [], 'add its facts to support/email-list.ts')
    const [guests, owners] = [
      written.filter(isForGuests),
      written.filter((email) => !isForGuests(email)),
    ]
    const [guest, own] = [await open(language), await open(language, owner)]
    const results = await Promise.all([
      followAll(guests, guest.page, said, id),
      followAll(owners, own.page, said, id),
    ])
    const followed = results.reduce((sum, { count }) => sum + count, 0)
    t.diagnostic(`${written.length} e-mails with ${followed} different links`)
    assert.deepEqual(
      results.flatMap(({ lost }) => lost),
      [],
    )
    for (const { assertNoPageErrors, close } of [guest, own]) {
      assertNoPageErrors()
      await close()
    }
  })
}

test('an order’s link leads to the order also through the sign-in', async () => {
  const { stage } = at
  const owner = await stage.person('elsewhere', 'ru')
  const { id } = await stage.buyPack(owner)
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
