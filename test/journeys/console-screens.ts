// Screenshots of every page of the console in both widths, languages and themes, for people to look
// at: npm run screens -- console. They go to .screens/console.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { OrderId } from '../../src/platform/ids.ts'
import { PASSWORD } from '../stages/accounts.ts'
import { createConsoleStage } from '../stages/console.ts'
import { quarantineCharge } from '../support/quarantined-charge.ts'
import { openBrowser, type WindowName, windows } from './support/browser.ts'
import {
  arrangeCustomer,
  type Customer,
  type Language,
  signIn,
  words,
} from './support/console-people.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.screens/console')

export async function takeConsoleScreens(): Promise<number> {
  mkdirSync(folder, { recursive: true })
  const pagesDirectory = join(root, 'web/console/dist')
  const stage = await createConsoleStage({ pagesDirectory, settings: { approveGrantsAbove: 1000 } })
  const browser = await openBrowser()
  let taken = 0
  try {
    const customer = await arrangeCustomer(stage, 'anna.petrova')
    await arrangeWork(stage, customer)
    const month = await stage.modules.reports.currentMonth()
    await arrangeQueues(stage)
    for (const window of Object.keys(windows) as WindowName[]) {
      for (const language of Object.keys(words) as Language[]) {
        const opened = await browser.open(window, { language })
        const person = await stage.people.newcomer(`${window}-${language}`, 'admin')
        const { page } = opened
        const name = (screen: string) => `${screen}-${window}-${language}`
        await page.goto(stage.consoleUrl)
        await page.getByRole('heading', { level: 1 }).waitFor()
        taken += await take(page, name('sign-in'))
        await signIn(page, person, language)
        for (const [screen, path] of Object.entries(pathsOf(customer, month))) {
          await page.goto(`${stage.consoleUrl}${path}`)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.waitForLoadState('networkidle')
          taken += await take(page, name(screen))
        }
        await openPlan(page, `${stage.consoleUrl}/accounts/${customer.book}`, language)
        taken += await take(page, name('plan'))
        await opened.close()
      }
    }
  } finally {
    await browser.close()
    await stage.end()
  }
  return taken
}

function pathsOf({ book, request }: Customer, month: string): Readonly<Record<string, string>> {
  return {
    today: '/',
    search: '/search?text=ann',
    account: `/accounts/${book}`,
    request: `/requests/${request}`,
    catalogue: '/catalogue',
    'catalogue-edit': '/catalogue/edit',
    'catalogue-version': '/catalogue/1',
    upstreams: '/upstreams',
    alarms: '/alarms',
    runbook: '/runbooks/operating/an-upstream-fails',
    queues: '/queues',
    acts: '/acts',
    months: '/months',
    month: `/months/${month}`,
    own: '/own',
    'figure-taken': '/figures/taken',
    'figure-spent': '/figures/spent',
  }
}

/** The plan of a grant, as it is confirmed. */
async function openPlan(page: Page, url: string, language: Language): Promise<void> {
  const { command } = words[language].console
  await page.goto(url)
  await page.waitForLoadState('networkidle')
  await page.getByRole('button', { name: command.grant.button }).click()
  await page.getByRole('dialog').getByLabel(command.credits).fill('1000')
  await page.getByLabel(command.reason).fill('an outage')
  await page.getByRole('button', { name: command.plan }).click()
  await page.getByRole('button', { name: command.back }).waitFor()
}

/** Another customer for a search, acts, and a request for approval. */
async function arrangeWork(
  stage: Awaited<ReturnType<typeof createConsoleStage>>,
  { order, book }: Customer,
): Promise<void> {
  await stage.person('annette')
  const asker = await stage.people.newcomer('boris', 'support')
  await stage.people.newcomer('vera', 'finance')
  const run = async (command: string, args: string[], options: Record<string, string>) => {
    const planned = await stage.command<{ digest: string }>(asker.token, command, args, options)
    await stage.command(asker.token, command, args, options, planned.body.digest)
  }
  await run('refund', [order], { amount: '10', reason: 'asked by e-mail', ref: 'one' })
  await run('grant', [String(book), '500'], { reason: 'sorry for the outage', ref: 'two' })
  await run('grant', [String(book), '250000'], { reason: 'a partner', ref: 'three' })
}

/** Something in each queue: disputes, an order, a receipt, an e-mail, registrations, a charge. */
async function arrangeQueues(stage: Awaited<ReturnType<typeof createConsoleStage>>): Promise<void> {
  const [disputer, other] = [
    await arrangeCustomer(stage, 'disputer'),
    await arrangeCustomer(stage, 'late'),
  ]
  for (const { order } of [disputer, other]) {
    const note = { by: 'vera', note: 'letter 17' }
    await stage.payments.dispute({ order: order as OrderId, act: 'open', ...note })
  }
  await stage.db.query(
    `update disputes set opened_at = opened_at - interval '6 days',
       answer_by = answer_by - interval '6 days' where order_id = $1`,
    [other.order],
  )
  const { order } = await arrangeCustomer(stage, 'unreceipted')
  await stage.db.query(`update orders set receipt_state = 'canceled' where id = $1`, [order])
  const { id } = await stage.buy(disputer.book)
  await stage.sim('pay', { orderId: id })
  await stage.db.query(`update orders set paid_at = ledger_now() where id = $1`, [id])
  await stage.db.query(
    `insert into letters (kind, recipient, subject, body_text, body_html, attempts, last_error)
     values ('payment-credited', 'slow@example.org', 's', 't', 'h', 3, '451 4.7.1 greylisted')`,
  )
  await stage.db.transaction((tx) =>
    stage.accounts.registrations.invite(
      tx,
      { email: 'invited@example.org', language: 'ru' },
      'olga',
    ),
  )
  await stage.browser().expectOk('POST /api/auth/register', {
    ...{ email: 'unconfirmed@example.org', password: PASSWORD, language: 'en' },
    consents: stage.documents.list().filter((one) => one.isRequired),
  })
  await stage.db.query(
    `update letters set state = 'failed', last_error = '550 5.1.1 no such user', body_text = null,
       body_html = null, ended_at = clock_timestamp() where recipient = 'unconfirmed@example.org'`,
  )
  await quarantineCharge(stage.ledger, disputer.book, 1_287)
}

async function take(page: Page, name: string): Promise<number> {
  const { width = 0, height = 0 } = page.viewportSize() ?? {}
  // As high as the page, so that the bars are at its edges.
  const content = await page.evaluate<number>('document.documentElement.scrollHeight')
  await page.setViewportSize({ width, height: Math.max(content, height) })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) })
  }
  await page.setViewportSize({ width, height })
  return 2
}
