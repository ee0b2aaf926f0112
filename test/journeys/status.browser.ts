// npm run journeys -- status: outages that this program causes appear on the status page and stay
// in its history, an operator's incident appears on the page and in the feed, and the page goes on
// without the database. --full does it with the intervals of a real installation, and measures.
// The tests are one story: each begins where the one before ended.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import type { Status } from '../../src/cabinet/contract/status.ts'
import type { Db } from '../../src/platform/db/db.ts'
import { startMailbox } from '../../stand-ins/mailbox/mailbox.ts'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { createAccounts } from '../stages/served/gateway.ts'
import { runProgram } from '../support/run-to-end.ts'
import { readXml } from '../support/xml.ts'
import {
  assertFitsAndAccessible,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
  type TestWindow,
} from './support/browser.ts'
import { createJourneyStage, type JourneyStage } from './support/cabinet-stage.ts'

const isFull = process.env.FULL === '1'
/** What the page promises. */
const SHOWN_MS_MAX = 120_000
/** Outages of the history that the database begins with. */
const OLD_OUTAGES = 4

const at = {
  stage: undefined as unknown as JourneyStage,
  browser: undefined as unknown as TestBrowser,
  /** A page that nobody touches: it asks again by itself. */
  open: undefined as unknown as TestWindow,
  /** In place of those that were stopped. */
  replaced: [] as { close(): Promise<void> }[],
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createJourneyStage(async (database) => {
    const [key = ''] = await createAccounts(database, 1)
    await fillHistory(database.db)
    return { STATUS_PROBE_KEY: key, STATUS_PROBE_SECONDS: isFull ? '30' : '1' }
  })
  at.open = await at.browser.open('desktop')
})
after(async () => {
  await at.browser.close()
  for (const one of at.replaced) await one.close()
  await at.stage.end()
})

/** 80 days: a failure, maintenance, a day that nobody watched. */
async function fillHistory(db: Db): Promise<void> {
  await db.query(
    `insert into status_days (component, day, working_ms, failed_ms, planned_ms)
     select component, current_date - back, case when back = 40 then 0 else 82000000 end,
       case when back % 23 = 5 then 1500000 else 0 end, case when back = 12 then 2000000 else 0 end
     from status_components, generate_series(1, 79) as back`,
  )
  await db.query(`update status_components set first_at = now() - interval '79 days'`)
  await db.query(
    `insert into status_outages (component, began_at, ended_at, reason)
     select 'payments', now() - make_interval(days => back),
       now() - make_interval(days => back) + interval '25 minutes', 'sweeps'
     from generate_series(5, 79, 23) as back`,
  )
}

async function status(): Promise<Status> {
  const response = await fetch(`${at.stage.url}/api/status`)
  return (await response.json()) as Status
}

