// Session, origin, body and allowance checks of every route of /api.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../../../test/stages/cabinet.ts'
import type { Brand, DocumentText, ErrorBody } from '../contract/contract.ts'
import type { Prices } from '../contract/prices.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

const GETS = [
  ...['me', 'sessions', 'passkeys', 'consents', 'closing', 'export', 'home', 'live', 'packs'],
  ...['orders', 'orders/x', 'orders/x/refundable', 'key'],
].map((path) => `GET /api/${path}`)
const POSTS = [
  ...[
    'me/language',
    'me/zone',
    'sessions/x/revoke',
    'sessions/revoke-others',
    'consents',
    'closing',
  ],
  ...['orders', 'orders/x/check', 'orders/x/refund', 'promo'],
  ...['key', 'key/x/confirm', 'key/verify', 'key/revoke'],
].map((path) => `POST /api/${path}`)

test('a NUL character in an identifier or a code is refused, and is no fault', async () => {
  const own = await at.stage.person('nul')
  const paths = ['GET /api/documents/X', 'GET /api/orders/X', 'POST /api/orders/X/check']
  const posts = ['sessions/X/revoke', 'closing/refunds/X/again', 'key/X/confirm']
  for (const path of [...paths, ...posts.map((it) => `POST /api/${it}`)]) {
    for (const id of ['%00', 'a%00b']) {
      assert.equal(await own.refusal(path.replace('X', id)), '400 field_invalid', path)
    }
  }
  const anybody = at.stage.browser()
  for (const code of ['%00.a', 'a.%00']) {
    assert.equal(await anybody.refusal(`POST /unsubscribe?code=${code}`), '400 field_invalid')
  }
  assert.deepEqual(
    at.stage.lines.filter((line) => /"level":"error"/.test(line)),
    [],
  )
})

test('brand, prices and legal documents need no session', async () => {
  const anybody = at.stage.browser()
  const { body: brand } = await anybody.expectOk<Brand>('GET /api/brand')
  assert.deepEqual(
    [brand.name, brand.apiUrl, brand.vendorSlug, brand.requisites, brand.languages],
    [
      'Tollgate',
      'https://api.example.org',
      'vendor',
      ['ООО «Пример»', 'ИНН 7700000000'],
      ['ru', 'en'],
    ],
  )
  assert.deepEqual(brand.documents[0], {
    document: 'offer',
    version: '2026-11-01',
    isRequired: true,
    title: { ru: 'Оферта', en: 'Offer' },
  })
  const { body: text } = await anybody.expectOk<DocumentText>(
    'GET /api/documents/offer?language=en',
  )
  assert.deepEqual([text.markdown, text.language], ['# Offer\n', 'en'])
  assert.equal(await anybody.refusal('GET /api/documents/other'), '404 document_unknown')
  const { body: prices } = await anybody.expectOk<Prices>('GET /api/prices')
  assert.equal(prices.packs.length, 3)
  assert.deepEqual(prices.models[0], {
    id: 'model-large',
    name: { ru: 'Большая', en: 'Large' },
    contextWindow: '1000000',
    outputCeiling: '128000',
    lists: [
      {
        ...{ name: '', above: '0', values: {}, input: '1', output: '5' },
        ...{ cacheRead: '0.1', cacheWrite5m: '1.25', cacheWrite1h: '2' },
      },
    ],
    multipliers: { speed: {}, inference_geo: {}, service_tier: {} },
    tools: [],
  })
})

test('all other routes require a session', async () => {
  const nobody = at.stage.browser()
  for (const route of [...GETS, ...POSTS]) {
    const response = await nobody.send<ErrorBody>(route)
    assert.deepEqual([response.status, response.body.error.code], [401, 'session_missing'], route)
    assert.equal(response.headers.get('request-id'), response.body.requestId)
    assert.equal(response.headers.get('cache-control'), 'no-store')
  }
  nobody.jar.set('__Secure-better-auth.session_token', 'made.up')
  assert.equal(await nobody.refusal('GET /api/me'), '401 session_missing')
})

test('accepts changes from our own pages only', async () => {
  const own = await at.stage.person('csrf')
  const foreign = ['https://evil.example', 'https://cabinet.example.org.evil.example', 'null', null]
  for (const origin of foreign) {
    for (const route of [...POSTS, 'POST /api/auth/sign-out']) {
      assert.equal(
        await own.refusal(route, {}, { origin }),
        '403 origin_wrong',
        `${route} ${origin}`,
      )
    }
  }
  // The right origin, but Sec-Fetch-Site says that another site sent the request.
  for (const site of ['cross-site', 'same-site', 'none', '']) {
    const headers = { 'sec-fetch-site': site }
    for (const route of [...POSTS, 'POST /api/auth/sign-out']) {
      assert.equal(
        await own.refusal(route, {}, { headers }),
        '403 origin_wrong',
        `${route} ${site}`,
      )
    }
  }
  const headers = { 'sec-fetch-site': 'same-origin' }
  const response = await own.send('POST /api/me/language', { language: 'en' }, { headers })
  assert.equal(response.status, 200)
  await own.expectOk('GET /api/me')
})

test('reads only JSON bodies of at most 8 KiB', async () => {
  const own = await at.stage.person('json')
  const as = (type: string, body: string) =>
    own.refusal('POST /api/me/language', body, { headers: { 'content-type': type } })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    assert.equal(await as(type, '{"language":"en"}'), '415 content_type_wrong', type)
  }
  assert.equal(await as('application/json', ''), '400 field_invalid')
  assert.equal(await as('application/json', '{"language":'), '400 field_invalid')
  assert.equal(await as('application/json', `"${'x'.repeat(8_200)}"`), '413 body_too_large')
  const poisoned = await as('application/json', '{"__proto__":{"x":1},"language":"en"}')
  assert.match(poisoned, /^400 /)
})

test('an allowance is counted for each account separately', async () => {
  const [own, other] = [await at.stage.person('often'), await at.stage.person('seldom')]
  const agree = { document: 'news', version: '1' }
  for (let tries = 0; tries < 60; tries += 1) await own.expectOk('POST /api/consents', agree)
  assert.equal(await own.refusal('POST /api/consents', agree), '429 attempts_exceeded')
  await other.expectOk('POST /api/consents', agree)
})

test('answers 404 for unknown paths and methods of /api', async () => {
  const own = await at.stage.person('unknown')
  for (const route of ['GET /api', 'GET /api/nothing', 'POST /api/brand', 'DELETE /api/key']) {
    assert.equal(await own.refusal(route), '404 path_unknown', route)
  }
  assert.equal(await own.refusal('GET /api/auth/nothing'), '404 path_unknown')
})
