// npm run journeys -- first-request: how many clicks and fields lie between the front page and the
// first reply of a model, for a stranger who buys a pack by card. A click or a field more fails it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openBrowser, type TestBrowser } from './support/browser.ts'
import { createJourneyStage, type JourneyStage, PASSWORD } from './support/cabinet-stage.ts'
import { button, link, sentencePattern, words } from './support/cabinet-steps.ts'
import { cards } from './support/purchase-stage.ts'

const { en } = words
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

/** Counts what the visitor clicks and fills. */
function hand() {
  const done = { clicks: 0, fields: 0 }
  const click = (where: Locator) => {
    done.clicks += 1
    return where.click()
  }
  const fill = (where: Locator, text: string) => {
    done.fields += 1
    return where.fill(text)
  }
  return { done, click, fill }
}

/** From the front page to the reply of the model. */
async function reachFirstReply(page: Page, name: string, { done, click, fill } = hand()) {
  const email = `${name}@example.org`
  await page.goto(at.stage.url)
  await click(
    page.getByRole('main').getByRole('link', { name: en.site.register, exact: true }).first(),
  )
  await fill(page.getByLabel(en.signIn.email), email)
  await fill(page.getByLabel(en.signIn.password, { exact: true }), PASSWORD)
  await click(page.getByRole('checkbox').first())
  await click(button(page, en.register.submit))
  await page.getByRole('heading', { name: en.mail.title }).waitFor()
  const { links } = await at.stage.newestEmail(email, 'confirm-email')
  // The link of the e-mail is a click, too.
  done.clicks += 1
  await page.goto(links.find((one) => one.includes('#code=')) ?? '')
  await click(link(page, en.home.steps.buyAction))
  await click(page.getByLabel(en.method.card))
  await click(page.getByRole('button', { name: sentencePattern(en.packs.pay) }))
  await page.waitForURL(/\/pay\//)
  await fill(page.getByLabel('Card number', { exact: true }), cards.good)
  await fill(page.getByLabel('Expiry date'), '12/48')
  await fill(page.getByLabel('CVC'), '123')
  await click(page.getByRole('button', { name: /^Pay / }))
  await click(link(page, en.order.toKey))
  await click(button(page, en.try.send))
  await page.getByText(en.try.cost, { exact: true }).waitFor()
  return done
}

test('ten clicks and five fields lead from the front page to the first reply', async (t) => {
  const opened = await at.browser.open('desktop', { language: 'en' })
  const beganMs = performance.now()
  const done = await reachFirstReply(opened.page, 'stranger')
  const seconds = (performance.now() - beganMs) / 1_000
  t.diagnostic(`${done.clicks} clicks, ${done.fields} fields, ${seconds.toFixed(1)} s`)
  assert.deepEqual(done, { clicks: 10, fields: 5 })
  opened.assertNoPageErrors()
  await opened.close()
})

test('one click creates the key, although its page learns of the purchase late', async () => {
  const opened = await at.browser.open('desktop', { language: 'en' })
  // What a stream says of the key is two seconds old; at first it is what held before the purchase.
  await opened.page.addInitScript(`{
    const listen = EventSource.prototype.addEventListener
    const locked = JSON.stringify({ state: 'locked', active: null, pending: null })
    EventSource.prototype.addEventListener = function (name, take, ...rest) {
      const late = (event) => {
        if (!this.isPast) take({ data: locked })
        this.isPast = true
        setTimeout(take, 2_000, event)
      }
      listen.call(this, name, name === 'key' ? late : take, ...rest)
    }
  }`)
  await reachFirstReply(opened.page, 'late')
  opened.assertNoPageErrors()
  await opened.close()
})
