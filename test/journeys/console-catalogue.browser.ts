// Prices, upstreams and alarms of the console in a real browser: a price is changed after its
// difference in money was shown, and rolled back; a wrong field is named; an upstream is drained;
// an alarm leads to its runbook. Every page fits a phone and is accessible. Needs the built pages
// (npm run web:build).
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { priceReply } from '../../src/pricing/pricing.ts'
import { micro } from '../../src/units/credits.ts'
import { tokens } from '../../src/units/tokens.ts'
import { type ConsoleStage, createConsoleStage } from '../stages/console.ts'
import { assertFitsAndAccessible, looks, openBrowser, type TestBrowser } from './support/browser.ts'
import { confirmPlan, finishDialog } from './support/console-dialog.ts'
import { signIn, typeSignIn, words } from './support/console-people.ts'
import { heading, withinWindow } from './support/console-steps.ts'

const { console: text } = words.en

const at = {
  stage: undefined as unknown as ConsoleStage,
  browser: undefined as unknown as TestBrowser,
}

before(async () => {
  at.browser = await openBrowser()
  at.stage = await createConsoleStage({
    pagesDirectory: join(import.meta.dirname, '../../web/console/dist'),
  })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

const OUTPUT = 'models.model-large.coefficient'
const field = (name: string) => `[name="${name}"]`

/** What a gateway charges for a reply of a thousand output tokens. */
async function charged(): Promise<bigint> {
  const model = (await at.stage.pricing.refresh())?.modelById.get('model-large')
  assert.ok(model)
  const none = tokens(0)
  const counts = {
    ...{ input: none, output: tokens(1_000) },
    ...{ cacheRead: none, cacheWrite5m: none, cacheWrite1h: none },
  }
  return priceReply(model, { counts, values: {}, uses: {}, hidden: [] }).priced
}

test('a price is changed after its difference in money was shown, and rolled back', () =>
  withinWindow(at.browser, async (page) => {
    const before = (await at.stage.pricing.refresh())?.version ?? 0
    const price = await charged()
    await page.goto(`${at.stage.consoleUrl}/catalogue`)
    await typeSignIn(page, await at.stage.people.newcomer('pricer', 'admin'), 'en')
    await heading(page, text.catalogue.title).waitFor()
    await page.getByRole('link', { name: text.catalogue.edit }).click()
    await page.locator(field(OUTPUT)).fill('7')
    await page.getByLabel(text.catalogueEdit.rubles).first().fill('1500,50')
    await page.getByLabel(text.catalogueEdit.note).fill('autumn prices')
    await page.getByRole('button', { name: text.catalogueEdit.submit }).click()
    const plan = page.getByRole('dialog').getByLabel(text.command.planLabel)
    await plan.getByText(/coefficient 5 → 7/).waitFor()
    const shown = await plan.innerText()
    assert.match(shown, /model model-large: a typical request 13750 credits, .* → 15350 credits, /)
    assert.match(shown, /price 1300\.00 RUB → 1500\.50 RUB/)
    assert.equal(await charged(), price, 'a plan changes nothing')
    await confirmPlan(page, 'catalogueSet')
    await finishDialog(page)
    assert.equal(await charged(), micro(7_000_000_000n))

    await heading(page, text.catalogue.title).waitFor()
    await page.getByText('autumn prices').waitFor()
    const version = (number: number) =>
      text.catalogue.version.replace('{{version}}', String(number))
    await page.getByRole('link', { name: version(before + 1), exact: true }).click()
    await page.getByText(/coefficient 5 → 7/).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: version(before), exact: true }).click()
    await page.getByRole('button', { name: text.command.rollBack.button }).click()
    await confirmPlan(page, 'rollBack', { reason: 'announced too early' })
    await finishDialog(page)
    assert.equal(await charged(), price, 'the old price is charged again')
    const now = await at.stage.pricing.refresh()
    assert.equal(now?.version, before + 2)

    await page.getByRole('link', { name: text.nav.acts }).first().click()
    await heading(page, text.acts.title).waitFor()
    await page.getByText(`catalogue set '${OUTPUT}=7'`).first().waitFor()
    await page.getByText(`catalogue rollback ${before}`).first().waitFor()
  }))

