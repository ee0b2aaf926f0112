// Steps that journeys through the console share: a window in English, and the dialog of a command
// with its plan.
import type { Page } from 'playwright-core'
import type { TestBrowser } from './browser.ts'
import { words } from './console-people.ts'

const { console: text, action } = words.en

/** The names of actions, whose words name their buttons. */
type ActionWords = {
  [Name in keyof typeof text.command]: (typeof text.command)[Name] extends { submit: string }
    ? Name
    : never
}[keyof typeof text.command]

export const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** A window in English, closed after the work; its console stays empty. */
export async function withinWindow(
  browser: TestBrowser,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  const opened = await browser.open('desktop', { language: 'en' })
  try {
    await work(opened.page)
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
}

/** Fills the dialog of an action, reads its plan and confirms it. */
export async function confirm(
  page: Page,
  name: ActionWords,
  fields: { readonly reason?: string; readonly amount?: string } = {},
): Promise<void> {
  const dialog = page.getByRole('dialog')
  if (fields.amount !== undefined) {
    await dialog.getByLabel(text.command.roubles).fill(fields.amount)
  }
  if (fields.reason !== undefined) {
    await dialog.getByLabel(text.command.reason).fill(fields.reason)
    await dialog.getByRole('button', { name: text.command.plan }).click()
  }
  await dialog.getByLabel(text.command.planLabel).waitFor()
  await dialog.getByRole('button', { name: text.command[name].submit, exact: true }).click()
}

/** Waits until the command is done, and closes its dialog. */
export async function done(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('status').getByText(text.command.state.done).waitFor()
  await dialog.getByRole('button', { name: action.done }).click()
}
