// The public screens, and those for usage and limits.
import { paths } from '../../../web/paths.ts'
import { type Screen, screen, visit } from './screen.ts'

export const siteScreens: readonly Screen[] = [
  screen('front', 'home', 'guest'),
  screen('prices', 'prices', 'guest'),
  screen('charging', 'charging', 'guest'),
  screen('start', 'start', 'guest'),
  screen('status', 'status', 'guest'),
  {
    ...screen('docs', 'docs', 'guest'),
    open: (on) => visit(on, paths.docs.replace('$page', 'claude-code')),
  },
  screen('docs-home', 'docsHome', 'guest', async ({ page, words }) => {
    await page.getByRole('button', { name: words.docs.search }).click()
    await page.getByRole('combobox', { name: words.docs.search }).fill('key_unknown')
    await page.locator('[role=option]').first().waitFor()
  }),
  screen('usage', 'usage', 'regular'),
  screen('usage-table', 'usage', 'regular', async ({ page, words }) => {
    await page.getByText(words.usage.chart.asTable, { exact: true }).click()
    await page.getByRole('table', { name: words.usage.table.title }).waitFor()
  }),
  screen('usage-request', 'usage', 'regular', async ({ page, words }) => {
    await page.locator('table button[aria-expanded]').first().click()
    await page.getByText(words.usage.one.balanceAfter).waitFor()
  }),
  screen('usage-empty', 'usage', 'payer'),
  screen('sessions', 'sessions', 'regular'),
  screen('limits', 'limits', 'regular'),
]
