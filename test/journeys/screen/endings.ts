// The screens of pages that wait, of accounts that end or are recovered, of receipts, and of the
// service's outages. The answers of the server are made up: each of these states lasts for a moment
// or for days, and the faults programs and journeys provoke the real ones.
import type { Page } from 'playwright-core'
import type { Closing } from '../../../src/cabinet/contract/closing.ts'
import type { Me, OrderWithRefunds } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../../web/paths.ts'
import {
  press,
  type Screen,
  type ScreenContext,
  screen,
  visit,
  withPreparation,
  words,
} from './screen.ts'
import { incident, troubledStatus } from './status-answers.ts'

type Change<Answer> = (answer: Answer, on: ScreenContext) => unknown

/** From now on the pages get this answer in place of the server's. */
async function alter<Answer>(on: ScreenContext, address: string, change: Change<Answer>) {
  await on.page.route(address, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: change((await response.json()) as Answer, on) })
  })
}

async function answer(page: Page, address: string, json: unknown): Promise<void> {
  await page.route(address, (route) => route.fulfill({ json }))
}

const at = (time: string) => `2026-11-18T${time}:00.000Z`
const credits = (whole: string) => ({ whole, exact: whole })

const closing: Closing = {
  preview: null,
  process: {
    ...{ step: 'drained', unspent: 'refund', begunBy: 'owner', begunAt: at('09:12') },
    ...{ drainedAt: at('09:14'), refundedAt: null, canStop: false },
    ...{ payableOrders: 0, disputedOrders: 0 },
    ...{ held: credits('0'), available: credits('0') },
    refunds: [
      {
        ...{ id: 'ref_1', order: `pay_${'1'.repeat(32)}`, amountKopecks: '74286' },
        ...{ credits: credits('20000000'), state: 'returned', at: at('09:14'), againAt: null },
      },
      {
        ...{ id: 'ref_2', order: `pay_${'2'.repeat(32)}`, amountKopecks: '345000' },
        ...{ credits: credits('100000000'), state: 'again', at: at('09:14'), againAt: at('10:14') },
      },
      {
        ...{ id: 'ref_3', order: `pay_${'3'.repeat(32)}`, amountKopecks: '130000' },
        ...{ credits: credits('35000000'), state: 'review', at: at('09:14'), againAt: null },
      },
    ],
  },
}

/** The key is held by requests that run; the owner may still stop. */
const begun: Closing = {
  preview: null,
  process: {
    ...{ step: 'closing', unspent: 'refund', begunBy: 'owner', begunAt: at('09:12') },
    ...{ drainedAt: null, refundedAt: null, canStop: true, payableOrders: 1, disputedOrders: 0 },
    ...{ held: credits('640000'), available: credits('34360000'), refunds: [] },
  },
}

const isClosing = (on: ScreenContext) =>
  alter<Me>(on, '**/api/me', (me) => ({ ...me, isClosing: true }))

const recovery = (on: ScreenContext) =>
  alter<Me>(on, '**/api/me', (me) => ({
    ...me,
    recovery: { lost: 'mailbox', newEmail: 'another.address@example.org', ripeAt: at('09:05') },
  }))

const closed: readonly Screen[] = [
  withPreparation(screen('privacy-closing', 'privacy', 'regular'), async (on) => {
    await isClosing(on)
    await answer(on.page, '**/api/closing', begun)
  }),
  withPreparation(screen('privacy-closing-refunds', 'privacy', 'regular'), async (on) => {
    await isClosing(on)
    await answer(on.page, '**/api/closing', closing)
  }),
  withPreparation(screen('home-closing', 'home', 'regular'), isClosing),
  withPreparation(screen('home-recovery', 'home', 'regular'), recovery),
]

type Receipts = OrderWithRefunds['receipts']

