// The owner's key over HTTP: who may create one, that it is shown once and stored nowhere.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage, type Person } from '../../../test/stages/cabinet.ts'
import type { KeyState, NewKey } from '../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

async function buyer(name: string): Promise<Person> {
  const own = await at.stage.person(name)
  await at.stage.buyPack(own)
  return own
}

async function createConfirmedKey(own: Person): Promise<NewKey> {
  const { body } = await own.expectOk<NewKey>('POST /api/key')
  await own.expectOk(`POST /api/key/${body.id}/confirm`)
  return body
}

const stateOf = async (own: Person) => (await own.expectOk<KeyState>('GET /api/key')).body
const isValid = async (plain: string) =>
  at.stage.keys
    .verify(plain, '198.51.100.1')
    .then((caller) => at.stage.keys.recheck(caller))
    .then(
      () => true,
      () => false,
    )

test('a key can be created after the first purchase, and works when it is confirmed', async () => {
  const { person, buyPack, emailKindsTo } = at.stage
  const own = await person('first')
  assert.deepEqual(await stateOf(own), { state: 'locked', active: null, pending: null })
  assert.equal(await own.refusal('POST /api/key'), '409 purchase_missing')
  await buyPack(own)
  assert.equal((await stateOf(own)).state, 'none')
  const { body: key, headers } = await own.expectOk<NewKey>('POST /api/key')
  assert.match(key.plain, /^sk-vendor-api03-/)
  assert.equal(key.plain.slice(-4), key.last4)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.deepEqual([(await stateOf(own)).pending?.id, await isValid(key.plain)], [key.id, false])
  const { body } = await own.expectOk<KeyState>(`POST /api/key/${key.id}/confirm`)
  assert.deepEqual(body, {
    state: 'active',
    active: { id: key.id, last4: key.last4, createdAt: key.createdAt, lastUsedAt: null },
    pending: null,
  })
  assert.equal(await isValid(key.plain), true)
  await own.expectOk(`POST /api/key/${key.id}/confirm`)
  const kinds = (await emailKindsTo(own.email)).filter((kind) => kind.startsWith('key-'))
  assert.deepEqual(kinds, ['key-created'], 'a repeated confirmation sends one e-mail')
})

test('a reissue requires a recent proof, and ends the old key when it is confirmed', async () => {
  const { clockShift, emailKindsTo } = at.stage
  const own = await buyer('reissue')
  const old = await createConfirmedKey(own)
  clockShift.ms = 11 * 60_000
  const stale = await own.refusal('POST /api/key')
  clockShift.ms = 0
  assert.equal(stale, '403 step_up_needed')
  const { body: next } = await own.expectOk<NewKey>('POST /api/key')
  assert.equal(await isValid(old.plain), true, 'the old one works until then')
  clockShift.ms = 11 * 60_000
  const late = await own.refusal(`POST /api/key/${next.id}/confirm`)
  clockShift.ms = 0
  assert.equal(late, '403 step_up_needed')
  await own.expectOk(`POST /api/key/${next.id}/confirm`)
  assert.deepEqual([await isValid(old.plain), await isValid(next.plain)], [false, true])
  assert.equal((await emailKindsTo(own.email)).at(-1), 'key-reissued')
})

test('two tabs that create a key at the same time end with one key', async () => {
  const own = await buyer('tabs')
  const both = await Promise.all([1, 2].map(() => own.send<NewKey>('POST /api/key')))
  const ends = await Promise.all(
    both
      .filter(({ status }) => status === 200)
      .map(({ body }) => own.send(`POST /api/key/${body.id}/confirm`)),
  )
  assert.deepEqual(
    ends.map(({ status }) => status).filter((status) => status === 200),
    [200],
  )
  const state = await stateOf(own)
  assert.deepEqual([state.state, state.pending], ['active', null])
  const opened = both.filter(({ body }) => body.id === state.active?.id)
  assert.equal(await isValid(opened[0]?.body.plain ?? ''), true)
})

test('refuses to confirm another account’s key or one that does not exist', async () => {
  const [own, other] = [await buyer('mine'), await buyer('theirs')]
  const { body: key } = await own.expectOk<NewKey>('POST /api/key')
  for (const id of [key.id, 'key_AAaaaaaaaaaaaa', 'x']) {
    assert.equal(await other.refusal(`POST /api/key/${id}/confirm`), '409 key_pending_missing')
  }
})

