// Whose an e-mail is, when an address had several owners: each one's export and erasure reach all
// of their own, and nothing of the others'.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn, requiredConsents, type StoredEmail } from '../../../test/stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../../../test/stages/cabinet.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

async function sendAll(): Promise<void> {
  await at.stage.db.query(
    `update letters set state = 'sent', ended_at = clock_timestamp(), body_text = null,
       body_html = null where state = 'queued'`,
  )
}

async function codeTo(email: string): Promise<string> {
  const { rows } = await at.stage.db.query(
    `select kind, body_text as text from letters where recipient = $1 and state = 'queued'
     order by posted_at desc limit 1`,
    [email],
  )
  return codeIn(rows[0] as StoredEmail)
}

async function closeAndErase(own: Person): Promise<void> {
  await own.expectOk('POST /api/closing', { unspent: 'refund' })
  await at.stage.runClosings()
  assert.equal(await own.refusal('GET /api/me'), '401 session_missing')
  await sendAll()
  await at.stage.db.query(`update accounts set erase_at = clock_timestamp() where id = $1`, [
    own.account,
  ])
  assert.equal(await at.stage.accounts.erase(), 1)
}

async function exported(own: Person): Promise<string[]> {
  const parts = await Array.fromAsync(at.stage.accounts.export(own))
  const { letters } = JSON.parse(parts.join('')) as { letters: { kind: string }[] }
  return letters.map(({ kind }) => kind).toSorted()
}

const left = async (address: string) => {
  const { rows } = await at.stage.db.query(
    `select (select count(*)::int4 from letters where recipient = $1)
       + (select count(*)::int4 from account_codes where strpos(value, $1) > 0) as left`,
    [address],
  )
  return (rows[0] as { left: number }).left
}

/** A person who moved to another address longer than a week ago. */
async function moved(name: string): Promise<Person> {
  const own = await at.stage.person(name)
  const newEmail = `${name}.new@example.org`
  await own.expectOk('POST /api/auth/email/change', { newEmail })
  await own.expectOk('POST /api/auth/email/confirm', { code: await codeTo(newEmail) })
  await at.stage.db.query(
    `update email_changes set changed_at = changed_at - interval '8 days',
       undo_until = clock_timestamp() - interval '1 minute'`,
  )
  return own
}

test('an address that was asked for and never confirmed is erased too', async () => {
  const own = await at.stage.person('ivan')
  const newEmail = 'ivan.private@example.net'
  await own.expectOk('POST /api/auth/email/change', { newEmail })
  assert.equal(await left(newEmail), 2)
  assert.ok((await exported(own)).includes('confirm-new-email'))
  await closeAndErase(own)
  assert.equal(await left(newEmail), 0)
  assert.equal(await left(own.email), 0)
})

test('two owners of one address after each other have e-mails of their own', async () => {
  const former = await moved('anna')
  const before = await exported(former)
  assert.ok(before.includes('confirm-email') && before.includes('email-change-undo'))
  const later = await at.stage.person('anna')
  await at.stage.buyPack(later)
  const own = await exported(later)
  assert.ok(own.includes('confirm-email') && own.includes('payment-credited'))
  assert.deepEqual(await exported(former), before)
  await later.expectOk('POST /api/closing', { unspent: 'forfeit' })
  for (let i = 0; i < 3; i += 1) await at.stage.runClosings()
  assert.deepEqual(await exported(former), before)
  const atTheEnd = await exported(later)
  await closeAndErase(former)
  assert.deepEqual(await exported(later), atTheEnd)
  assert.deepEqual(await exported(former), [])
})

test('a registration by somebody else neither keeps a person’s e-mails nor is erased', async () => {
  const own = await moved('olga')
  const stranger = at.stage.browser()
  const body = {
    email: 'olga@example.org',
    password: 'a stranger of olga',
    consents: requiredConsents,
  }
  await stranger.expectOk('POST /api/auth/register', body)
  const code = await codeTo('olga@example.org')
  await closeAndErase(own)
  assert.deepEqual(await exported(own), [])
  assert.equal(await left('olga@example.org'), 1)
  const confirmed = { code, password: body.password }
  await stranger.expectOk('POST /api/auth/confirm', confirmed)
})