/** Waits until the parts are in these states; returns after how many milliseconds. */
async function until(...lines: string[]): Promise<number> {
  const beganMs = performance.now()
  for (;;) {
    const { parts } = await status()
    const states = parts.map(({ part, state }) => `${part} ${state}`)
    if (lines.every((line) => states.includes(line))) return performance.now() - beganMs
    const isLate = performance.now() - beganMs > SHOWN_MS_MAX
    if (isLate) throw new Error(`never ${lines.join(', ')}: ${states.join(', ')}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** The row of a part, not a line of an incident that names it. */
const row = (page: Page, part: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('slider'), hasText: part })

/** Waits until the open page shows a part as down; returns after how many milliseconds. */
async function untilShown(part: 'gateway' | 'models' | 'letters'): Promise<number> {
  const { page } = at.open
  const beganMs = performance.now()
  if (!isFull) {
    // The page asks every 20 s; the short form has no time for that.
    await until(`${part} down`)
    await page.reload()
  }
  const names = { gateway: 'API для программ', models: 'Модели', letters: 'Письма' }
  const shown = row(page, names[part]).getByText('Недоступно', { exact: true })
  await shown.waitFor({ timeout: SHOWN_MS_MAX })
  return performance.now() - beganMs
}

test('a vendor that is gone is an outage of the models alone', async (t) => {
  const { stage } = at
  await until('gateway working', 'models working', 'payments working', 'letters working')
  const { page } = at.open
  await page.goto(`${stage.url}/status`)
  await page.getByText('Всё работает', { exact: true }).waitFor()
  await stage.vendor.close()
  const ms = await untilShown('models')
  t.diagnostic(`Модели: shown ${Math.round(ms / 1_000)} s after it was stopped`)
  await until('models down', 'gateway working', 'payments working', 'letters working')
})

test('a gateway and a mail relay that are gone are shown within two minutes', async (t) => {
  const { stage } = at
  stage.processes.gateway.child.kill('SIGKILL')
  await Promise.all([stage.processes.gateway.stop(), stage.mailbox.close()])
  // Meanwhile the operator tells everybody.
  const told = openIncident()
  for (const part of ['gateway', 'letters'] as const) {
    const ms = await untilShown(part)
    t.diagnostic(`${part}: shown ${Math.round(ms / 1_000)} s later`)
  }
  await at.open.page.getByText('Часть сервиса недоступна').waitFor()
  await told
})

async function openIncident(): Promise<void> {
  const incident = ['gateway,models', '--title-ru', 'Ответы с ошибкой <529>', '--title-en']
  const texts = ['--ru', 'Ищем причину.', '--en', 'Looking for the cause.']
  await op('open', ...incident, 'Answers with error <529>', ...texts)
  await op('update', '1', '--state', 'watching', '--ru', 'Исправили.', '--en', 'Corrected.')
}

async function op(...args: string[]): Promise<void> {
  const words = ['op', '--yes', '--as', 'olga', 'incident', ...args]
  const { code, out, err } = await runProgram(words, { env: at.stage.settings })
  assert.equal(code, 0, out + err)
}

test('an operator’s incident appears on the page and in the feed, in both languages', async () => {
  const { stage } = at
  await untilTrue(async () => (await status()).incidents[0]?.updates.length === 2)
  await at.browser.within('phone', async (page) => {
    await page.goto(`${stage.url}/status`)
    const panel = page.locator('#incident-1')
    await panel.getByText('Исправили.').waitFor()
    await panel.getByText('Ищем причину.').waitFor()
    await panel.getByText('Ответы с ошибкой <529>').waitFor()
    await page.getByText('Наблюдаем', { exact: true }).waitFor()
    await assertFitsAndAccessible(page, 'the status page with an incident')
    await saveScreenshot(page, 'status', 'outage-phone')
    for (const [query, title] of [
      ['', 'Сбой: Ответы с ошибкой <529>'],
      ['?lang=en', 'Incident: Answers with error <529>'],
    ] as const) {
      const text = await (await fetch(`${stage.url}/status.xml${query}`)).text()
      readXml(text)
      assert.deepEqual(
        (await titlesIn(page, text)).filter((one) => one === title),
        [title],
      )
    }
  })
})

/** The titles of the entries, as a browser's XML parser reads them. */
async function titlesIn(page: Page, xml: string): Promise<string[]> {
  // Our own pages forbid their scripts to parse text.
  await page.goto('about:blank')
  return page.evaluate<string[]>(`{
    const feed = new DOMParser().parseFromString(${JSON.stringify(xml)}, 'application/xml')
    if (feed.querySelector('parsererror') !== null) throw new Error('not well-formed')
    ;[...feed.querySelectorAll('entry > title')].map((one) => one.textContent)
  }`)
}

async function untilTrue(look: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + SHOWN_MS_MAX
  while (!(await look())) {
    if (performance.now() > deadline) throw new Error('it never came')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

test('outages stay in the history when they are over', async (t) => {
  const { stage } = at
  const mailbox = await startMailbox({ smtpPort: Number(new URL(stage.mailbox.smtpUrl).port) })
  const vendor = await startVendor({ port: Number(new URL(stage.vendor.url).port) })
  at.replaced.push(mailbox, vendor)
  await Promise.all([
    stage.start('serve', /"the fleet is ready"/),
    op('close', '1', '--ru', 'Всё работает.', '--en', 'Everything works.'),
  ])
  const overMs = await until('gateway working', 'models working', 'letters working')
  t.diagnostic(`shown as over ${Math.round(overMs / 1_000)} s after the start`)
  const { page } = at.open
  await page.reload()
  await page.getByText('Всё работает', { exact: true }).waitFor()
  const shown = page.locator('section').filter({ hasText: 'Сбои, замеченные проверками' })
  await shown
    .locator('li')
    .nth(OLD_OUTAGES + 2)
    .waitFor()
  assert.equal(await shown.locator('li').count(), (await status()).outages.length)
  assert.equal(await shown.getByText('Продолжается').count(), 0)
  at.open.assertNoPageErrors()

  const { outages, parts, incidents } = await status()
  const own = outages.filter(({ part }) => part !== 'payments')
  // On a busy machine a part may fail more than once, and each time is kept.
  const failed = new Set(own.map(({ part }) => part))
  assert.deepEqual([...failed].toSorted(), ['gateway', 'letters', 'models'])
  assert.equal(outages.length - own.length, OLD_OUTAGES)
  assert.ok(own.every(({ from, to }) => to !== null && from < to))
  for (const part of ['gateway', 'models', 'letters']) {
    const days = parts.find((one) => one.part === part)?.days ?? []
    assert.equal(days.length, 80)
    assert.ok((days.at(-1)?.failedSeconds ?? 0) > 0, part)
  }
  assert.ok(incidents[0]?.to, 'closed')
})

test('an incident that no probe sees leaves no banner that says all is well', async () => {
  const { page } = at.open
  const titles = ['--title-ru', 'Ответы приходят дважды', '--title-en', 'Replies arrive twice']
  await op('open', 'gateway', ...titles, '--ru', 'Ищем причину.', '--en', 'Looking for it.')
  const banner = (title: string) =>
    untilTrue(async () => {
      await page.reload()
      const shown = page.getByRole('status').first()
      await shown.waitFor()
      return (await shown.textContent())?.startsWith(title) === true
    })
  await banner('Разбираемся со сбоем')
  assert.ok((await status()).parts.every(({ state }) => state === 'working'))
  await op('close', '2', '--ru', 'Исправили.', '--en', 'Corrected.')
  await banner('Всё работает')
})

test('the page with a long history fits every width, theme and language', async () => {
  const widths = isFull ? [390, 768, 1280, 1920] : [390, 1280]
  for (const [theme, language] of [
    ['light', 'ru'],
    ['dark', 'en'],
    ...(isFull
      ? ([
          ['dark', 'ru'],
          ['light', 'en'],
        ] as const)
      : []),
  ] as const) {
    const opened = await at.browser.open('desktop', { theme, language })
    await opened.page.goto(`${at.stage.url}/status`)
    for (const width of widths) {
      await opened.page.setViewportSize({ width, height: 900 })
      await opened.page.getByRole('slider').nth(3).waitFor()
      const name = `${width}-${theme}-${language}`
      await assertFitsAndAccessible(opened.page, `the status page at ${name}`)
      await saveScreenshot(opened.page, 'status', name)
    }
    opened.assertNoPageErrors()
    await opened.close()
  }
})

test('a visitor without scripts reads states, days and outages in the first bytes', async () => {
  const response = await fetch(`${at.stage.url}/status?lang=ru`, {
    headers: { 'accept-encoding': 'gzip' },
  })
  const html = await response.text()
  assert.match(html, /<link rel="alternate" type="application\/atom\+xml"/)
  const bytes = gzipSync(html).length
  assert.ok(bytes <= 30 * 1024, `${bytes} bytes of HTML, compressed`)
  const opened = await at.browser.open('phone', { hasScripts: false })
  await opened.page.goto(`${at.stage.url}/status?lang=ru`)
  const text = await opened.page.locator('#app').innerText()
  for (const part of ['API для программ', 'Модели', 'Оплата и зачисление', 'Письма']) {
    assert.ok(text.includes(part), part)
  }
  for (const word of ['Работает', '25 мин', 'Доступность', 'Сбои, замеченные проверками']) {
    assert.ok(text.includes(word), word)
  }
  await opened.close()
})

test('the days are read with the keyboard', async () => {
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${at.stage.url}/status`)
    const days = page.getByRole('slider', { name: 'API для программ' })
    await days.focus()
    // The seconds of today change with each answer; the day that is told does not.
    const told = async () => {
      const [place, text = ''] = await Promise.all(
        ['aria-valuenow', 'aria-valuetext'].map((name) => days.getAttribute(name)),
      )
      return { place, text: text ?? '', day: text?.split(':')[0] }
    }
    await days.and(page.locator('[aria-valuetext*="сбой"]')).waitFor()
    const today = await told()
    assert.equal(today.place, '90')
    await page.keyboard.press('ArrowLeft')
    const before = await told()
    assert.equal(before.place, '89')
    assert.notEqual(before.day, today.day)
    await page.keyboard.press('Home')
    assert.equal((await told()).text, 'Тогда проверок ещё не было')
    await page.keyboard.press('End')
    assert.deepEqual([(await told()).place, (await told()).day], ['90', today.day])
  })
})

test('without the database the page shows what was known, and says so', async () => {
  const { stage } = at
  await at.browser.within('desktop', async (page) => {
    await page.goto(`${stage.url}/status`)
    await page.getByText('Части сервиса за 90 дней').waitFor()
    stage.proxy.cut()
    await untilTrue(async () => !(await status()).isCurrent)
    await page.reload()
    await page.getByText('Свежее состояние прочитать не удаётся').waitFor()
    await page.getByText('Сбои, замеченные проверками').waitFor()
    const feed = await fetch(`${stage.url}/status.xml`)
    assert.equal(feed.status, 200)
  })
})
