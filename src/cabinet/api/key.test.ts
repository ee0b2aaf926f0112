// The owner's key over HTTP: who may make one, that it is shown once, and that it is kept nowhere.
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
  await at.stage.bought(own)
  return own
}

async function created(own: Person): Promise<NewKey> {
  const { body } = await own.must<NewKey>('POST /api/key')
  await own.must(`POST /api/key/${body.id}/confirm`)
  return body
}

const stateOf = async (own: Person) => (await own.must<KeyState>('GET /api/key')).body
const isOpen = async (plain: string) =>
  at.stage.keys
    .verify(plain, '198.51.100.1')
    .then((caller) => at.stage.keys.fresh(caller))
    .then(
      () => true,
      () => false,
    )

test('no key before the first purchase; then one, which works once it is confirmed', async () => {
  const { person, bought, lettersTo } = at.stage
  const own = await person('first')
  assert.deepEqual(await stateOf(own), { state: 'locked', active: null, pending: null })
  assert.equal(await own.no('POST /api/key'), '409 purchase_missing')
  await bought(own)
  assert.equal((await stateOf(own)).state, 'none')
  const { body: key, headers } = await own.must<NewKey>('POST /api/key')
  assert.match(key.plain, /^sk-vendor-api03-/)
  assert.equal(key.plain.slice(-4), key.last4)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.deepEqual([(await stateOf(own)).pending?.id, await isOpen(key.plain)], [key.id, false])
  const { body } = await own.must<KeyState>(`POST /api/key/${key.id}/confirm`)
  assert.deepEqual(body, {
    state: 'active',
    active: { id: key.id, last4: key.last4, createdAt: key.createdAt, lastUsedAt: null },
    pending: null,
  })
  assert.equal(await isOpen(key.plain), true)
  await own.must(`POST /api/key/${key.id}/confirm`)
  const letters = (await lettersTo(own.email)).filter((kind) => kind.startsWith('key-'))
  assert.deepEqual(letters, ['key-created'], 'a repeated confirmation is told once')
})

test('a reissue asks for a fresh session, and ends the old key when it is confirmed', async () => {
  const { turned, lettersTo } = at.stage
  const own = await buyer('reissue')
  const old = await created(own)
  turned.ms = 11 * 60_000
  const stale = await own.no('POST /api/key')
  turned.ms = 0
  assert.equal(stale, '403 session_not_fresh')
  const { body: next } = await own.must<NewKey>('POST /api/key')
  assert.equal(await isOpen(old.plain), true, 'the old one works until then')
  turned.ms = 11 * 60_000
  const late = await own.no(`POST /api/key/${next.id}/confirm`)
  turned.ms = 0
  assert.equal(late, '403 session_not_fresh')
  await own.must(`POST /api/key/${next.id}/confirm`)
  assert.deepEqual([await isOpen(old.plain), await isOpen(next.plain)], [false, true])
  assert.equal((await lettersTo(own.email)).at(-1), 'key-reissued')
})

test('two tabs that make a key at once end with one key', async () => {
  const own = await buyer('tabs')
  const both = await Promise.all([1, 2].map(() => own.ask<NewKey>('POST /api/key')))
  const ends = await Promise.all(
    both
      .filter(({ status }) => status === 200)
      .map(({ body }) => own.ask(`POST /api/key/${body.id}/confirm`)),
  )
  assert.deepEqual(
    ends.map(({ status }) => status).filter((status) => status === 200),
    [200],
  )
  const state = await stateOf(own)
  assert.deepEqual([state.state, state.pending], ['active', null])
  const opened = both.filter(({ body }) => body.id === state.active?.id)
  assert.equal(await isOpen(opened[0]?.body.plain ?? ''), true)
})

test('a key cannot be confirmed by another account, nor one that never was', async () => {
  const [own, other] = [await buyer('mine'), await buyer('theirs')]
  const { body: key } = await own.must<NewKey>('POST /api/key')
  for (const id of [key.id, 'key_AAaaaaaaaaaaaa', 'x']) {
    assert.equal(await other.no(`POST /api/key/${id}/confirm`), '409 key_pending_missing')
  }
})

