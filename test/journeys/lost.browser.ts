// An owner in a browser who lost the authenticator begins a recovery, waits and completes it; a
// signed-in browser and the link of a warning stop one; and an operator helps with a lost mailbox.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { freePorts } from '../../tools/free-port.ts'
import { PASSWORD, totpCode } from '../stages/accounts.ts'
import type { Person } from '../stages/cabinet.ts'
import { createOperatorStage, type OperatorStage } from '../stages/operator.ts'
import { ageRecovery } from '../stages/recovery.ts'
import {
  assertFitsAndAccessible,
  openBrowser,
  type TestBrowser,
  type WindowName,
} from './support/browser.ts'
import { button, words } from './support/cabinet-steps.ts'

const WAIT_HOURS = 72
const at = {
  stage: undefined as unknown as OperatorStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  const [port = 0] = await freePorts(1)
  at.browser = await openBrowser()
  const pagesDirectory = join(import.meta.dirname, '../../web/dist')
  at.stage = await createOperatorStage({ port, pagesDirectory })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

type Language = 'ru' | 'en'

async function within(
  window: WindowName,
  language: Language,
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
  const text = (rows[0] as { text: string } | undefined)?.text ?? ''
  return /^https?:\S+#code=\S+$/m.exec(text)?.[0] ?? ''
}

async function careful(name: string, language: Language): Promise<Person> {
  const own = await at.stage.person(name, language)
  const { body } = await own.expectOk<{ uri: string }>('POST /api/auth/two-factor/enable', {
    password: PASSWORD,
  })
  await own.expectOk('POST /api/auth/two-factor/verify-totp', { code: totpCode(body.uri) })
  return own
}

/** Signs in with the password, says that the app is lost, and opens the e-mailed link. */
async function askForLink(page: Page, language: Language, email: string): Promise<void> {
  const said = words[language]
  await page.goto(`${at.stage.url}/sign-in`)
  await page.getByLabel(said.signIn.email).fill(email)
  await page.getByLabel(said.signIn.password, { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await button(page, said.lostFactor.open).press('Enter')
  await page.getByText(said.lostFactor.title).waitFor()
  await assertFitsAndAccessible(page, 'the step without an authenticator')
  await button(page, said.lostFactor.send).press('Enter')
  await page.getByText(said.lostFactor.sent).waitFor()
  await page.goto('about:blank')
  await page.goto(await linkTo(email, 'recovery-link'))
}

async function enterPassword(page: Page, language: Language): Promise<void> {
  await page.getByLabel(words[language].signIn.password, { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
}

for (const [window, language] of [
  ['desktop', 'en'],
  ['phone', 'ru'],
] as const) {
  const said = words[language]

  test(`a lost authenticator: link, wait, end, in ${language} on a ${window}`, async () => {
    const own = await careful(`lost-${language}`, language)
    await within(window, language, async (page) => {
      await askForLink(page, language, own.email)
      await page.getByRole('heading', { name: said.recovery.title }).waitFor()
      await assertFitsAndAccessible(page, 'the page that begins a recovery')
      await enterPassword(page, language)
      await page.getByRole('heading', { name: said.recovery.waitTitle }).waitFor()
      await assertFitsAndAccessible(page, 'the page while a recovery waits')
    })
    assert.match(await linkTo(own.email, 'recovery-opened'), /stop-recovery#code=/)
    await ageRecovery(at.stage.db, own.email, WAIT_HOURS)
    await within(window, language, async (page) => {
      await askForLink(page, language, own.email)
      await page.getByRole('heading', { name: said.recovery.ripeTitle }).waitFor()
      await assertFitsAndAccessible(page, 'the page that completes a recovery')
      await enterPassword(page, language)
      await page.getByRole('heading', { name: said.recovery.doneTitle }).waitFor()
    })
    assert.equal(await own.refusal('GET /api/me'), '401 session_missing')
    const back = at.stage.browser()
    const { body } = await back.expectOk('POST /api/auth/sign-in/email', {
      email: own.email,
      password: PASSWORD,
    })
    assert.equal(body.status, 'signed_in')
  })

  test(`a banner and a letter stop it, in ${language} on a ${window}`, async () => {
    for (const way of ['banner', 'letter'] as const) {
      const own = await careful(`${way}-${language}`, language)
      await within(window, language, async (page) => {
        await askForLink(page, language, own.email)
        await enterPassword(page, language)
        await page.getByRole('heading', { name: said.recovery.waitTitle }).waitFor()
      })
      const link = await linkTo(own.email, 'recovery-opened')
      if (way === 'banner') {
        await within(
          window,
          language,
          async (page) => {
            await page.goto(`${at.stage.url}/settings`)
            await page.getByText(said.recoveryBanner.title).waitFor()
            await assertFitsAndAccessible(page, 'the banner about a recovery')
            await button(page, said.recoveryBanner.stop).press('Enter')
            await page.getByText(said.recoveryBanner.done).first().waitFor()
            await page.getByText(said.recoveryBanner.title).waitFor({ state: 'detached' })
          },
          own,
        )
      }
      await within(window, language, async (page) => {
        await page.goto(link)
        await button(page, said.stopRecovery.submit).waitFor()
        await assertFitsAndAccessible(page, 'the page that stops a recovery')
        await button(page, said.stopRecovery.submit).press('Enter')
        const title = way === 'banner' ? said.recovery.spentTitle : said.stopRecovery.doneTitle
        await page.getByRole('heading', { name: title }).waitFor()
      })
      assert.equal(await at.stage.accounts.recovery.living(own.account), undefined)
    }
  })

  test(`a lost mailbox, with an operator, in ${language} on a ${window}`, async () => {
    const own = await at.stage.person(`mailbox-${language}`, language)
    const order = await at.stage.buyPack(own)
    const { body: key } = await own.expectOk<{ id: string; plain: string }>('POST /api/key')
    await own.expectOk(`POST /api/key/${key.id}/confirm`)
    const paid = `${BigInt(order.priceKopecks) / 100n}.00 ${order.creditedAt?.slice(0, 10)}`
    const checked = await at.stage.op(
      ['recover', 'check', own.email, '--payment', '--key'],
      (question) => (/payment/.test(question) ? paid : key.plain),
    )
    assert.equal(checked.out, 'payment matches, key matches', checked.err)
    const newEmail = `mailbox-${language}-new@example.org`
    const because = ['--reason', 'ticket 319', '--yes']
    const begun = await at.stage.op([
      ...['recover', 'begin', own.email, '--mailbox', newEmail],
      ...because,
    ])
    assert.equal(begun.code, 0, begun.err)
    await within(window, language, async (page) => {
      await page.goto(await linkTo(newEmail, 'recovery-confirm'))
      await button(page, said.confirmRecovery.submit).waitFor()
      await assertFitsAndAccessible(page, 'the page that confirms the new mailbox')
      await button(page, said.confirmRecovery.submit).press('Enter')
      await page.getByRole('heading', { name: said.recovery.waitTitle }).waitFor()
    })
    assert.match(await linkTo(own.email, 'recovery-opened'), /stop-recovery#code=/)
    await ageRecovery(at.stage.db, own.email, WAIT_HOURS)
    await at.stage.accounts.recovery.run()
    await within(window, language, async (page) => {
      await page.goto(await linkTo(newEmail, 'recovery-ready'))
      await button(page, said.finishRecovery.submit).waitFor()
      await assertFitsAndAccessible(page, 'the page that gives the new address')
      await button(page, said.finishRecovery.submit).press('Enter')
      await page.getByRole('heading', { name: said.finishRecovery.doneTitle }).waitFor()
    })
    assert.equal((await at.stage.accounts.find(own.account))?.email, newEmail)
    assert.match(await linkTo(newEmail, 'reset-password'), /reset#code=/)
    assert.match(await linkTo(own.email, 'email-change-undo'), /undo-email#code=/)
  })
}
