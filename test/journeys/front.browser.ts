// The public pages as their first bytes arrive: HTML with its text, read by a visitor without
// scripts in both languages, with tags for previews and search engines; then taken over by scripts
// without an error. The sizes are those that a first visit loads.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { docsNames } from '../../web/pages/docs/pages.ts'
import { CABINET } from '../stages/accounts.ts'
import { catalogueWithPricedModel } from '../support/priced-model.ts'
import {
  assertFitsAndAccessible,
  looks,
  openBrowser,
  saveScreenshot,
  type TestBrowser,
} from './support/browser.ts'
import { createSiteStage, type SiteStage } from './support/site-stage.ts'

/** What a first visit may load, compressed. */
const HTML_BYTES_MAX = 30 * 1024
const SCRIPT_BYTES_MAX = 200 * 1024

const at = {
  stage: undefined as unknown as SiteStage,
  browser: undefined as unknown as TestBrowser,
}
before(async () => {
  at.browser = await openBrowser()
  at.stage = await createSiteStage({ catalogueText: await catalogueWithPricedModel() })
})
after(async () => {
  await at.browser.close()
  await at.stage.end()
})

/** A text of each page that no frame has, in both languages. */
const pages = {
  '/': ['Поменяйте адрес', 'Change the base URL'],
  '/prices': ['Чем больше пакет', 'Larger packs cost less'],
  '/charging': ['Модель оборвала ответ', 'The model failed in the middle'],
  '/docs/quick-start': ['ANTHROPIC_BASE_URL', 'ANTHROPIC_BASE_URL'],
  '/docs/errors': ['request-id', 'request-id'],
  '/docs/curl': ['Одной командой', 'One command'],
  '/status': ['Оплата и зачисление', 'Payments and top-ups'],
  '/documents/offer': ['Оферта', 'Offer'],
  '/sign-in': ['Забыли пароль?', 'Forgot your password?'],
} as const
const listed = Object.keys(pages).filter((path) => path !== '/sign-in')

for (const [index, language] of (['ru', 'en'] as const).entries()) {
  test(`without scripts a visitor reads every public page, ${language}`, async () => {
    const opened = await at.browser.open('desktop', { language, hasScripts: false })
    for (const [path, texts] of Object.entries(pages)) {
      await opened.page.goto(`${at.stage.url}${path}`)
      const text = await opened.page.locator('#app').innerText()
      assert.ok(text.includes(texts[index] ?? '?'), `${path} in ${language}: ${text.slice(0, 300)}`)
      assert.ok(text.includes('Tollgate'), `${path} names the brand`)
      assert.equal(await opened.page.locator('html').getAttribute('lang'), language)
    }
    await opened.close()
  })
}

test('without scripts the language switch is a link, and the next page keeps it', async () => {
  const opened = await at.browser.open('phone', { language: 'ru', hasScripts: false })
  const { page } = opened
  await page.goto(at.stage.url)
  await page.getByRole('link', { name: 'English' }).tap()
  await page.getByRole('navigation').getByRole('link', { name: 'Pricing' }).first().tap()
  await page.getByRole('heading', { level: 1, name: 'Pricing' }).waitFor()
  await opened.close()
})

test('without scripts the navigation leads to the docs, as former addresses do', async () => {
  const opened = await at.browser.open('desktop', { language: 'en', hasScripts: false })
  const { page } = opened
  await page.goto(at.stage.url)
  const navigation = page.getByRole('navigation').first()
  await navigation.getByRole('link', { name: 'Documentation' }).click()
  await page.getByRole('heading', { level: 1, name: 'Quick start' }).waitFor()
  await page.goto(`${at.stage.url}/start?lang=ru`)
  await page.getByRole('heading', { level: 1, name: 'Быстрый старт' }).waitFor()
  await opened.close()
})

