// op revoke, op suspend and op unsuspend: the effect is checked with the ledger's hold, as a
// request would meet it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import type { BookId } from '../platform/ids.ts'
import { isRefusal } from '../platform/refusal.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

const because = ['--reason', 'a customer called', '--yes']

async function owner(name: string) {
  const person = await at.stage.person(name)
  await at.stage.buyPack(person)
  const { body: key } = await person.expectOk<{ id: string; plain: string }>('POST /api/key')
  await person.expectOk(`POST /api/key/${key.id}/confirm`)
  return { ...person, key }
}

/** The code that a request of this book is refused with; undefined when it is accepted. */
async function refusalOf(book: BookId): Promise<string | undefined> {
  try {
    await at.stage.spend(book, 1)
    return undefined
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}

test('revokes a key by its last four characters, e-mails the owner, keeps credits', async () => {
  const { key, email, book } = await owner('anna')
  const fence = (await at.stage.ledger.balance(book))?.fence
  const before = (await at.stage.ledger.balance(book))?.available
  const { code, out, err } = await at.stage.op(['revoke', key.plain.slice(-4), ...because])
  assert.deepEqual([code, out], [0, `${key.id} (…${key.plain.slice(-4)}) is revoked`], err)
  await assert.rejects(at.stage.keys.verify(key.plain, '127.0.0.1'), (error) =>
    isRefusal(error, 'key_revoked'),
  )
  const after = await at.stage.ledger.balance(book)
  assert.ok((after?.fence ?? 0n) > (fence ?? 0n), 'requests that know the old fence are refused')
  assert.equal(after?.available, before)
  assert.equal((await at.stage.emailKindsTo(email)).at(-1), 'key-revoked')
  const again = await at.stage.op(['revoke', email, ...because])
  assert.deepEqual([again.code, /has no key/.test(again.out)], [0, true])
})

test('revokes a pasted key by its last four characters', async () => {
  const { key } = await owner('boris')
  assert.equal((await at.stage.json('revoke', key.plain, ...because)).key, key.id)
})

test('refuses a suspended account with operator_blocked until it is unsuspended', async () => {
  const { email, book } = await owner('vera')
  const suspended = await at.stage.json('suspend', email, ...because)
  assert.deepEqual([suspended.isDone, suspended.isSuspended], [true, true])
  assert.equal(await refusalOf(book), 'operator_blocked')
  assert.match((await at.stage.op(['find', email])).out, /SUSPENDED by an operator/)

  const lines = (await at.stage.acts()).length
  const again = await at.stage.op(['suspend', email, ...because])
  assert.deepEqual([again.code, /suspended already/.test(again.out)], [0, true])
  assert.equal((await at.stage.acts()).length, lines, 'nothing was done')

  assert.equal((await at.stage.json('unsuspend', email, ...because)).isDone, true)
  assert.equal(await refusalOf(book), undefined)
})

test("an operator cannot lift an owner's own suspension", async () => {
  const { email, book } = await owner('gleb')
  await at.stage.ledger.block(at.stage.db, book, 'owner_suspended')
  const { code, err } = await at.stage.op(['unsuspend', email, ...because])
  assert.deepEqual([code, /owner_suspended, which is not yours/.test(err)], [0, true])
  assert.equal(await refusalOf(book), 'owner_suspended')
})

test("an owner's own suspension stays when the operator's is lifted", async () => {
  const { email, book } = await owner('dina')
  const { ledger, db } = at.stage
  for (const stop of ['owner_suspended', 'velocity_stopped'] as const) {
    await ledger.block(db, book, stop)
    const plan = await at.stage.op(['suspend', email, ...because])
    assert.match(plan.err, new RegExp(`it is ${stop}, and will be again`))
    assert.equal(await refusalOf(book), 'operator_blocked')
    const lifted = await at.stage.json('unsuspend', email, ...because)
    assert.deepEqual([lifted.isSuspended, lifted.stop], [false, stop])
    assert.equal(await refusalOf(book), stop)
    assert.equal(await ledger.resume(db, book, stop), true)
    assert.equal(await refusalOf(book), undefined)
  }
})

test("what an owner changes while an operator's suspension lasts applies afterwards", async () => {
  const { email, book } = await owner('egor')
  const { ledger, db } = at.stage
  await at.stage.json('suspend', email, ...because)
  await ledger.block(db, book, 'owner_suspended')
  assert.match((await at.stage.op(['find', email])).out, /SUSPENDED by an operator.*\n.*its owner/)
  await at.stage.json('unsuspend', email, ...because)
  assert.equal(await refusalOf(book), 'owner_suspended')

  await at.stage.json('suspend', email, ...because)
  assert.equal(await ledger.resume(db, book, 'owner_suspended'), false)
  assert.equal(await refusalOf(book), 'operator_blocked')
  await at.stage.json('unsuspend', email, ...because)
  assert.equal(await refusalOf(book), undefined)
})

test('imports keys from lines and reports the outcome of each', async () => {
  const book = await at.stage.newBook()
  const key = 'sk-vendor-03-abcdefghijklmnopqrstuvwxyz0123'
  const { code, out } = await at.stage.op(['import-keys'], `${book} ${key}\n${book} nonsense\n`)
  assert.equal(code, 1, 'a refused line is a failure')
  assert.match(out, /1 imported, 1 refused$/)
  const line = (await at.stage.acts()).at(-1)
  assert.deepEqual([line?.outcome, line?.detail], ['done', '1 imported, 1 refused'])
})

test('imports keys by e-mail address or account id, and says which key it expects', async () => {
  const [anna, boris, gone] = [
    await at.stage.person('import-anna'),
    await at.stage.person('import-boris'),
    await at.stage.person('import-gone'),
  ]
  await at.stage.db.query(
    `update accounts set closed_at = clock_timestamp(), erase_at = clock_timestamp(),
       unspent = 'forfeit', former_email = email,
       email = lower(id) || '.' || book_id || '@closed.invalid' where id = $1`,
    [gone.account],
  )
  const key = (n: number) => `sk-vendor-03-importedimportedimported000${n}`
  const { code, out } = await at.stage.op(
    ['import-keys'],
    [
      `${anna.email.toUpperCase()} ${key(1)}`,
      JSON.stringify({ account: boris.account, key: key(2) }),
      `${gone.email} ${key(3)}`,
      `${anna.email.slice(0, 8)} ${key(4)}`,
      `${anna.email} sk-vendor-03-tooshort`,
      '',
    ].join('\n'),
  )
  assert.equal(code, 1)
  const lines = out.split('\n')
  assert.match(lines[0] ?? '', /^line 1: …0001 Imported\.$/)
  assert.match(lines[1] ?? '', /^line 2: …0002 Imported\.$/)
  for (const line of [lines[2], lines[3]])
    assert.match(line ?? '', /no open account.*e-mail address, account id or book number/)
  assert.match(lines[4] ?? '', /sk-vendor-03- and at least 24 characters.*A-Z, a-z, 0-9, - and _/)
  const found = await at.stage.keys.find(anna.book)
  assert.equal(found.active?.last4, '0001')
})
