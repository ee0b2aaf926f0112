// Hostile pages, cookies and text against a real browser with a signed-in owner: what another site
// can make the browser do, which session it ends up with, where our pages can be framed, and
// whether text that a user typed ever runs as script.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { until } from '../stages/mail.ts'
import {
  addAuthenticator,
  openBrowser,
  type TestBrowser,
  type TestWindow,
} from './support/browser.ts'
import { createJourneyStage, type JourneyStage, PASSWORD } from './support/cabinet-stage.ts'
import { button, callFrom, createSignedInAccount, PACK, words } from './support/cabinet-steps.ts'
import { type EvilSite, evilPage, openEvilSite } from './support/evil-site.ts'

const { ru } = words
const at = {
  stage: undefined as unknown as JourneyStage,
  browser: undefined as unknown as TestBrowser,
  evil: undefined as unknown as EvilSite,
}
before(async () => {
  at.evil = await openEvilSite()
  at.browser = await openBrowser()
  at.stage = await createJourneyStage()
})
after(async () => {
  await at.browser.close()
  at.evil.close()
  await at.stage.end()
})

async function within(work: (opened: TestWindow) => Promise<void>, agent?: string): Promise<void> {
  const opened = await at.browser.open('desktop', agent === undefined ? {} : { agent })
  try {
    await work(opened)
  } finally {
    await opened.close()
  }
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(`${at.stage.url}/sign-in`)
  await page.getByLabel(ru.signIn.email).fill(email)
  await page.getByLabel(ru.signIn.password, { exact: true }).fill(PASSWORD)
  await button(page, ru.signIn.submit).click()
  await page.getByRole('heading', { name: ru.home.title, level: 1 }).waitFor()
}

const SESSION = 'tollgate.session_token'

async function sessionOf(context: BrowserContext): Promise<string> {
  const found = (await context.cookies()).find(({ name }) => name === SESSION)
  assert.ok(found, 'there is a session')
  return found.value
}

/** The e-mail address of a session's account, or the status of the refusal. */
async function whoIs(session: string): Promise<string> {
  const headers = { cookie: `${SESSION}=${session}` }
  const response = await fetch(`${at.stage.url}/api/me`, { headers })
  const { email } = (await response.json()) as { email?: string }
  return email ?? String(response.status)
}

// ---- Another site -------------------------------------------------------------------------------

/** Every call that changes something without a secret that an attacker would have to know. */
const PATHS = [
  ...['/api/auth/sign-out', '/api/auth/email/change', '/api/auth/request-password-reset'],
  ...[
    '/api/me/language',
    '/api/me/zone',
    '/api/sessions/revoke-others',
    '/api/consents',
    '/api/closing',
  ],
  ...['/api/orders', '/api/promo', '/api/key', '/api/key/revoke'],
]
const BODY = JSON.stringify({
  ...{ language: 'en', unspent: 'forfeit', newEmail: 'evil@example.org', email: 'e@example.org' },
  ...{ pack: PACK.id, method: 'card', attempt: 'evil', document: 'news', version: '1' },
})

/** Sends what a page may send without a preflight; `canRead` checks reading the answer. */
async function postFrom(page: Page, address: string): Promise<void> {
  await page.evaluate(
    async ([url, body]) => {
      const init = { method: 'POST', mode: 'no-cors', credentials: 'include' } as const
      const headers = { 'content-type': 'text/plain' }
      await fetch(url, { ...init, headers, body }).catch(() => undefined)
      await fetch(url, init).catch(() => undefined)
    },
    [address, BODY] as const,
  )
}

/** An account is made by two calls: register and confirm. */
const REGISTERING_POSTS = 2

/** How often the cabinet answered a POST with each status, once its log has that many. */
async function answeredPosts(total: number): Promise<Map<number, number>> {
  const sum = (counts: Map<number, number>) => [...counts.values()].reduce((a, b) => a + b, 0)
  // The browser has an answer before the line about it arrives here.
  await until(`${total} answers`, async () => sum(loggedPosts()) >= total)
  return loggedPosts()
}

