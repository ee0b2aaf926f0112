// The screens of buying: packs, orders in every state, the history, refunds, promo codes.
import { paths } from '../../../web/paths.ts'
import { declinedReasons, type Orders } from './orders.ts'
import {
  failRequests,
  press,
  type Screen,
  type ScreenContext,
  screen,
  visit,
  waitUntilLoaded,
} from './screen.ts'

const packs: readonly Screen[] = [
  screen('packs', 'packs', 'regular'),
  screen('packs-newcomer', 'packs', 'newcomer'),
  screen('packs-debt', 'packs', 'debtor'),
  screen('packs-chosen', 'packs', 'newcomer', async ({ page }) => {
    await page.getByRole('radio').nth(1).check()
    await page.getByRole('radio', { name: /СБП|SBP/ }).check()
    // On a phone the prices are collapsed.
    const more = page.locator('details summary')
    if (await more.isVisible()) await more.click()
  }),
  screen('packs-promo-wrong', 'packs', 'newcomer', async ({ page, words }) => {
    await press(page, words.promo.apply)
    await page.getByText(words.promo.missing).waitFor()
  }),
  {
    ...screen('packs-closed', 'packs', 'newcomer'),
    async open(on) {
      await on.page.route('**/api/brand', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), isSelling: false } })
      })
      await visit(on, paths.packs)
      await on.page.getByText(on.words.packs.closed).waitFor()
    },
  },
  {
    ...screen('packs-unavailable', 'packs', 'newcomer'),
    isBroken: true,
    async open(on) {
      await visit(on, paths.packs)
      await failRequests(on.page, '**/api/orders')
      await on.page.getByRole('button', { name: /1.?300/ }).click()
      await on.page.getByRole('alert').filter({ hasText: /\S/ }).first().waitFor()
    },
  },
]

type Find = (orders: Orders) => string

function order(name: string, find: Find, steps?: (on: ScreenContext) => Promise<void>): Screen {
  return {
    ...screen(`order-${name}`, 'order', 'shopper'),
    async open(on) {
      await visit(on, paths.order.replace('$id', find(on.people.orders)))
      await steps?.(on)
    },
  }
}

const states = [
  ...(['created', 'pending', 'sbp', 'failed', 'expired', 'review', 'credited'] as const),
  ...(['refund_pending', 'partially_refunded', 'refunded'] as const),
  ...(['disputed', 'dispute_won', 'dispute_lost'] as const),
]

export const orderScreens: readonly Screen[] = [
  ...states.map((state) => order(state, (all) => all.states[state])),
  ...declinedReasons.map((reason) => order(`declined-${reason}`, (all) => all.declined[reason])),
  order(
    'bank',
    (all) => all.states.pending,
    async ({ page, words, people }) => {
      // The state that the redirect to the payment page leaves behind.
      await page.evaluate(
        `sessionStorage.setItem('left-to-pay:${people.orders.states.pending}', 'yes')`,
      )
      await page.reload()
      await waitUntilLoaded(page)
      await page.getByText(words.order.state.bank).waitFor()
    },
  ),
  order(
    'refund',
    (all) => all.states.credited,
    async ({ page, words }) => {
      await press(page, words.refund.action)
      await page.getByText(words.refund.when).waitFor()
    },
  ),
  order(
    'copy-failed',
    (all) => all.states.credited,
    async ({ page, words }) => {
      await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("no"))')
      await press(page, words.copy.copy)
      await page.getByText(words.copy.failed).waitFor()
    },
  ),
  {
    ...screen('order-unknown', 'order', 'newcomer'),
    open: (on) => visit(on, paths.order.replace('$id', `pay_${'0'.repeat(32)}`)),
  },
]

const payments: readonly Screen[] = [
  screen('payments', 'payments', 'regular'),
  screen('payments-full', 'payments', 'shopper'),
  screen('payments-none', 'payments', 'newcomer'),
  screen('payments-spent', 'payments', 'empty', async ({ page, words }) => {
    await page.getByText(words.order.short.spent, { exact: true }).waitFor()
  }),
  {
    ...screen('payments-broken', 'payments', 'newcomer'),
    isBroken: true,
    async open(on) {
      await failRequests(on.page, '**/api/orders')
      await visit(on, paths.payments)
      await on.page.getByRole('button', { name: on.words.action.again }).waitFor()
    },
  },
]

export const moneyScreens: readonly Screen[] = [...packs, ...payments]