test('previews and search engines find complete tags with absolute addresses', async () => {
  for (const path of listed) {
    for (const language of ['ru', 'en'] as const) {
      const html = await textOf(`${path}?lang=${language}`)
      const tag = (name: string) =>
        new RegExp(`<meta (?:name|property)="${name}" content="([^"]+)">`).exec(html)?.[1] ?? ''
      const link = (rel: string) => new RegExp(`<link rel="${rel}" href="([^"]+)">`).exec(html)?.[1]
      const origin = new URL(CABINET).origin
      const title = /<title>([^<]+)<\/title>/.exec(html)?.[1] ?? ''
      assert.match(title, /.+ · Tollgate$/)
      assert.ok(tag('description').length > 40, `${path} has a description: ${tag('description')}`)
      assert.equal(tag('og:title'), title)
      assert.equal(tag('og:description'), tag('description'))
      assert.equal(tag('og:url'), `${origin}${path}?lang=${language}`)
      assert.equal(tag('og:image'), `${origin}/preview-${language}.png`)
      assert.equal(tag('twitter:card'), 'summary_large_image')
      assert.equal(link('canonical'), `${origin}${path}?lang=${language}`)
      for (const one of ['ru', 'en'] as const) {
        assert.ok(html.includes(`hreflang="${one}" href="${origin}${path}?lang=${one}"`), path)
      }
      assert.ok(html.includes(`hreflang="x-default" href="${origin}${path}"`))
      assert.ok(!html.includes('noindex'), path)
    }
  }
  for (const path of ['/packs', '/sign-in', '/nothing-here', '/confirm']) {
    assert.match(await textOf(path), /name="robots" content="noindex"/, path)
  }
  const statusOf = async (path: string) => (await fetch(`${at.stage.url}${path}`)).status
  for (const path of ['/nothing-here', '/docs/nothing-here', '/documents/nothing-here']) {
    assert.equal(await statusOf(path), 404, path)
  }
  for (const path of ['/packs', '/orders/pay_1', '/theme.js']) {
    assert.equal(await statusOf(path), 200, path)
  }
})

test('the picture, the icons, the site map and the rules for crawlers are served', async () => {
  for (const [path, width] of [
    ['/preview-ru.png', 1200],
    ['/preview-en.png', 1200],
    ['/icon-512.png', 512],
    ['/icon-192.png', 192],
    ['/apple-touch-icon.png', 180],
  ] as const) {
    const bytes = Buffer.from(await (await fetch(`${at.stage.url}${path}`)).arrayBuffer())
    // The width in the header of a PNG file.
    assert.equal(bytes.readUInt32BE(16), width, path)
  }
  const origin = new URL(CABINET).origin
  assert.ok((await textOf('/robots.txt')).includes(`Sitemap: ${origin}/sitemap.xml`))
  const siteMap = await textOf('/sitemap.xml')
  for (const path of listed)
    assert.ok(siteMap.includes(`<loc>${origin}${path}?lang=en</loc>`), path)
  const manifest = JSON.parse(await textOf('/site.webmanifest')) as { name: string }
  assert.equal(manifest.name, 'Tollgate')
})

test('the first HTML and the first scripts are small', async (t) => {
  const docs = docsNames.map((name) => `/docs/${name}`)
  for (const path of new Set([...Object.keys(pages), ...docs])) {
    const response = await fetch(`${at.stage.url}${path}`, {
      headers: { 'accept-encoding': 'gzip' },
    })
    const bytes = Number(response.headers.get('content-length'))
    assert.equal(response.headers.get('content-encoding'), 'gzip')
    assert.ok(bytes > 0 && bytes <= HTML_BYTES_MAX, `${path}: ${bytes} bytes of HTML`)
    t.diagnostic(`${path}: ${bytes} bytes of HTML, gzip`)
  }
  const { script, requests } = await loaded('/')
  assert.ok(script > 0 && script <= SCRIPT_BYTES_MAX, `${script} bytes of script`)
  assert.ok(
    !requests.some((path) => path.startsWith('/api/')),
    `no API call: ${requests.join(' ')}`,
  )
  t.diagnostic(`front page: ${script} bytes of script, ${requests.length} requests`)
})