function loggedPosts(): Map<number, number> {
  const counts = new Map<number, number>()
  for (const line of at.stage.processes.cabinet.printed().split('\n')) {
    const status = /"method":"POST".*"status":(\d+).*"answered"/.exec(line)?.[1]
    if (status !== undefined) counts.set(Number(status), (counts.get(Number(status)) ?? 0) + 1)
  }
  return counts
}

/** True when the browser let the page read the answer. */
function canRead(page: Page, address: string, init: object = {}): Promise<boolean> {
  return page.evaluate(
    ([url, given]) =>
      fetch(url, { ...given, credentials: 'include' }).then(
        () => true,
        () => false,
      ),
    [address, init] as const,
  )
}

test('another site can neither change nor read anything through a signed-in browser', () =>
  within(async ({ page, context }) => {
    const { stage } = at
    const email = await createSignedInAccount(stage, page, 'csrf', { bought: false })
    const session = await sessionOf(context)
    const before = await answeredPosts(REGISTERING_POSTS)
    for (const origin of at.evil.origins) {
      await page.goto(origin)
      for (const path of PATHS) await postFrom(page, stage.url + path)
      const asJson = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
      assert.equal(await canRead(page, `${stage.url}/api/auth/sign-out`, asJson), false)
      for (const path of ['/', '/api/brand', '/api/me', '/api/key', '/api/export', '/api/live']) {
        assert.equal(await canRead(page, stage.url + path), false, path)
      }
      assert.equal(await canRead(page, origin), true, 'its own pages it can read')
      for (const enctype of ['text/plain', 'application/x-www-form-urlencoded']) {
        await page.goto(evilPage(origin, 'form', { to: `${stage.url}/api/me/language`, enctype }))
        await button(page, 'Go').click()
        await page.getByText('origin_wrong').waitFor()
      }
    }
    const sent = at.evil.origins.length * (2 * PATHS.length + 2)
    const after = await answeredPosts(REGISTERING_POSTS + sent)
    const grown = (status: number) => (after.get(status) ?? 0) - (before.get(status) ?? 0)
    assert.equal(grown(403) + grown(415), sent, `all were sent, none was taken: ${[...after]}`)
    assert.equal(grown(200), 0)
    assert.equal(await whoIs(session), email)
    assert.equal(await sessionOf(context), session)
    const { rows } = await stage.db.query(
      `select language, (select count(*)::int4 from orders) as orders from accounts
       where email = $1 and closed_at is null`,
      [email],
    )
    assert.deepEqual(rows, [{ language: 'ru', orders: 0 }])
  }))

test('no page or answer of ours can be framed', () =>
  within(async ({ page }) => {
    await createSignedInAccount(at.stage, page, 'framed', { bought: false })
    const framed = async (origin: string, to: string) => {
      const filled = page.waitForEvent('framenavigated', (one) => one.parentFrame() !== null)
      await page.goto(evilPage(origin, 'frame', { to }))
      return (await filled).url()
    }
    for (const origin of at.evil.origins) {
      for (const path of ['/', '/sign-in', '/key', '/privacy', '/api/brand', '/readyz']) {
        assert.equal(await framed(origin, at.stage.url + path), 'chrome-error://chromewebdata/')
      }
      assert.equal(await framed(origin, `${origin}/`), `${origin}/`, 'others can be framed')
    }
  }))

// ---- Planted sessions ---------------------------------------------------------------------------

test('a session planted before a sign-in is replaced by it, and ends', () =>
  within(async ({ page, context }) => {
    const email = await createSignedInAccount(at.stage, page, 'planted', { bought: false })
    await context.clearCookies()
    await within(async (attacker) => {
      const theirs = await createSignedInAccount(at.stage, attacker.page, 'attacker', {
        bought: false,
      })
      const planted = await sessionOf(attacker.context)
      assert.equal(await whoIs(planted), theirs)
      await context.addCookies([{ name: SESSION, value: planted, url: at.stage.url }])
      // Signs in without a sign-out, as pages do to confirm an identity, to another account.
      await page.goto(at.stage.url)
      const answer = await callFrom(page, '/api/auth/sign-in/email', { email, password: PASSWORD })
      assert.equal(answer.status, 200)
      const session = await sessionOf(context)
      assert.notEqual(session, planted)
      assert.equal(await whoIs(session), email)
      assert.equal(await whoIs(planted), '401', 'the planted session has ended')
    })
  }))

