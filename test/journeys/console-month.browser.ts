// The accountant's months and one's own sign-in in a real browser: a month equals `op month`, also
// as CSV and on paper; it is sealed with a plan, and what becomes known later is a correction. An
// operator adds a passkey, signs in with it and ends the other sessions; another signs in by the
// identity provider. Needs the built pages (npm run web:build).
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type ConsoleStage, createConsoleStage } from '../stages/console.ts'
import { createOidcStage, type OidcStage } from '../stages/oidc.ts'
import { turnClock } from '../support/harness.ts'
import { addAuthenticator, openBrowser, type TestBrowser } from './support/browser.ts'
import { confirmPlan, finishDialog } from './support/console-dialog.ts'
import { arrangeCustomer, signIn, typeSignIn, words } from './support/console-people.ts'
import { heading, withinWindow } from './support/console-steps.ts'

const { console: text, action, second } = words.en
const { month: monthText, own } = text

const at = {
  stage: undefined as unknown as ConsoleStage,
  browser: undefined as unknown as TestBrowser,
  provider: undefined as unknown as OidcStage,
  month: '',
}

before(async () => {
  at.browser = await openBrowser()
  at.stage = await createConsoleStage({
    pagesDirectory: join(import.meta.dirname, '../../web/console/dist'),
    async settings(consoleUrl) {
      at.provider = await createOidcStage(consoleUrl)
      return at.provider.settings
    },
  })
  await arrangeCustomer(at.stage, 'anna.petrova')
  at.month = await at.stage.modules.reports.currentMonth()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
  await at.provider.end()
})

const within = (work: (page: Page) => Promise<void>) => withinWindow(at.browser, work)
const nameOf = (month: string) =>
  new Date(month).toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

async function openMonth(page: Page, month: string, who: string): Promise<void> {
  const person = await at.stage.people.newcomer(who, 'finance')
  await page.goto(`${at.stage.consoleUrl}/months/${month}`)
  await typeSignIn(page, person, 'en')
  await heading(page, nameOf(month)).waitFor()
  await page.getByRole('heading', { name: monthText.bridge }).waitFor()
}

/** What `op month show` prints, as the owner of the machine. */
async function printed(person: { readonly token: string }, ...options: string[]): Promise<string> {
  const { out, code, err } = await at.stage.opAs(person.token, ['month', at.month, ...options])
  assert.equal(code, 0, err)
  return out
}

test('a month equals op month, also as CSV', () =>
  within(async (page) => {
    await openMonth(page, at.month, 'accountant')
    const person = await at.stage.people.newcomer('typist', 'finance')
    const { lines } = JSON.parse(await printed(person, '--json')) as {
      lines: { section: string; item: string; figure: string; unit: string; value: string }[]
    }
    const figureOf = (section: string, figure: string, unit: string) =>
      lines.find((one) => one.section === section && one.figure === figure && one.unit === unit)
        ?.value ?? ''
    const main = (await page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ')
    const closing = BigInt(figureOf('liability', 'closing', 'credits')) / 1_000_000n
    assert.ok(main.includes(`Closing ${closing.toLocaleString('en')}`), main)
    const taken = Number(figureOf('money', 'taken', 'roubles')) / 100
    assert.ok(main.includes(`Taken ₽${taken.toLocaleString('en')}.00`), main)
    assert.match(main, /Revenue by use ₽/)

    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: monthText.csv }).click()
    const file = await saved
    assert.equal(file.suggestedFilename(), `${at.month}.csv`)
    const csv = await readFile(await file.path(), 'utf8')
    assert.deepEqual(csv.trimEnd().split('\r\n'), (await printed(person, '--csv')).split('\n'))
  }))

test('a month prints on A4, black on white and without navigation', () =>
  within(async (page) => {
    await openMonth(page, at.month, 'printer')
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    assert.equal(await page.getByRole('navigation').count(), 0)
    assert.equal(await page.getByRole('button').count(), 0)
    const colours = await page.evaluate<string[]>(
      `[getComputedStyle(document.documentElement).backgroundColor,
        getComputedStyle(document.querySelector('h2')).color]`,
    )
    assert.deepEqual(colours, ['rgb(255, 255, 255)', 'rgb(0, 0, 0)'])
    const pdf = await page.pdf({ preferCSSPageSize: true })
    // A4 across, in points.
    assert.match(pdf.toString('latin1'), /MediaBox\s*\[0 0 84[12]\S* 59[45]\S*\]/)
  }))

