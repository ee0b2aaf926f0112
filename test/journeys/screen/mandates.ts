// The screens of automatic top-up; mandate-people.ts has the people on them.
import { failRequests, press, type Screen, screen, visit } from './screen.ts'

export const mandateScreens: readonly Screen[] = [
  screen('top-up-none', 'topUp', 'newcomer'),
  screen('top-up-form', 'topUp', 'saver'),
  screen('top-up-wrong', 'topUp', 'saver', async ({ page, words }) => {
    await page.getByLabel(words.topUp.dayCeiling).fill('100')
    await page.getByLabel(words.topUp.monthCeiling).fill('50')
    await press(page, words.topUp.turnOn)
    await page.getByText(words.topUp.agreeFirst).waitFor()
  }),
  screen('top-up', 'topUp', 'autopay'),
  screen('top-up-change', 'topUp', 'autopay', async ({ page, words }) => {
    await press(page, words.topUp.change)
    await page.getByLabel(words.topUp.threshold).waitFor()
  }),
  screen('top-up-forget', 'topUp', 'autopay', async ({ page, words }) => {
    await press(page, words.topUp.forget)
    await page.getByRole('dialog').waitFor()
  }),
  screen('top-up-declined', 'topUp', 'decliner', async ({ page, words }) => {
    await page.getByText(words.topUp.stopped.declined).first().waitFor()
  }),
  {
    ...screen('top-up-broken', 'topUp', 'autopay'),
    isBroken: true,
    async open(on) {
      await failRequests(on.page, '**/api/top-up/history')
      await visit(on, '/top-up')
      await on.page.getByRole('button', { name: on.words.action.again }).waitFor()
    },
  },
]