function receiptsOf(sum: string): Receipts {
  const fiscal = (document: string, sign: string, time: string) => ({
    ...{ document, storage: '9960440300000001', sign, registeredAt: at(time) },
    qr: `t=20261118T0900&s=1300.00&fn=9960440300000001&i=${document}&fp=${sign}&n=1`,
    url: 'https://receipts.example.org/check',
  })
  return [
    {
      ...{ id: 'rcp_1', kind: 'prepayment', amountKopecks: sum, state: 'registered' },
      ...{ createdAt: at('09:00'), usedUntil: null, fiscal: fiscal('4512', '2861094513', '09:01') },
    },
    {
      ...{ id: 'rcp_2', kind: 'completion', amountKopecks: '42318', state: 'registered' },
      ...{ createdAt: at('09:30'), usedUntil: at('20:59') },
      fiscal: fiscal('4519', '1190457722', '09:31'),
    },
    {
      ...{ id: 'rcp_3', kind: 'return', amountKopecks: '30000', state: 'waiting' },
      ...{ createdAt: at('10:00'), usedUntil: null, fiscal: null },
    },
  ]
}

const receipts: Screen = {
  ...screen('order-receipts', 'order', 'shopper'),
  async open(on) {
    const id = on.people.orders.states.partially_refunded
    await alter<OrderWithRefunds>(on, `**/api/orders/${id}`, (order) => ({
      ...order,
      receipts: receiptsOf(order.priceKopecks),
    }))
    await visit(on, paths.order.replace('$id', id))
    await on.page.getByRole('heading', { name: on.words.receipts.title }).waitFor()
    await press(on.page, on.words.receipts.showQr)
  },
}

/** The page while its data loads: skeletons in the shape of what comes. */
function loading(name: string, route: 'home' | 'usage' | 'payments', address: string): Screen {
  return {
    ...screen(name, route, 'regular'),
    async open({ page, stage }) {
      // Live updates bring the overview too.
      for (const one of [address, '**/api/live**']) await page.route(one, () => undefined)
      await page.goto(`${stage.url}${paths[route]}`)
      await page.locator('.animate-pulse').first().waitFor()
    },
  }
}

/** Sends a message; the API of the stage is not running. */
async function tryKey(on: ScreenContext, reply: object): Promise<void> {
  const headers = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'request-id, x-credit-charged, x-credit-balance',
    'request-id': 'req_018f3f7a9c2d4e5f8a1b2c3d4e5f6a7b',
    'x-credit-charged': '392',
    'x-credit-balance': '52614833',
  }
  await on.page.route('https://api.example.org/v1/messages', (route) =>
    route.fulfill({ headers, ...reply }),
  )
  await press(on.page, on.words.try.send)
  await on.page.getByText('req_018f3f7a9c2d4e5f8a1b2c3d4e5f6a7b').waitFor()
}

const text = (ru: string, en: string) => (on: ScreenContext) => (on.words === words.ru ? ru : en)

const tries: readonly Screen[] = [
  screen('key-try', 'key', 'regular', async (on) => {
    const reply = text(
      'Здравствуйте! Ключ работает: сообщение дошло до модели, и она ответила.',
      'Hello! Your key works: the message reached the model, and the model replied.',
    )(on)
    const json = { content: [{ type: 'text', text: reply }], stop_reason: 'end_turn' }
    await tryKey(on, { json })
  }),
  screen('key-try-refused', 'key', 'regular', async (on) => {
    const json = { error: { message: 'Your balance is too low for this request.' } }
    await tryKey(on, { status: 402, json })
  }),
]

/** From another page, so that the browser asks for the status. */
function statusScreen(name: string, answerOf: typeof troubledStatus): Screen {
  return {
    ...screen(name, 'status', 'guest'),
    async open(on) {
      await answer(on.page, '**/api/status', answerOf())
      await visit(on, paths.prices)
      await on.page.waitForLoadState('networkidle')
      const footer = on.page.locator('footer')
      await footer.getByRole('link', { name: on.words.site.status }).click()
      await on.page.getByRole('slider').first().waitFor()
    },
  }
}

export const endingScreens: readonly Screen[] = [
  ...closed,
  receipts,
  ...tries,
  loading('home-loading', 'home', '**/api/home**'),
  loading('usage-loading', 'usage', '**/api/usage**'),
  loading('payments-loading', 'payments', '**/api/orders'),
  statusScreen('status-outage', troubledStatus),
  statusScreen('status-incident', () => ({ ...troubledStatus(), incidents: [incident] })),
  {
    name: 'not-found-owner',
    route: undefined,
    who: 'regular',
    open: (on) => visit(on, '/nowhere'),
  },
]
