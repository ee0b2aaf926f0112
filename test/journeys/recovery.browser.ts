// An owner in a browser proves what is missing, with the keyboard alone; takes the account back
// after a password reset by dropping what a thief may have made; and undoes a new address.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { freePorts } from '../../tools/free-port.ts'
import { ageProofs, nextCode, PASSWORD, totpCode } from '../stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../stages/cabinet.ts'
import { addPasskey, issueKey } from '../stages/cabinet-owner.ts'
import {
  assertFitsAndAccessible,
  openBrowser,
  type TestBrowser,
  type WindowName,
} from './support/browser.ts'
import { button, words } from './support/cabinet-steps.ts'

const NEW = 'a storm from the west'
const at = {
  stage: undefined as unknown as CabinetStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  const [port = 0] = await freePorts(1)
  at.browser = await openBrowser()
  const pagesDirectory = join(import.meta.dirname, '../../web/dist')
  at.stage = await createCabinetStage({ port, pagesDirectory })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

async function within(
  window: WindowName,
  language: 'ru' | 'en',
  work: (page: Page) => Promise<void>,
  person?: Person,
): Promise<void> {
  const opened = await at.browser.open(window, { language })
  const { url } = at.stage
  const cookies = [...(person?.jar ?? [])].map(([name, value]) => ({ name, value, url }))
  await opened.context.addCookies(cookies)
  try {
    await work(opened.page)
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
}

async function linkTo(recipient: string, kind: string): Promise<string> {
  const { rows } = await at.stage.db.query(
    `select body_text as text from letters where recipient = $1 and kind = $2
     order by posted_at desc limit 1`,
    [recipient, kind],
  )
  return /^https?:\S+#code=\S+$/m.exec((rows[0] as { text: string }).text)?.[0] ?? ''
}

for (const [window, language] of [
  ['desktop', 'en'],
  ['phone', 'ru'],
] as const) {
  test(`the dialog asks for password and code, in ${language} on a ${window}`, async () => {
    const { stage } = at
    const said = words[language]
    const own = await stage.person(`prover-${language}`, language)
    const { body } = await own.expectOk<{ uri: string }>('POST /api/auth/two-factor/enable', {
      password: PASSWORD,
    })
    await own.expectOk('POST /api/auth/two-factor/verify-totp', { code: totpCode(body.uri) })
    await ageProofs(stage.db, '1 day', own.email)
    await within(
      window,
      language,
      async (page) => {
        await page.goto(`${stage.url}/settings`)
        await page.getByLabel(said.settings.emailNew).fill(`new-${own.email}`)
        await page.keyboard.press('Enter')
        const dialog = page.getByRole('dialog', { name: said.stepUp.title })
        await dialog.waitFor()
        await assertFitsAndAccessible(page, 'the dialog with the password')
        // The field has the focus, so the owner only types.
        await page.keyboard.type('not the password')
        await page.keyboard.press('Enter')
        await dialog.getByText(said.errors.password_wrong).waitFor()
        await dialog.getByLabel(said.signIn.password, { exact: true }).fill(PASSWORD)
        await page.keyboard.press('Enter')
        await dialog.getByLabel(said.second.app).waitFor()
        await assertFitsAndAccessible(page, 'the dialog with the code')
        await page.keyboard.type(nextCode(body.uri))
        await page.keyboard.press('Enter')
        await page.getByText(said.settings.emailSentTitle).waitFor()
      },
      own,
    )
    assert.ok((await linkTo(`new-${own.email}`, 'confirm-new-email')).includes('/email#code='))
  })

  test(`after a reset the owner drops a passkey, in ${language} on a ${window}`, async () => {
    const { stage } = at
    const said = words[language]
    const own = await stage.person(`reset-${language}`, language)
    await stage.buyPack(own)
    await issueKey(own)
    await addPasskey(own, 'Own', stage.url)
    await addPasskey(own, 'Planted', stage.url)
    await stage.db.query(
      `update passkeys set created_at = created_at - interval '90 days' where name = 'Own'`,
    )
    await stage.browser().expectOk('POST /api/auth/request-password-reset', { email: own.email })
    await within(window, language, async (page) => {
      await page.goto(await linkTo(own.email, 'reset-password'))
      await page.getByLabel(said.reset.password).fill(NEW)
      await page.keyboard.press('Enter')
      await page.getByLabel(said.signIn.email).fill(own.email)
      await page.getByLabel(said.signIn.password, { exact: true }).fill(NEW)
      await page.keyboard.press('Enter')
      await page.getByText(said.review.question).waitFor()
      const planted = page.getByRole('checkbox', {
        name: said.review.passkey.replace('{{name}}', 'Planted'),
      })
      await planted.waitFor()
      assert.ok(await planted.isChecked())
      assert.equal(await page.getByText('Own', { exact: false }).count(), 0, 'older than the day')
      await assertFitsAndAccessible(page, 'the review')
      // The owner made the key; with the keyboard it is kept.
      await page.getByRole('checkbox', { name: /API/ }).focus()
      await page.keyboard.press('Space')
      await button(page, said.review.drop_one.replace('{{count}}', '1')).press('Enter')
      await page.getByText(said.review.done).first().waitFor()
    })
    const session = stage.browser()
    await session.expectOk('POST /api/auth/sign-in/email', { email: own.email, password: NEW })
    const { body: left } = await session.expectOk<{ passkeys: { name: string }[] }>(
      'GET /api/passkeys',
    )
    assert.deepEqual(
      left.passkeys.map(({ name }) => name),
      ['Own'],
    )
    const { body: state } = await session.expectOk<{ state: string }>('GET /api/key')
    assert.equal(state.state, 'active')
  })

  test(`the old mailbox undoes a new address, in ${language} on a ${window}`, async () => {
    const { stage } = at
    const said = words[language]
    const own = await stage.person(`moved-${language}`, language)
    const newEmail = `moved-${language}-two@example.org`
    await own.expectOk('POST /api/auth/email/change', { newEmail })
    const confirmation = new URL(await linkTo(newEmail, 'confirm-new-email'))
    const code = confirmation.hash.replace('#code=', '')
    await own.expectOk('POST /api/auth/email/confirm', { code })
    await within(
      window,
      language,
      async (page) => {
        await page.goto(`${stage.url}/settings`)
        await page.getByText(said.settings.emailRecentTitle).waitFor()
      },
      own,
    )
    await within(window, language, async (page) => {
      const link = await linkTo(own.email, 'email-change-undo')
      await page.goto(link)
      await button(page, said.undoEmail.submit).waitFor()
      await assertFitsAndAccessible(page, 'the page that undoes a change')
      await button(page, said.undoEmail.submit).press('Enter')
      await page.getByRole('heading', { name: said.undoEmail.doneTitle }).waitFor()
      await page.goto('about:blank')
      await page.goto(link)
      await button(page, said.undoEmail.submit).click()
      await page.getByRole('heading', { name: said.undoEmail.spentTitle }).waitFor()
    })
    assert.equal(await own.refusal('GET /api/me'), '401 session_missing')
    assert.ok((await linkTo(own.email, 'reset-password')).includes('/reset#code='))
  })
}