test('a pasted key is current or not; another account’s key is not', async () => {
  const [own, other] = [await buyer('paste'), await buyer('paste-other')]
  const [key, theirs] = [await createConfirmedKey(own), await createConfirmedKey(other)]
  const verify = async (plain: string) =>
    (await own.expectOk<{ isCurrent: boolean }>('POST /api/key/verify', { plain })).body.isCurrent
  assert.equal(await verify(` ${key.plain}\n`), true)
  const wrong = [theirs.plain, `${key.plain.slice(0, -1)}x`, 'nonsense', '']
  for (const plain of wrong) assert.equal(await verify(plain), false)
  await own.expectOk('POST /api/key/revoke')
  assert.equal(await verify(key.plain), false, 'revoked')
  for (let tries = 0; tries < 4; tries += 1) await verify('nonsense')
  const response = await own.send<{ error: { code: string; retryAfterSeconds: number } }>(
    'POST /api/key/verify',
    { plain: key.plain },
  )
  assert.deepEqual([response.status, response.body.error.code], [429, 'attempts_exceeded'])
  assert.ok(response.body.error.retryAfterSeconds > 0)
  assert.equal(response.headers.get('retry-after'), String(response.body.error.retryAfterSeconds))
})

test('any session can revoke the key at once, and the owner gets one e-mail', async () => {
  const { clockShift, emailKindsTo } = at.stage
  const own = await buyer('compromised')
  const key = await createConfirmedKey(own)
  clockShift.ms = 11 * 60_000
  const { body } = await own.expectOk<KeyState>('POST /api/key/revoke')
  clockShift.ms = 0
  assert.deepEqual([body.state, await isValid(key.plain)], ['none', false])
  assert.equal((await emailKindsTo(own.email)).at(-1), 'key-revoked')
  await own.expectOk('POST /api/key/revoke')
  const kinds = (await emailKindsTo(own.email)).filter((kind) => kind === 'key-revoked')
  assert.equal(kinds.length, 1, 'no e-mail when there was no key')
})

test('after a revocation a new key requires a recent proof', async () => {
  const { clockShift, emailKindsTo } = at.stage
  const own = await buyer('stale')
  clockShift.ms = 11 * 60_000
  const first = await createConfirmedKey(own)
  await own.expectOk('POST /api/key/revoke')
  const stale = await own.refusal('POST /api/key')
  clockShift.ms = 0
  assert.equal(stale, '403 step_up_needed', 'an old session can create only the first key')
  const { body: next } = await own.expectOk<NewKey>('POST /api/key')
  clockShift.ms = 11 * 60_000
  const late = await own.refusal(`POST /api/key/${next.id}/confirm`)
  clockShift.ms = 0
  assert.equal(late, '403 step_up_needed', 'nor can it confirm a later one')
  await own.expectOk(`POST /api/key/${next.id}/confirm`)
  assert.deepEqual([await isValid(first.plain), await isValid(next.plain)], [false, true])
  assert.equal((await emailKindsTo(own.email)).at(-1), 'key-created')
})

test('the plain key is in no log line and no table', async () => {
  const { db, lines } = at.stage
  const own = await buyer('secret')
  const key = await createConfirmedKey(own)
  await own.expectOk('POST /api/key/verify', { plain: key.plain })
  await own.send('POST /api/key/verify', { plain: [key.plain] })
  await own.send('POST /api/key/verify', `{"plain":"${key.plain}`)
  await own.send(`POST /api/key/${key.plain}/confirm`)
  const secret = key.plain.slice(-40)
  assert.ok(lines.length > 10, 'something was logged')
  assert.ok(!lines.join('').includes(secret))
  const { rows } = await db.query(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  assert.ok(rows.length > 20)
  for (const { name } of rows as { name: string }[]) {
    const { rows: found } = await db.query(
      `select 1 from ${name} as t where t::text like '%' || $1 || '%' limit 1`,
      [secret],
    )
    assert.equal(found.length, 0, name)
  }
})

test('lastUsedAt ignores requests made with the key before', async () => {
  const { spend } = at.stage
  const own = await buyer('used')
  await createConfirmedKey(own)
  await spend(own.book, 1_000)
  const used = (await stateOf(own)).active?.lastUsedAt
  assert.ok(Date.parse(used ?? '') > 0)
  await createConfirmedKey(own)
  assert.equal((await stateOf(own)).active?.lastUsedAt, null)
})