test('a made-up session is never adopted, and one that was signed out opens nothing', () =>
  within(async ({ page, context }) => {
    const email = await createSignedInAccount(at.stage, page, 'made-up', { bought: false })
    const first = await sessionOf(context)
    await page.goto(at.stage.url)
    await button(page, ru.menu.account).click()
    await page.getByRole('menuitem', { name: ru.menu.signOut }).click()
    await page.getByRole('heading', { name: ru.signIn.title }).waitFor()
    assert.equal(await whoIs(first), '401', 'signed out')
    const madeUp = 'chosen-by-somebody-else.c2lnbmF0dXJl'
    await context.addCookies([{ name: SESSION, value: madeUp, url: at.stage.url }])
    await signIn(page, email)
    const second = await sessionOf(context)
    assert.notEqual(second, madeUp)
    assert.equal(await whoIs(madeUp), '401')
    await signInAgain(page, email)
    const third = await sessionOf(context)
    assert.notEqual(third, second)
    assert.deepEqual([await whoIs(second), await whoIs(third)], ['401', email])
  }))

async function signInAgain(page: Page, email: string): Promise<void> {
  const answer = await callFrom(page, '/api/auth/sign-in/email', { email, password: PASSWORD })
  assert.equal(answer.status, 200)
}

// ---- Text that would like to run ----------------------------------------------------------------

/** Sets `ran` if text becomes markup, an attribute or a URL. */
const PAYLOADS = {
  image: '<img src=x onerror=ran=1>',
  script: '</title><script>ran=1</script>',
  attribute: `"' onfocus=ran=1 autofocus x="`,
  address: 'javascript:ran=1',
} as const
const AGENT = `Mozilla/5.0 (X11; Linux) ${PAYLOADS.image} Chrome/140.0 ${PAYLOADS.attribute}`

/** No script ran, and no element was made from text. */
async function assertInert(page: Page, where: string): Promise<void> {
  assert.equal(await page.evaluate('globalThis.ran'), undefined, where)
  // The data of a page that the server rendered is of a type that no browser runs.
  const script = 'script:not([src], [type="application/json"]#server-state)'
  const grown = page.locator(`[onerror], [onfocus], img[src=x], ${script}, [href^="java"]`)
  assert.equal(await grown.count(), 0, where)
}

const PAGES = ['/', '/packs', '/payments', '/key', '/settings', '/security', '/privacy']

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto(`${at.stage.url}/security`)
  await button(page, ru.passkey.add).click()
  await page.getByRole('dialog').getByLabel(ru.passkey.name).fill(name)
  await button(page, ru.action.continue).click()
  await page.getByText(name, { exact: true }).waitFor()
}

async function renamePasskey(page: Page, from: string, to: string): Promise<void> {
  await button(page, ru.passkey.renameOf.replace('{{name}}', from)).click()
  await page.getByRole('dialog').getByLabel(ru.passkey.name).fill(to)
  await button(page, ru.action.save).click()
  await page.getByText(to, { exact: true }).waitFor()
}

test('an address with markup in it is refused with a message', () =>
  within(async ({ page, assertNoPageErrors }) => {
    await page.goto(`${at.stage.url}/register`)
    const consents = [{ document: 'offer', version: '2026-11-01' }]
    for (const local of [
      '<img/src=x/onerror=ran=1>',
      '"<script>ran=1</script>"',
      'a"onfocus=ran=1',
    ]) {
      const email = `${local}@example.org`
      const person = { email, password: PASSWORD, language: 'ru', consents }
      const { status, body } = await callFrom(page, '/api/auth/register', person)
      assert.deepEqual([status, (body.error as { code: string }).code], [400, 'email_wrong'], email)
    }
    await page.getByLabel(ru.signIn.email).fill('<img/src=x/onerror=ran=1>@example.org')
    await page.getByLabel(ru.signIn.password, { exact: true }).fill(PAYLOADS.image)
    await page.getByRole('checkbox').first().check()
    await button(page, ru.register.submit).click()
    await page.getByText(ru.errors.email_wrong).waitFor()
    await assertInert(page, 'registration')
    assertNoPageErrors()
  }))

