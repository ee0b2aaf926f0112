// The stage of guards in a browser: the built pages, a real cabinet and a real worker as processes,
// the bank where cards are saved and the mailbox that receives e-mails. Owners register over HTTP
// and sign in on the page; their spending goes to the ledger directly.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { BookId } from '../../../src/platform/ids.ts'
import { freePorts } from '../../../tools/free-port.ts'
import { ageProofs, PASSWORD } from '../../stages/accounts.ts'
import { createPaymentStage } from '../../stages/served/payments.ts'

const root = join(import.meta.dirname, '../../..')
/** Generous: an e-mail takes a second or two, and longer while other work uses the machine. */
const EMAIL_MS_MAX = 30_000

export type GuardsStage = Awaited<ReturnType<typeof createGuardsStage>>
export type Owner = { readonly email: string; readonly book: BookId }

export async function createGuardsStage() {
  const [port = 0] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const stage = await createPaymentStage({
    workers: 1,
    payments: { hasTopUps: true },
    env: {
      CABINET_PORT: String(port),
      CABINET_PAGES_DIRECTORY: join(root, 'web/dist'),
      BRAND_CABINET_URL: url,
      PAYMENTS_HAS_TOP_UPS: 'true',
      // Several owners sign in within a minute, from one address.
      ACCOUNTS_ADDRESS_PER_MINUTE: '10000',
      ACCOUNTS_ANSWER_MS: '1',
    },
  })
  const { db, mailbox } = stage

  async function post(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json', origin: url }
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    assert.ok(response.ok, `${path}: ${await response.text()}`)
  }

  async function newestEmail(to: string, kind: string) {
    const [found] = await mailbox.wait({ to, kind }, EMAIL_MS_MAX)
    assert.ok(found, `an e-mail ${kind} to ${to}`)
    return found
  }

  return {
    ...stage,
    url,
    newestEmail,

    /** An owner with a confirmed account. */
    async owner(name: string): Promise<Owner> {
      const email = `${name}@example.org`
      const person = { email, password: PASSWORD, language: 'ru', consents: [] }
      await post('/api/auth/register', person)
      const { text } = await newestEmail(email, 'confirm-email')
      const code = /#code=([\w-]+)/.exec(text)?.[1]
      await post('/api/auth/confirm', { code, password: PASSWORD })
      const { rows } = await db.query('select book_id as book from accounts where email = $1', [
        email,
      ])
      return { email, book: (rows[0] as { book: BookId }).book }
    },

    /** A purchase outside the browser. */
    async buyAndPay(book: BookId, changes: Parameters<typeof stage.buy>[1] = {}) {
      const { id } = await stage.buy(book, changes)
      await stage.sim('pay', { orderId: id })
      await stage.untilState(id, 'credited')
      return id
    },

    async signIn(page: Page, { email }: Owner, path = '/'): Promise<void> {
      const next = path === '/' ? '' : `?next=${encodeURIComponent(path)}`
      await page.goto(`${url}/sign-in${next}`)
      await page.getByLabel('Электронная почта').fill(email)
      await page.getByLabel('Пароль', { exact: true }).fill(PASSWORD)
      await page.getByRole('button', { name: 'Войти', exact: true }).click()
      await page.waitForURL(`${url}${path}`)
    },

    /** Makes the owner's proofs an hour old. */
    async ageSessions({ email }: Owner): Promise<void> {
      await ageProofs(db, '1 hour', email)
    },
  }
}
