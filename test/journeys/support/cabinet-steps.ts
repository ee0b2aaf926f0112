// Steps of a person in the account area, by the words on its buttons; and a shortcut to an account
// with a purchase, for journeys that begin there.
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { en } from '../../../web/words/en/en.ts'
import { ru } from '../../../web/words/ru/ru.ts'
import { type JourneyStage, PASSWORD } from './cabinet-stage.ts'

export const words = { ru, en } as const
export type Language = keyof typeof words

/** From the example catalogue. */
export const PACK = { id: 'pack-35m', credits: 35_000_000 } as const

export const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
export const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })

/** Matches a sentence with any values in its gaps: `Заказ на {{credits}}` fits any order. */
export function sentencePattern(sentence: string): RegExp {
  const parts = sentence.split(/\{\{\w+\}\}/).map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('.*')}$`)
}

/** Registers and opens the e-mail's link in the same browser; ends on the overview, signed in. */
export async function register(stage: JourneyStage, page: Page, email: string, language: Language) {
  const said = words[language]
  await page.goto(`${stage.url}/register`)
  await page.getByLabel(said.signIn.email).fill(email)
  await page.getByLabel(said.signIn.password, { exact: true }).fill(PASSWORD)
  await page.getByRole('checkbox').first().check()
  await button(page, said.register.submit).click()
  await page.getByRole('heading', { name: said.mail.title }).waitFor()
  const { links } = await stage.newestEmail(email, 'confirm-email')
  await page.goto(links.find((one) => one.includes('#code=')) ?? '')
  await page.getByRole('heading', { name: said.home.title, level: 1 }).waitFor()
}

/** Chooses the pack and goes to the provider's page. */
export async function orderPack(
  stage: JourneyStage,
  page: Page,
  method: 'sbp' | 'card',
  language: Language,
) {
  const said = words[language]
  await page.goto(`${stage.url}/packs`)
  await page.locator(`input[name=pack][value=${PACK.id}]`).check()
  await page.getByLabel(said.method[method]).check()
  await page.getByRole('button', { name: sentencePattern(said.packs.pay) }).click()
  await page.waitForURL(/\/(?:pay|sbp)\//)
}

/** What the copy button copied, read by pasting it. */
export async function pasteClipboard(page: Page): Promise<string> {
  const other = await page.context().newPage()
  await other.setContent('<textarea></textarea>')
  await other.locator('textarea').focus()
  await other.keyboard.press('Control+V')
  const value = await other.locator('textarea').inputValue()
  await other.close()
  await page.bringToFront()
  return value
}

/** Presses the key's own copy button and checks the shape of the key. */
export async function copyKey(page: Page, language: Language): Promise<string> {
  await button(page, words[language].key.copy).click()
  await page.getByRole('button', { name: words[language].copy.done }).waitFor()
  const plain = await pasteClipboard(page)
  assert.match(plain, /^sk-vendor-api03-[\w-]{68}$/)
  return plain
}

/** Creates the key on its page; ends when this browser keeps it. */
export async function createKey(
  stage: Pick<JourneyStage, 'url'>,
  page: Page,
  language: Language = 'ru',
) {
  const said = words[language]
  await page.goto(`${stage.url}/key`)
  await button(page, said.key.create).click()
  await page.getByText(said.key.created, { exact: true }).waitFor()
}

/** Reissues it; the proofs are old, so the password is asked for first. */
export async function reissueKey(page: Page, language: Language): Promise<void> {
  const said = words[language]
  await button(page, said.key.reissue).click()
  const asked = page.getByRole('dialog', { name: said.key.reissueTitle })
  await asked.getByRole('button', { name: said.key.reissueConfirm }).click()
  await confirmIdentity(page, language)
  await page.getByText(said.key.reissued, { exact: true }).waitFor()
}

/** Answers the dialog that asks for the password when the proofs are old. */
export async function confirmIdentity(page: Page, language: Language): Promise<void> {
  const said = words[language]
  const dialog = page.getByRole('dialog', { name: said.stepUp.title })
  await dialog.getByLabel(said.signIn.password, { exact: true }).fill(PASSWORD)
  await dialog.getByRole('button', { name: said.stepUp.submit, exact: true }).click()
}

type Answer = { readonly status: number; readonly body: Record<string, unknown> }

/** A call as the page's own script makes it, with the page's cookies and origin. */
export function callFrom(page: Page, path: string, body: object): Promise<Answer> {
  return page.evaluate(
    async ([address, text]) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(address, { method: 'POST', headers, body: text })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    },
    [path, JSON.stringify(body)] as const,
  )
}

async function mustCall(page: Page, path: string, body: object): Promise<Record<string, unknown>> {
  const said = await callFrom(page, path, body)
  assert.equal(said.status, 200, `${path}: ${JSON.stringify(said.body)}`)
  return said.body
}

/** Creates a confirmed account, signed in in this window, by default with a purchase. */
export async function createSignedInAccount(
  stage: JourneyStage,
  page: Page,
  name: string,
  has: { readonly bought: boolean } = { bought: true },
): Promise<string> {
  const email = `${name}@example.org`
  await page.goto(`${stage.url}/sign-in`)
  const consents = [{ document: 'offer', version: '2026-11-01' }]
  const person = { email, password: PASSWORD, language: 'ru', consents }
  await mustCall(page, '/api/auth/register', person)
  const { text } = await stage.newestEmail(email, 'confirm-email')
  const code = /#code=([\w-]+)/.exec(text)?.[1]
  await mustCall(page, '/api/auth/confirm', { code, password: PASSWORD })
  if (!has.bought) return email
  const attempt = `settle-${name}`
  const { id } = await mustCall(page, '/api/orders', { pack: PACK.id, method: 'card', attempt })
  await stage.sim('pay', { orderId: id })
  await stage.newestEmail(email, 'payment-credited')
  return email
}
