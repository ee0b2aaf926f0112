// What the console shows in journeys and screenshots: a customer with a purchase, a key, requests
// and a session, and operators who sign in through the pages.
import type { Page } from 'playwright-core'
import { requestIdOf } from '../../../src/platform/ids.ts'
import { en } from '../../../web/console/words/en.ts'
import { ru } from '../../../web/console/words/ru.ts'
import type { ConsoleStage } from '../../stages/console.ts'

export const words = { ru, en } as const
export type Language = keyof typeof words

export type Customer = Awaited<ReturnType<typeof arrangeCustomer>>

/** A customer whose last request cost 1 287 credits. */
export async function arrangeCustomer(stage: ConsoleStage, name: string) {
  const person = await stage.person(name)
  const { id: order } = await stage.buyPack(person)
  const { body: key } = await person.expectOk<{ id: string }>('POST /api/key')
  await person.expectOk(`POST /api/key/${key.id}/confirm`)
  const sessionId = `0b6f2a52-6a1c-4f7e-9c35-${String(person.book).padStart(12, '0')}`
  for (const credits of [52_000, 310, 1_287]) await stage.spend(person.book, credits, { sessionId })
  await stage.ledger.aggregateUsage()
  const charges = (await stage.entries(person.book)).filter(({ kind }) => kind === 'charge')
  const hold = charges.at(-1)?.holdId
  if (hold === undefined || hold === null) throw new Error('the customer has no charge')
  return { book: person.book, email: person.email, order, request: requestIdOf(hold) }
}

export type Person = { readonly email: string; readonly password: string; code(): string }

/** Signs in through the pages, password and then the code of the app, and waits for Today. */
export async function signIn(page: Page, person: Person, language: Language): Promise<void> {
  await typeSignIn(page, person, language)
  const { today } = words[language].console
  await page.getByRole('heading', { level: 1, name: today.title }).waitFor()
}

/** The same where another page asked for it, which opens then. */
export async function typeSignIn(page: Page, person: Person, language: Language): Promise<void> {
  const { signIn: account, second, console: own } = words[language]
  await page.getByLabel(account.email).fill(person.email)
  await page.getByLabel(account.password, { exact: true }).fill(person.password)
  await page.getByRole('button', { name: own.signIn.submit }).click()
  await page.getByLabel(second.app).fill(person.code())
  await page.getByRole('button', { name: second.submit }).click()
}