for (const [name, theme] of looks) {
  test(`${name}, ${theme}: scripts take the pages over without an error`, () =>
    at.browser.within(
      name,
      async (page) => {
        await page.addInitScript(MARK)
        for (const path of Object.keys(pages)) {
          await page.goto(`${at.stage.url}${path}`, { waitUntil: 'commit' })
          await page.waitForLoadState('networkidle')
          // React hydrated the server's elements, it did not replace them: see the probe below.
          assert.equal(await page.evaluate(PROBE), 'kept', path)
          await assertFitsAndAccessible(page, `${path} on a ${name}, ${theme}`)
        }
        await page.goto(at.stage.url)
        await saveScreenshot(page, 'front', `${name}-${theme}`)
      },
      theme,
    ))
}

test('a query that a page reads is for the browser; other queries change nothing', async () => {
  assert.match(await textOf('/prices?input=5'), /<div id="app"><\/div>/)
  assert.match(await textOf('/prices?input=5'), /property="og:title"/)
  assert.match(await textOf('/?utm_source=letter'), /data-rendered/)
})

test('an owner gets a page of the browser, which nobody else can have been sent', async () => {
  const own = await at.stage.person('owner')
  const cookie = [...own.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(at.stage.url, { headers: { cookie } })
  assert.match(await response.text(), /<div id="app"><\/div>/)
  const again = await fetch(at.stage.url)
  assert.equal(again.headers.get('vary'), 'accept-encoding, accept-language, cookie')
})

test('without scripts the front page shows each client, and two lines that change', async () => {
  const opened = await at.browser.open('phone', { language: 'en', hasScripts: false })
  const { page } = opened
  await page.goto(at.stage.url)
  for (const [client, line] of [
    ['TypeScript', "baseURL: 'https://api.example.org',"],
    ['Python', 'base_url="https://api.example.org",'],
    ['Agent', 'export ANTHROPIC_BASE_URL="https://api.example.org"'],
    ['curl', 'curl https://api.example.org/v1/messages'],
  ] as const) {
    await page.getByText(client, { exact: true }).first().tap()
    const code = page.getByRole('region', { name: `What changes: ${client}` })
    assert.ok((await code.innerText()).includes(line), client)
    assert.equal(await page.getByRole('region', { name: /^What changes/ }).count(), 1)
    assert.equal(await code.getByText('After:').count(), 2, client)
  }
  await opened.close()
})

test('the front page computes a request as the visitor types, by the catalogue', () =>
  at.browser.within('desktop', async (page) => {
    await page.goto(at.stage.url)
    await page.waitForLoadState('networkidle')
    await page.getByLabel('Входные токены').fill('1000')
    await page.getByLabel('Выходные токены').fill('10')
    // 1000 × 1 + 10 × 5
    await page.getByText('1 050 кредитов').waitFor()
    await page.getByLabel('Выходные токены').fill('ten')
    await page.getByText('Исправьте отмеченные поля').waitFor()
  }))

test('what a visitor types before scripts run is kept, and no password gets into an address', () =>
  at.browser.within('desktop', async (page) => {
    const scripts = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      await scripts.promise
      await route.continue()
    })
    await page.goto(`${at.stage.url}/sign-in`, { waitUntil: 'commit' })
    await page.getByLabel('Электронная почта').fill('early@example.org')
    await page.getByLabel('Пароль', { exact: true }).fill('an early password')
    await page.getByRole('checkbox').setChecked(false)
    await page.keyboard.press('Enter')
    await page.getByLabel('Пароль', { exact: true }).press('Enter')
    const button = page.getByRole('button', { name: 'Войти' })
    assert.equal(await button.isDisabled(), true, 'what does nothing yet looks so')
    await button.click({ force: true })
    assert.equal(page.url(), `${at.stage.url}/sign-in`)
    const request = page.waitForRequest('**/api/auth/sign-in/email')
    scripts.resolve()
    await page.waitForLoadState('networkidle')
    await page.locator('button[type=submit]').click()
    const sent = JSON.parse((await request).postData() ?? '{}')
    assert.deepEqual(sent, {
      email: 'early@example.org',
      password: 'an early password',
      isPrivate: false,
    })
  }))