test('a pasted key is told right or wrong, and another account’s is wrong', async () => {
  const [own, other] = [await buyer('paste'), await buyer('paste-other')]
  const [key, theirs] = [await created(own), await created(other)]
  const verify = async (plain: string) =>
    (await own.must<{ isCurrent: boolean }>('POST /api/key/verify', { plain })).body.isCurrent
  assert.equal(await verify(` ${key.plain}\n`), true)
  const wrong = [theirs.plain, `${key.plain.slice(0, -1)}x`, 'nonsense', '']
  for (const plain of wrong) assert.equal(await verify(plain), false)
  await own.must('POST /api/key/revoke')
  assert.equal(await verify(key.plain), false, 'revoked')
  for (let tries = 0; tries < 4; tries += 1) await verify('nonsense')
  const said = await own.ask<{ error: { code: string; retryAfterSeconds: number } }>(
    'POST /api/key/verify',
    { plain: key.plain },
  )
  assert.deepEqual([said.status, said.body.error.code], [429, 'attempts_exceeded'])
  assert.ok(said.body.error.retryAfterSeconds > 0)
  assert.equal(said.headers.get('retry-after'), String(said.body.error.retryAfterSeconds))
})

test('a compromised key ends at once, also by an old session, and is told', async () => {
  const { turned, lettersTo } = at.stage
  const own = await buyer('compromised')
  const key = await created(own)
  turned.ms = 11 * 60_000
  const { body } = await own.must<KeyState>('POST /api/key/revoke')
  turned.ms = 0
  assert.deepEqual([body.state, await isOpen(key.plain)], ['none', false])
  assert.equal((await lettersTo(own.email)).at(-1), 'key-revoked')
  await own.must('POST /api/key/revoke')
  const told = (await lettersTo(own.email)).filter((kind) => kind === 'key-revoked')
  assert.equal(told.length, 1, 'what was not there is not told')
})

test('after a revoke a new key asks for a fresh session, as a reissue does', async () => {
  const { turned, lettersTo } = at.stage
  const own = await buyer('stale')
  turned.ms = 11 * 60_000
  const first = await created(own)
  await own.must('POST /api/key/revoke')
  const stale = await own.no('POST /api/key')
  turned.ms = 0
  assert.equal(stale, '403 session_not_fresh', 'an old cookie alone makes only the first key')
  const { body: next } = await own.must<NewKey>('POST /api/key')
  turned.ms = 11 * 60_000
  const late = await own.no(`POST /api/key/${next.id}/confirm`)
  turned.ms = 0
  assert.equal(late, '403 session_not_fresh', 'nor does it put a key in force')
  await own.must(`POST /api/key/${next.id}/confirm`)
  assert.deepEqual([await isOpen(first.plain), await isOpen(next.plain)], [false, true])
  assert.equal((await lettersTo(own.email)).at(-1), 'key-created')
})

test('the plain value is in no log, no letter and no table', async () => {
  const { db, lines } = at.stage
  const own = await buyer('secret')
  const key = await created(own)
  await own.must('POST /api/key/verify', { plain: key.plain })
  await own.ask('POST /api/key/verify', { plain: [key.plain] })
  await own.ask('POST /api/key/verify', `{"plain":"${key.plain}`)
  await own.ask(`POST /api/key/${key.plain}/confirm`)
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

test('the time of the last request is the key’s own, not its predecessor’s', async () => {
  const { spend } = at.stage
  const own = await buyer('used')
  await created(own)
  await spend(own.book, 1_000)
  const used = (await stateOf(own)).active?.lastUsedAt
  assert.ok(Date.parse(used ?? '') > 0)
  await created(own)
  assert.equal((await stateOf(own)).active?.lastUsedAt, null)
})