test('text that a user typed runs on no page, nor does the name of a browser', () =>
  within(async ({ page, assertNoPageErrors }) => {
    await createSignedInAccount(at.stage, page, "o'neil+quote", { bought: false })
    await addAuthenticator(page)
    const { image, script, attribute } = PAYLOADS
    await addPasskey(page, image)
    await assertInert(page, 'a new passkey')
    await renamePasskey(page, image, script)
    await renamePasskey(page, script, attribute)
    await assertInert(page, 'renamed')
    await page.goto(`${at.stage.url}/packs`)
    for (const code of Object.values(PAYLOADS)) {
      await page.getByLabel(ru.promo.code).fill(code)
      await button(page, ru.promo.apply).click()
      await page.getByText(ru.errors.promo_refused).waitFor()
      await assertInert(page, code)
    }
    for (const path of PAGES) {
      await page.goto(at.stage.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.getByText(ru.state.loading).first().waitFor({ state: 'detached' })
      await assertInert(page, path)
    }
    assertNoPageErrors()
  }, AGENT))

test('hostile text in a URL neither runs nor leads to another site', () =>
  within(async ({ page, assertNoPageErrors }) => {
    const { url } = at.stage
    const email = await createSignedInAccount(at.stage, page, 'links', { bought: false })
    for (const text of Object.values(PAYLOADS).map(encodeURIComponent)) {
      const unknown = [
        [`/orders/${text}`, ru.errors.order_unknown],
        [`/documents/${text}`, ru.notFound.title],
        [`/${text}`, ru.notFound.title],
      ] as const
      for (const [path, said] of unknown) {
        await page.goto(url + path)
        await page.getByText(said).waitFor()
        await assertInert(page, path)
      }
    }
    for (const next of [PAYLOADS.address, '//example.com', '/\t/example.com']) {
      await page.context().clearCookies()
      await page.goto(`${url}/sign-in?next=${encodeURIComponent(next)}#code=${PAYLOADS.image}`)
      await page.getByLabel(ru.signIn.email).fill(email)
      await page.getByLabel(ru.signIn.password, { exact: true }).fill(PASSWORD)
      await button(page, ru.signIn.submit).click()
      await page.getByRole('heading', { name: ru.home.title, level: 1 }).waitFor()
      assert.equal(new URL(page.url()).origin, url)
      await assertInert(page, next)
    }
    assertNoPageErrors()
  }))

test('no e-mail carries markup that a user typed', () =>
  within(async ({ page }) => {
    const emails = at.stage.mailbox.list().filter(({ html }) => html !== null)
    const kinds = new Set(emails.map(({ kind }) => kind))
    assert.ok(kinds.has('passkey-added') && kinds.has('confirm-email'), `${[...kinds]}`)
    for (const { html, kind, subject } of emails) {
      // Mail programs do not apply our content security policy.
      await page.setContent(html ?? '')
      await assertInert(page, `${kind}: ${subject}`)
      assert.equal(await page.locator('img, script, iframe, svg, object').count(), 0, String(kind))
    }
    const named = emails.filter(({ html }) => html?.includes('onerror=ran=1'))
    assert.ok(named.length > 0, 'the text itself is there, as text')
  }))

test('the browser refuses text inserted as markup, and every journey would notice', () =>
  within(async ({ page, assertNoPageErrors }) => {
    await page.goto(`${at.stage.url}/sign-in`)
    assertNoPageErrors()
    await assert.rejects(page.evaluate(`document.body.innerHTML = '<b>text</b>'`), /TrustedHTML/)
    const written = `document.createElement('script').text = 'globalThis.ran = 1'`
    await assert.rejects(page.evaluate(written), /TrustedScript/)
    await page.evaluate(`{
      const link = document.createElement('a')
      link.href = 'javascript:globalThis.ran=1'
      document.body.append(link)
      link.click()
    }`)
    assert.equal(await page.evaluate('globalThis.ran'), undefined)
    assert.throws(assertNoPageErrors, /the console stays empty/)
  }))