test('a model chosen before scripts run is the one that the sum is for', () =>
  at.browser.within('desktop', async (page) => {
    const scripts = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      await scripts.promise
      await route.continue()
    })
    await page.goto(at.stage.url, { waitUntil: 'commit' })
    await page.getByLabel('Модель').selectOption('model-medium')
    await page.getByLabel('Входные токены').fill('1000')
    scripts.resolve()
    // 1000 × 1 + 500 × 4
    await page.getByText('3 000 кредитов').waitFor()
  }))

for (const language of ['ru', 'en'] as const) {
  test(`every promise of the front page links to a section that exists, ${language}`, async () => {
    const html = await textOf(`/?lang=${language}`)
    const links = [...html.matchAll(/href="(\/docs\/[\w-]+)#([^"]+)"/g)]
    assert.equal(links.length, 6)
    for (const [, path = '', anchor = ''] of links) {
      const page = await textOf(`${path}?lang=${language}`)
      assert.ok(page.includes(`id="${decodeURIComponent(anchor)}"`), `${path}#${anchor}`)
    }
  })
}

for (const language of ['ru', 'en'] as const) {
  test(`on a phone the name and the sign-in are in one row, ${language}`, async () => {
    const opened = await at.browser.open('phone', { language })
    const { page } = opened
    await page.goto(at.stage.url)
    await page.waitForLoadState('networkidle')
    const middles = ['/', '/sign-in'].map(async (path) => {
      const box = await page.locator(`header a[href="${path}"]`).boundingBox()
      return box === null ? undefined : Math.round(box.y + box.height / 2)
    })
    const [name, signIn] = await Promise.all(middles)
    assert.ok(name !== undefined)
    assert.equal(signIn, name)
    await opened.close()
  })
}

test('the front page fits tablets and wide screens', async () => {
  const opened = await at.browser.open('desktop')
  for (const width of [768, 1920]) {
    await opened.page.setViewportSize({ width, height: 1000 })
    await opened.page.goto(at.stage.url)
    await opened.page.waitForLoadState('networkidle')
    await assertFitsAndAccessible(opened.page, `the front page ${width} wide`)
  }
  await opened.close()
})

/** Marks the element as soon as the parser has made it. */
const MARK = `new MutationObserver((_changes, observer) => {
  const main = document.querySelector('main')
  if (main === null) return
  main.dataset.first = 'yes'
  observer.disconnect()
}).observe(document, { childList: true, subtree: true })`
/** Elements that scripts replaced would have lost the mark that the first script set. */
const PROBE = `document.querySelector('main')?.dataset.first === 'yes' ? 'kept' : 'replaced'`

async function textOf(path: string): Promise<string> {
  return (await fetch(`${at.stage.url}${path}`)).text()
}

/** The compressed script of a first visit, and the paths of all its requests. */
async function loaded(path: string) {
  const opened = await at.browser.open('desktop')
  const { page } = opened
  const sizes: Promise<number>[] = []
  const requests: string[] = []
  page.on('requestfinished', (request) => {
    requests.push(new URL(request.url()).pathname)
    if (request.resourceType() !== 'script') return
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  await page.goto(`${at.stage.url}${path}`)
  await page.waitForLoadState('networkidle')
  const script = (await Promise.all(sizes)).reduce((sum, one) => sum + one, 0)
  await opened.close()
  return { script, requests }
}
