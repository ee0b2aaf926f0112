// The screens of the key: why there is none, one in this browser or elsewhere, new ones, lost ones.

import { revokeKey } from './people.ts'
import { press, type Screen, type ScreenContext, screen, withPreparation } from './screen.ts'

const heading = (name: (on: ScreenContext) => string) => async (on: ScreenContext) => {
  await on.page.getByText(name(on)).first().waitFor()
}

async function issue({ page, words }: ScreenContext): Promise<void> {
  await press(page, words.key.create)
}

/** On a second visit in one browser, the unfinished key of the first is already there. */
async function breakOff({ page, words }: ScreenContext): Promise<void> {
  const left = page.getByText(words.key.unfinished)
  const create = page.getByRole('button', { name: words.key.create })
  await create.or(left).first().waitFor()
  if (await create.isVisible()) await create.click()
  await left.waitFor()
}

export const keyScreens: readonly Screen[] = [
  screen(
    'key',
    'key',
    'regular',
    heading(({ words }) => words.start.title),
  ),
  screen('key-shown', 'key', 'regular', async ({ page, words }) => {
    await press(page, words.key.show)
    await page.getByRole('button', { name: words.key.hide, exact: true }).waitFor()
  }),
  screen('key-example', 'key', 'regular', async ({ page, words }) => {
    const tab = page.getByRole('tab', { name: words.start.tabs.claudeCode })
    // On a phone the clients are a list to choose from.
    if (await tab.isVisible()) await tab.click()
    else await page.getByLabel(words.start.clients).selectOption('claudeCode')
  }),
  screen('key-reissue', 'key', 'regular', async ({ page, words }) => {
    await press(page, words.key.reissue)
    await page.getByRole('dialog').waitFor()
  }),
  screen('key-revoke', 'key', 'regular', async ({ page, words }) => {
    await press(page, words.key.revoke)
    await page.getByRole('dialog').waitFor()
  }),
  screen(
    'key-waiting',
    'key',
    'keyed',
    heading(({ words }) => words.start.waiting),
  ),
  screen(
    'key-locked',
    'key',
    'newcomer',
    heading(({ words }) => words.key.locked),
  ),
  screen(
    'key-none',
    'key',
    'payer',
    heading(({ words }) => words.key.none),
  ),
  screen(
    'key-elsewhere',
    'key',
    'elsewhere',
    heading(({ words }) => words.key.absent),
  ),
  screen('key-pasted-wrong', 'key', 'elsewhere', async ({ page, words, people }) => {
    await page.getByLabel(words.key.paste, { exact: true }).fill(people.regular.plain ?? '')
    await press(page, words.key.pasteAction)
    await page.getByText(words.key.pasteWrong).waitFor()
  }),
  withPreparation(
    screen('key-created', 'key', 'issuer', async (on) => {
      await issue(on)
      await on.page.getByText(on.words.key.created, { exact: true }).waitFor()
    }),
    ({ people }) => revokeKey(people.issuer),
  ),
  screen('key-reissued', 'key', 'replacer', async ({ page, words }) => {
    await press(page, words.key.reissue)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: words.key.reissueConfirm }).click()
    await page.getByText(words.key.reissued, { exact: true }).waitFor()
    await dialog.waitFor({ state: 'detached' })
  }),
  {
    ...withPreparation(
      screen('key-unfinished', 'key', 'unfinished', breakOff),
      async ({ page }) => {
        await page.route('**/api/key/*/confirm', (route) => route.abort())
      },
    ),
    isBroken: true,
  },
  screen(
    'key-closed',
    'key',
    'closed',
    heading(({ words }) => words.key.closed),
  ),
  screen('key-unkept', 'key', 'unkept', async (on) => {
    await issue(on)
    await on.page.getByText(on.words.key.notKeptTick).waitFor()
  }),
  screen('key-step-up', 'key', 'stale', async ({ page, words }) => {
    await press(page, words.key.reissue)
    await page.getByRole('dialog').getByRole('button', { name: words.key.reissueConfirm }).click()
    await page.getByRole('heading', { name: words.stepUp.title }).waitFor()
  }),
]
