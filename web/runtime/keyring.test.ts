// The keyring in a real browser: IndexedDB and keys that cannot be exported exist nowhere else. The
// pages come from a plain server of its own; without a Chromium there is nothing to run them in.
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
const skip = executablePath === undefined && 'there is no Chromium here'

const PLAIN = 'sk-vendor-api03-AAbcdefghijkl-this-is-the-secret-part-of-a-key-0123456789'
const KEPT = {
  account: 'acc_one',
  keyId: 'key_one',
  last4: '6789',
  createdAt: '2026-11-15T04:15:00.000Z',
}

const scripts: Readonly<Record<string, URL>> = {
  '/keyring.ts': new URL('./keyring.ts', import.meta.url),
  '/keyring-trial.ts': new URL('./keyring-trial.ts', import.meta.url),
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

/** Two pages of one fresh profile, as two tabs are. */
async function openTabs(): Promise<[Page, Page]> {
  assert(opened.browser)
  const context = await opened.browser.newContext()
  const pages: [Page, Page] = [await context.newPage(), await context.newPage()]
  for (const page of pages) await visit(page)
  return pages
}

async function visit(page: Page): Promise<void> {
  await page.goto(opened.url)
  await page.evaluate(`import('/keyring-trial.ts').then((all) => Object.assign(globalThis, all))`)
}

/** Calls a verb of keyring-trial.ts in the page. */
function run<Answer>(page: Page, verb: string, ...given: readonly unknown[]): Promise<Answer> {
  const list = given.map((one) => JSON.stringify(one)).join(', ')
  return page.evaluate<Answer>(`trial.${verb}(${list})`)
}

const recall = (page: Page, changed: Partial<typeof KEPT> = {}) =>
  run<string | undefined>(page, 'recall', { ...KEPT, ...changed })

type Row = Readonly<Record<string, unknown>>

test('a key that was kept reads back after a reload and in another tab', { skip }, async () => {
  const [one, other] = await openTabs()
  await run(one, 'keep', KEPT, PLAIN)
  await visit(one)
  assert.equal(await recall(one), PLAIN)
  assert.equal(await recall(other), PLAIN)
  assert.deepEqual(await run(one, 'keptFor', KEPT.account), [KEPT])
})

test('the plain value is in no storage of the browser', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'keep', KEPT, PLAIN)
  const [row = {}] = await run<Row[]>(page, 'rows', 'keys')
  const bytes = Object.values(row).flatMap((value) => (Array.isArray(value) ? value : []))
  const text = JSON.stringify(row) + String.fromCharCode(...bytes)
  assert.ok(bytes.length > PLAIN.length, 'the ciphertext is there')
  assert.ok(!text.includes(PLAIN.slice(16, 40)))
  assert.equal(await page.evaluate('localStorage.length + sessionStorage.length'), 0)
})

test('the wrapping key cannot be taken away by any script', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'keep', KEPT, PLAIN)
  const said = await page.evaluate(`trial.attempt(trial.exportWrapping('acc_one'))`)
  assert.equal(said, 'InvalidAccessError')
})

test('a row passed off as another account’s or another key’s opens nothing', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'keep', KEPT, PLAIN)
  for (const to of [{ account: 'acc_two' }, { keyId: 'key_two' }]) {
    const { account, keyId } = { ...KEPT, ...to }
    await run(page, 'copyRow', [KEPT.account, KEPT.keyId], { account, keyId })
    assert.equal(await recall(page, to), undefined)
  }
  assert.equal(await recall(page), PLAIN)
})

test('a key kept twice is encrypted with another vector each time', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'keep', KEPT, PLAIN)
  const [first] = await run<Row[]>(page, 'rows', 'keys')
  await run(page, 'keep', KEPT, PLAIN)
  const [second, ...others] = await run<Row[]>(page, 'rows', 'keys')
  assert.deepEqual(others, [])
  assert.notDeepEqual(first?.iv, second?.iv)
  assert.notDeepEqual(first?.ciphertext, second?.ciphertext)
})

test('old keys are wiped; the named one and other accounts’ stay', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'keep', KEPT, PLAIN)
  await run(page, 'keep', { ...KEPT, keyId: 'key_new' }, 'the new one')
  await run(page, 'keep', { ...KEPT, account: 'acc_one_more' }, 'somebody else’s')
  await run(page, 'keepOnly', KEPT.account, ['key_new'])
  assert.equal(await recall(page), undefined)
  assert.equal(await recall(page, { keyId: 'key_new' }), 'the new one')
  assert.equal(await recall(page, { account: 'acc_one_more' }), 'somebody else’s')
})

test('who leaves a shared device leaves neither key nor wrapping key', { skip }, async () => {
  const [page] = await openTabs()
  await run(page, 'keep', KEPT, PLAIN)
  await run(page, 'forget', KEPT.account)
  assert.deepEqual(await run(page, 'rows', 'keys'), [])
  assert.deepEqual(await run(page, 'rows', 'wrappings'), [])
})

test('two tabs that keep at the same moment both read back', { skip }, async () => {
  const [one, other] = await openTabs()
  const second = { ...KEPT, keyId: 'key_two' }
  await Promise.all([run(one, 'keep', KEPT, PLAIN), run(other, 'keep', second, 'the other')])
  assert.equal(await recall(other), PLAIN)
  assert.equal(await recall(one, { keyId: 'key_two' }), 'the other')
})

test('another tab of the same account is told that a key was kept', { skip }, async () => {
  const [one, other] = await openTabs()
  await run(other, 'watch', 'acc_two')
  await run(other, 'watch', KEPT.account)
  await run(one, 'keep', KEPT, PLAIN)
  await other.waitForFunction('trial.told.length > 0')
  assert.deepEqual(await other.evaluate('trial.told'), [KEPT.account])
})

test('a browser without storage says so and does not pretend', { skip }, async () => {
  assert(opened.browser)
  const context = await opened.browser.newContext()
  await context.addInitScript(
    `Object.defineProperty(globalThis, 'indexedDB', { value: undefined })`,
  )
  const page = await context.newPage()
  await visit(page)
  const said = await page.evaluate(`trial.attempt(trial.keep(${JSON.stringify(KEPT)}, 'x'))`)
  assert.equal(said, 'KeyringClosed')
})