test('an invalid price is refused beside its field, and nothing is changed', () =>
  withinWindow(at.browser, async (page) => {
    const before = (await at.stage.pricing.refresh())?.version
    await page.goto(`${at.stage.consoleUrl}/catalogue/edit`)
    await typeSignIn(page, await at.stage.people.newcomer('mistaken', 'admin'), 'en')
    const input = page.locator(field(OUTPUT))
    await input.fill('much')
    await page.locator(field('packs.pack-35m.priceKopecks')).fill('a lot')
    await page.getByLabel(text.catalogueEdit.note).fill('x')
    const submit = page.getByRole('button', { name: text.catalogueEdit.submit })
    await submit.click()
    await page.getByText(text.catalogueEdit.rublesWrong).waitFor()
    await page.locator(field('packs.pack-35m.priceKopecks')).fill('1300')
    await submit.click()
    await page.getByText(/expected a number such as 1\.25/).waitFor()
    assert.equal(await input.getAttribute('aria-invalid'), 'true')
    const described = await input.getAttribute('aria-describedby')
    assert.match(await page.locator(`[id="${described}"]`).innerText(), /expected a number/)
    const other = page.locator(field('models.model-small.coefficient'))
    assert.equal(await other.getAttribute('aria-invalid'), 'false')
    assert.equal((await at.stage.pricing.refresh())?.version, before)
  }))

test('a viewer reads prices and cannot change them', () =>
  withinWindow(at.browser, async (page) => {
    await page.goto(`${at.stage.consoleUrl}/catalogue`)
    await typeSignIn(page, await at.stage.people.newcomer('reader', 'viewer'), 'en')
    await heading(page, text.catalogue.title).waitFor()
    assert.equal(await page.getByRole('link', { name: text.catalogue.edit }).count(), 0)
  }))

test('the person on call drains a whole upstream and puts it back', () =>
  withinWindow(at.browser, async (page) => {
    await page.goto(`${at.stage.consoleUrl}/upstreams`)
    await typeSignIn(page, await at.stage.people.newcomer('on-call', 'support'), 'en')
    await page.getByRole('button', { name: text.credentials.drainAll }).first().click()
    await confirmPlan(page, 'drain')
    await finishDialog(page)
    await page.getByText(text.credentials.upstreamDrained).waitFor()
    const drained = async () =>
      (await at.stage.upstreams.overview()).flatMap((one) => (one.isDrained ? [one.upstream] : []))
    assert.deepEqual(await drained(), ['east'])
    await page.getByRole('button', { name: text.credentials.undrainAll }).click()
    await confirmPlan(page, 'undrain')
    await finishDialog(page)
    assert.deepEqual(await drained(), [])
  }))

test('an alarm on a phone leads to its runbook', async () => {
  const opened = await at.browser.open('phone', { language: 'en' })
  const { page } = opened
  try {
    await page.goto(at.stage.consoleUrl)
    await signIn(page, await at.stage.people.newcomer('woken', 'viewer'), 'en')
    await page.getByRole('link', { name: text.alarms.nav }).click()
    const alarm = page.getByRole('listitem').filter({ hasText: text.alarm.gateway_silent })
    await alarm.getByRole('link', { name: text.alarms.runbook }).click()
    await heading(page, 'A process of the gateway freezes or dies').waitFor()
    assert.match(await page.getByRole('article').innerText(), /TollgateNotReady|frozen|systemctl/i)
    await assertFitsAndAccessible(page, 'runbook')
    opened.assertNoPageErrors()
  } finally {
    await opened.close()
  }
})

for (const [window, theme] of looks) {
  test(`prices, upstreams and alarms fit and are accessible: ${window}, ${theme}`, async () => {
    const person = await at.stage.people.newcomer(`look-${window}-${theme}`, 'admin')
    const opened = await at.browser.open(window, { theme, language: 'en' })
    const { page } = opened
    try {
      await page.goto(at.stage.consoleUrl)
      await signIn(page, person, 'en')
      const pages = {
        '/catalogue': text.catalogue.title,
        '/catalogue/edit': text.catalogueEdit.title,
        '/catalogue/1': text.catalogue.version.replace('{{version}}', '1'),
        '/upstreams': text.credentials.title,
        '/alarms': text.alarms.title,
        '/runbooks/runbooks/an-upstream-fails': 'An upstream fails',
      }
      for (const [path, title] of Object.entries(pages)) {
        await page.goto(`${at.stage.consoleUrl}${path}`)
        await heading(page, title).waitFor()
        await page
          .getByRole('status', { name: words.en.state.loading })
          .waitFor({ state: 'hidden' })
        await assertFitsAndAccessible(page, path)
      }
      opened.assertNoPageErrors()
    } finally {
      await opened.close()
    }
  })
}
