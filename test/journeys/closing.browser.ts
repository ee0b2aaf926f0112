// What an owner who closes the account is asked, and what is asked of the server.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Closing, ClosingPreview } from '../../src/cabinet/contract/closing.ts'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import { createJourneyStage, type JourneyStage } from './support/cabinet-stage.ts'
import { button, callFrom, createSignedInAccount, PACK, words } from './support/cabinet-steps.ts'

const { ru } = words
const at = {
  stage: undefined as unknown as JourneyStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createJourneyStage()
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const NOTHING = { whole: '0', exact: '0' }

/** Closes without touching the choice; returns whether there was one, and what the server got. */
async function closeWith(name: string, change: (preview: ClosingPreview) => ClosingPreview) {
  const opened = await at.browser.open('desktop')
  const { page } = opened
  try {
    await createSignedInAccount(at.stage, page, name)
    await page.route('**/api/closing', async (route) => {
      if (route.request().method() !== 'GET') return route.continue()
      const response = await route.fetch()
      const { preview, process } = (await response.json()) as Closing
      return route.fulfill({
        response,
        json: { process, preview: preview && change(preview) } satisfies Closing,
      })
    })
    await page.goto(`${at.stage.url}/privacy`)
    await button(page, ru.closing.submit).waitFor()
    const isAsked = await page.getByText(ru.closing.choice).isVisible()
    await button(page, ru.closing.submit).click()
    const sure = page.getByRole('dialog', { name: ru.closing.sureTitle })
    await sure.getByRole('checkbox').check()
    const sent = page.waitForRequest((one) => one.method() === 'POST' && /closing$/.test(one.url()))
    await sure.getByRole('button', { name: ru.closing.submit }).click()
    const { unspent } = (await sent).postDataJSON() as { unspent: string }
    return { isAsked, unspent }
  } finally {
    await opened.close()
  }
}

test('an owner whose credits are all held by requests is asked, and forfeits none', async () => {
  const held = await closeWith('held', (preview) => ({
    ...{ ...preview, held: preview.available, available: NOTHING, forfeited: NOTHING },
    refundKopecks: '0',
  }))
  assert.deepEqual(held, { isAsked: true, unspent: 'refund' })
})

test('an owner who has nothing to refund now forfeits nothing that comes later', async () => {
  const disputed = await closeWith('disputed', (preview) => ({
    ...{ ...preview, available: NOTHING, forfeited: NOTHING },
    refundKopecks: '0',
  }))
  assert.deepEqual(disputed, { isAsked: false, unspent: 'refund' })
})

test('the overview of an account that closes offers nothing that it refuses', async () => {
  const opened = await at.browser.open('desktop')
  const { page } = opened
  await createSignedInAccount(at.stage, page, 'waiting')
  // The closing waits for this order to run out.
  const order = { pack: PACK.id, method: 'card', attempt: 'left-open' }
  assert.equal((await callFrom(page, '/api/orders', order)).status, 200)
  assert.equal((await callFrom(page, '/api/closing', { unspent: 'refund' })).status, 200)
  await page.goto(at.stage.url)
  await page.getByText(ru.closing.processTitle).waitFor()
  await page.getByRole('heading', { name: ru.home.title, level: 1 }).waitFor()
  await page.getByText(ru.home.balance.available).waitFor()
  const main = page.getByRole('main')
  assert.equal(await main.getByRole('link', { name: ru.home.topUp, exact: true }).count(), 0)
  assert.equal(await main.getByText(ru.home.notice.ownerSuspended).count(), 0)
  await opened.close()
})
