// What holds for every route of /api: who may come, from where, and with what.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../../../test/stages/cabinet.ts'
import type { Brand, DocumentText, No, Prices } from '../contract/contract.ts'

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

test('everybody may read who we are, what it costs, and the legal pages', async () => {
  const anybody = at.stage.visitor()
  const { body: brand } = await anybody.must<Brand>('GET /api/brand')
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
  const { body: text } = await anybody.must<DocumentText>('GET /api/documents/offer?language=en')
  assert.deepEqual([text.markdown, text.language], ['# Offer\n', 'en'])
  assert.equal(await anybody.no('GET /api/documents/other'), '404 document_unknown')
  const { body: prices } = await anybody.must<Prices>('GET /api/prices')
  assert.deepEqual(
    [prices.packs.length, prices.models[0]?.coefficient, prices.models[0]?.weights.cacheRead],
    [3, '5', '0.1'],
  )
})

test('everything else wants a session, and says so in the cabinet’s shape', async () => {
  const nobody = at.stage.visitor()
  for (const route of [...GETS, ...POSTS]) {
    const said = await nobody.ask<No>(route)
    assert.deepEqual([said.status, said.body.error.code], [401, 'session_missing'], route)
    assert.equal(said.headers.get('request-id'), said.body.requestId)
    assert.equal(said.headers.get('cache-control'), 'no-store')
  }
  nobody.jar.set('__Secure-better-auth.session_token', 'made.up')
  assert.equal(await nobody.no('GET /api/me'), '401 session_missing')
})

test('what changes something is taken from our own pages only', async () => {
  const own = await at.stage.person('csrf')
  const foreign = ['https://evil.example', 'https://cabinet.example.org.evil.example', 'null', null]
  for (const origin of foreign) {
    for (const route of [...POSTS, 'POST /api/auth/sign-out']) {
      assert.equal(await own.no(route, {}, { origin }), '403 origin_wrong', `${route} ${origin}`)
    }
  }
  // The right origin, but the browser says that another site asks.
  for (const site of ['cross-site', 'same-site', 'none', '']) {
    const headers = { 'sec-fetch-site': site }
    for (const route of [...POSTS, 'POST /api/auth/sign-out']) {
      assert.equal(await own.no(route, {}, { headers }), '403 origin_wrong', `${route} ${site}`)
    }
  }
  const headers = { 'sec-fetch-site': 'same-origin' }
  const said = await own.ask('POST /api/me/language', { language: 'en' }, { headers })
  assert.equal(said.status, 200)
  await own.must('GET /api/me')
})

test('only JSON is read, and little of it', async () => {
  const own = await at.stage.person('json')
  const as = (type: string, body: string) =>
    own.no('POST /api/me/language', body, { headers: { 'content-type': type } })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    assert.equal(await as(type, '{"language":"en"}'), '415 content_type_wrong', type)
  }
  assert.equal(await as('application/json', ''), '400 field_invalid')
  assert.equal(await as('application/json', '{"language":'), '400 field_invalid')
  assert.equal(await as('application/json', `"${'x'.repeat(8_200)}"`), '413 body_too_large')
  const poisoned = await as('application/json', '{"__proto__":{"x":1},"language":"en"}')
  assert.match(poisoned, /^400 /)
})

test('what is too often is counted per account, and others do not notice', async () => {
  const [own, other] = [await at.stage.person('often'), await at.stage.person('seldom')]
  const agree = { document: 'news', version: '1' }
  for (let tries = 0; tries < 60; tries += 1) await own.must('POST /api/consents', agree)
  assert.equal(await own.no('POST /api/consents', agree), '429 attempts_exceeded')
  await other.must('POST /api/consents', agree)
})

test('a path of /api that nobody serves is unknown, whatever the method', async () => {
  const own = await at.stage.person('unknown')
  for (const route of ['GET /api', 'GET /api/nothing', 'POST /api/brand', 'DELETE /api/key']) {
    assert.equal(await own.no(route), '404 path_unknown', route)
  }
  assert.equal(await own.no('GET /api/auth/nothing'), '404 path_unknown')
})