test('a month is sealed with its plan, and what comes later is shown as a correction', () =>
  within(async (page) => {
    const late = await at.stage.person('late')
    const { id } = await at.stage.buy(late.book, { email: late.email })
    await at.stage.sim('pay', { orderId: id })
    const nextMs = Date.parse(`${at.month}-28T00:00:00Z`) + 8 * 86_400_000
    await turnClock(at.stage.db, `${Math.round((nextMs - Date.now()) / 1_000)} seconds`)
    await at.stage.db.query(
      `select ledger_partitions_make((ledger_now() at time zone 'UTC')::date)`,
    )

    await openMonth(page, at.month, 'sealer')
    await page.getByRole('button', { name: text.command.sealMonth.button }).click()
    await confirmPlan(page, 'sealMonth', { reason: 'the accountant agreed' })
    await finishDialog(page)
    await page.getByText(monthText.sealed, { exact: true }).waitFor()
    const [act] = (await at.stage.acts()).slice(-1)
    assert.equal(act?.command, `month seal ${at.month} --reason 'the accountant agreed'`)
    const digest = /[0-9a-f]{64}/.exec(act?.detail ?? '')?.[0] ?? 'none'
    await page.getByText(digest).waitFor()

    await at.stage.payments.check(id)
    await page.reload()
    await page.getByText(monthText.differs, { exact: true }).waitFor()
    await page.getByRole('heading', { name: monthText.differences }).waitFor()
    await page.getByRole('link', { name: monthText.all }).click()
    await heading(page, monthText.title).waitFor()
    const next = await at.stage.modules.reports.currentMonth()
    await page.getByRole('link', { name: nameOf(next) }).click()
    await page.getByRole('heading', { name: monthText.corrections }).waitFor()
    const table = page.getByRole('table', { name: monthText.corrections })
    await table.getByRole('row', { name: /Money · Taken .*\+₽1,300\.00/ }).waitFor()
  }))

test('an operator adds a passkey, signs in with it, and ends the other sessions', () =>
  within(async (page) => {
    await addAuthenticator(page)
    const person = await at.stage.people.newcomer('keeper', 'viewer')
    await page.goto(at.stage.consoleUrl)
    await signIn(page, person, 'en')
    await page.getByRole('button', { name: text.menu }).click()
    await page.getByRole('menuitem', { name: own.title }).click()
    await heading(page, own.title).waitFor()
    await page.getByRole('button', { name: own.add }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel(own.name).fill('Work laptop')
    await dialog.getByRole('button', { name: action.continue }).click()
    await page.getByRole('listitem').filter({ hasText: 'Work laptop' }).waitFor()

    await page.getByRole('button', { name: text.menu }).click()
    await page.getByRole('menuitem', { name: words.en.menu.signOut }).click()
    await page.getByRole('button', { name: text.signIn.passkey }).click()
    await heading(page, own.title).waitFor()
    // The session in which the app was set up is still open.
    await page.getByRole('button', { name: own.endOthers }).click()
    await page.getByRole('dialog').getByRole('button', { name: own.endOthers }).click()
    await page.getByText(own.ended).waitFor()
    assert.equal(await at.stage.staff.findSession(person.token), undefined)
    const acts = (await at.stage.acts()).filter(({ by }) => by.startsWith('keeper ('))
    assert.deepEqual(
      acts.map(({ command }) => command),
      [
        ...['sign-in by password and code', 'own passkeys add', 'sign-in by passkey'],
        'own sessions end-others',
      ],
    )
  }))

test('an operator changes the password and gets new recovery codes', () =>
  within(async (page) => {
    const person = await at.stage.people.newcomer('changer', 'viewer')
    await page.goto(`${at.stage.consoleUrl}/own`)
    await typeSignIn(page, person, 'en')
    await page.getByLabel(own.present).fill(person.password)
    await page.getByLabel(own.next).fill('another long sentence 2')
    await page.getByRole('button', { name: own.change }).click()
    await page.getByText(own.changed).waitFor()
    const again = { ...at.stage.people.caller, email: person.email }
    await at.stage.staff.signIn({ ...again, password: 'another long sentence 2' })
    await assert.rejects(at.stage.staff.signIn({ ...again, password: person.password }))

    await page.getByRole('button', { name: own.newCodes }).click()
    await page.getByRole('dialog').getByRole('button', { name: action.continue }).click()
    const codes = page.getByRole('dialog').getByRole('listitem')
    await codes.first().waitFor()
    assert.equal(await codes.count(), 10)
  }))

test('an operator signs in by the identity provider and the code of the app', () =>
  within(async (page) => {
    const person = await at.stage.people.newcomer('employee', 'support')
    const button = page.getByRole('button', { name: 'Sign in with Company' })
    at.provider.recognise({ email: 'stranger@gate.example' })
    await page.goto(at.stage.consoleUrl)
    await button.click()
    await heading(page, text.signIn.failed).waitFor()
    await page.getByText(words.en.errors.oidc_sign_in_refused).waitFor()
    assert.equal(new URL(page.url()).search, '', 'the code does not stay in the address')
    await page.getByRole('link', { name: text.signIn.back }).click()

    await page.context().clearCookies({ name: /^_/ })
    at.provider.recognise({ email: person.email })
    await button.click()
    await page.getByLabel(second.app).fill(person.code())
    await page.getByRole('button', { name: second.submit }).click()
    await heading(page, text.today.title).waitFor()
    const cookies = await page.context().cookies(at.stage.consoleUrl)
    assert.deepEqual(
      cookies.filter(({ name }) => name.startsWith('tollgate')).map(({ name }) => name),
      ['tollgate-console'],
    )
    const act = (await at.stage.acts()).findLast(({ by }) => by.startsWith('employee ('))
    assert.equal(act?.command, 'sign-in by identity provider and code')
  }))
