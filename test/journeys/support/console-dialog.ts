// The dialog of a command in the console: its fields, its plan, its end.
import type { Page } from 'playwright-core'
import type { Action } from '../../../web/console/command/actions.ts'
import { words } from './console-people.ts'

const { console: text, action } = words.en

/** Fills the dialog of an action, reads its plan and confirms it; returns the plan. */
export async function confirmPlan(
  page: Page,
  name: Action['name'],
  fields: { readonly reason?: string; readonly amount?: string; readonly until?: string } = {},
): Promise<string> {
  const dialog = page.getByRole('dialog')
  if (fields.amount !== undefined) {
    await dialog.getByLabel(text.command.roubles).fill(fields.amount)
  }
  if (fields.until !== undefined) await dialog.getByLabel(text.command.until).fill(fields.until)
  if (fields.reason !== undefined) {
    await dialog.getByLabel(text.command.reason).fill(fields.reason)
    await dialog.getByRole('button', { name: text.command.plan }).click()
  }
  const plan = dialog.getByLabel(text.command.planLabel)
  await plan.waitFor()
  const shown = await plan.innerText()
  await dialog.getByRole('button', { name: text.command[name].submit, exact: true }).click()
  return shown
}

/** Waits until the command is done, and closes its dialog. */
export async function finishDialog(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('status').getByText(text.command.state.done).waitFor()
  await dialog.getByRole('button', { name: action.done }).click()
}
