// Tests the keyring in a real browser: Node has no IndexedDB and no place for keys that cannot be
// exported. A plain HTTP server serves the pages; without Chromium the tests are skipped.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'

const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path))
const skip = executablePath === undefined && 'Chromium is not installed'

const PLAIN = 'sk-vendor-api03-AAbcdefghijkl-this-is-the-secret-part-of-a-key-0123456789'
const KEY = {
  account: 'acc_one',
  keyId: 'key_one',
  last4: '6789',
  createdAt: '2026-11-15T04:15:00.000Z',
}

const scripts: Readonly<Record<string, URL>> = {
  '/keyring.ts': new URL('./keyring.ts', import.meta.url),
  '/keyring-probe.ts': new URL('./keyring-probe.ts', import.meta.url),
}
const server = createServer(({ url = '' }, response) => {
  const script = scripts[url]
  response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript')
  if (script === undefined) response.end('<!doctype html><title>keyring</title>')
  else response.end(stripTypeScriptTypes(readFileSync(script, 'utf8')))
})
const opened: { browser?: Browser; url: string } = { url: '' }

before(async () => {
  if (executablePath === undefined) return
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  opened.browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  })
})

after(async () => {
  await opened.browser?.close()
  server.close()
})

/** Two tabs of one new browser profile. */
async function openTabs(): Promise<[Page, Page]> {
  assert(opened.browser)
  const context = await opened.browser.newContext()
  const pages: [Page, Page] = [await context.newPage(), await context.newPage()]
  for (const page of pages) await visit(page)
  return pages
}

async function visit(page: Page): Promise<void> {
  await page.goto(opened.url)
  await page.evaluate(`import('/keyring-probe.ts').then((all) => Object.assign(globalThis, all))`)
}

/** Calls a function of keyring-probe.ts in the page. */
function run<Answer>(page: Page, verb: string, ...given: readonly unknown[]): Promise<Answer> {
  const list = given.map((one) => JSON.stringify(one)).join(', ')
  return page.evaluate<Answer>(`probe.${verb}(${list})`)
}

const readKey = (page: Page, changed: Partial<typeof KEY> = {}) =>
  run<string | undefined>(page, 'readKey', { ...KEY, ...changed })

type Row = Readonly<Record<string, unknown>>

test('reads a stored key after a reload and in another tab', { skip }, async () => {
  const [one, other] = await openTabs()
  await run(one, 'storeKey', KEY, PLAIN)
  await visit(one)
  assert.equal(await readKey(one), PLAIN)
  assert.equal(await readKey(other), PLAIN)
  assert.deepEqual(await run(one, 'listKeys', KEY.account), [KEY])
})

test('stores the plain value nowhere in the browser', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'storeKey', KEY, PLAIN)
  const [row = {}] = await run<Row[]>(page, 'rows', 'keys')
  const bytes = Object.values(row).flatMap((value) => (Array.isArray(value) ? value : []))
  const text = JSON.stringify(row) + String.fromCharCode(...bytes)
  assert.ok(bytes.length > PLAIN.length, 'the ciphertext is there')
  assert.ok(!text.includes(PLAIN.slice(16, 40)))
  assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0)
})

test('lets no script export the wrapping key', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'storeKey', KEY, PLAIN)
  const errorName = await page.evaluate(`probe.errorNameOf(probe.exportWrapping('acc_one'))`)
  assert.equal(errorName, 'InvalidAccessError')
})

test('decrypts no row copied under another account or key id', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'storeKey', KEY, PLAIN)
  for (const to of [{ account: 'acc_two' }, { keyId: 'key_two' }]) {
    const { account, keyId } = { ...KEY, ...to }
    await run(page, 'copyRow', [KEY.account, KEY.keyId], { account, keyId })
    assert.equal(await readKey(page, to), undefined)
  }
  assert.equal(await readKey(page), PLAIN)
})

test('encrypts with a new vector each time', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'storeKey', KEY, PLAIN)
  const [first] = await run<Row[]>(page, 'rows', 'keys')
  await run(page, 'storeKey', KEY, PLAIN)
  const [second, ...others] = await run<Row[]>(page, 'rows', 'keys')
  assert.deepEqual(others, [])
  assert.notDeepEqual(first?.iv, second?.iv)
  assert.notDeepEqual(first?.ciphertext, second?.ciphertext)
})

test('wipes old keys, but neither the named one nor those of other accounts', {
  skip,
}, async () => {
  const [page] = await openTabs()
  await run(page, 'storeKey', KEY, PLAIN)
  await run(page, 'storeKey', { ...KEY, keyId: 'key_new' }, 'the new one')
  await run(page, 'storeKey', { ...KEY, account: 'acc_one_more' }, 'somebody else’s')
  await run(page, 'wipeAllKeysBut', KEY.account, ['key_new'])
  assert.equal(await readKey(page), undefined)
  assert.equal(await readKey(page, { keyId: 'key_new' }), 'the new one')
  assert.equal(await readKey(page, { account: 'acc_one_more' }), 'somebody else’s')
})

test('leaves neither key nor wrapping key on a shared device', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'storeKey', KEY, PLAIN)
  await run(page, 'wipeKeys', KEY.account)
  assert.deepEqual(await run(page, 'rows', 'keys'), [])
  assert.deepEqual(await run(page, 'rows', 'wrappings'), [])
})

test('stores the keys of two tabs at the same moment', { skip }, async () => {
  const [one, other] = await openTabs()
  const second = { ...KEY, keyId: 'key_two' }
  await Promise.all([run(one, 'storeKey', KEY, PLAIN), run(other, 'storeKey', second, 'the other')])
  assert.equal(await readKey(other), PLAIN)
  assert.equal(await readKey(one, { keyId: 'key_two' }), 'the other')
})

test('notifies other tabs of the same account when a key is stored', { skip }, async () => {
  const [one, other] = await openTabs()
  await run(other, 'watch', 'acc_two')
  await run(other, 'watch', KEY.account)
  await run(one, 'storeKey', KEY, PLAIN)
  await other.waitForFunction('probe.notified.length > 0')
  assert.deepEqual(await other.evaluate('probe.notified'), [KEY.account])
})

test('throws KeyringUnavailable in a browser without storage', { skip }, async () => {
  assert(opened.browser)
  const context = await opened.browser.newContext()
  await context.addInitScript(
    `Object.defineProperty(globalThis, 'indexedDB', { value: undefined })`,
  )
  const page = await context.newPage()
  await visit(page)
  const errorName = await page.evaluate(
    `probe.errorNameOf(probe.storeKey(${JSON.stringify(KEY)}, 'x'))`,
  )
  assert.equal(errorName, 'KeyringUnavailable')
})
