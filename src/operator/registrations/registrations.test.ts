// op accounts create and op registrations: what support does for people who have no account yet.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD } from '../../../test/stages/accounts.ts'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

const because = ['--reason', 'company sale', '--yes']

async function emailedCode(email: string): Promise<string> {
  const { rows } = await at.stage.db.query(
    `select body_text as text from letters where recipient = $1 order by posted_at desc limit 1`,
    [email],
  )
  return /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1] ?? ''
}

const consents = () => at.stage.documents.list().filter((one) => one.isRequired)

async function register(email: string): Promise<void> {
  await at.stage.browser().expectOk('POST /api/auth/register', {
    ...{ email, password: PASSWORD, language: 'ru', consents: consents() },
  })
}

test('invites a customer, who sets the password by the link', async () => {
  const email = 'buyer@firm.example'
  const plan = await at.stage.op(['account', 'create', email, '--reason', 'company sale'], 'n')
  assert.match(plan.err, /sets the password and accepts the documents.*\n.*there is no account/)
  const { code, out, err } = await at.stage.op(['account', 'create', email, ...because])
  assert.equal(code, 0, err)
  assert.match(out, /^buyer@firm\.example is invited: reg_[\w-]{16}$/)
  const seen = await at.stage.op(['find', email])
  assert.match(seen.out, /invitation by .*reg_[\w-]{16} of buyer@firm\.example.*not confirmed/)
  const browser = at.stage.browser()
  await browser.expectOk('POST /api/auth/invitation', {
    ...{ code: await emailedCode(email), password: PASSWORD, consents: consents() },
  })
  await browser.expectOk('GET /api/me')
  const again = await at.stage.op(['account', 'create', email, ...because])
  assert.deepEqual([again.code, /has an account already/.test(again.err)], [1, true])
  assert.equal((await at.stage.op(['account', 'create', 'no address', ...because])).code, 2)
  const act = (await at.stage.acts()).find(({ command }) => command.includes('accounts create'))
  assert.doesNotMatch(JSON.stringify(act?.command), /buyer@firm/, 'acts keep no address')
})

test('lists who has not confirmed, with the answer of the relay', async () => {
  const [sent, refused, expired] = ['a@wait.example', 'b@wait.example', 'c@wait.example'] as const
  for (const email of [sent, refused, expired]) await register(email)
  const { db } = at.stage
  await db.query(
    `update letters set state = 'sent', body_text = null, body_html = null, ended_at = now()
     where recipient = $1`,
    [sent],
  )
  await db.query(
    `update letters set state = 'failed', last_error = '550 5.1.1 no such user', attempts = 1,
       body_text = null, body_html = null, ended_at = now() where recipient = $1`,
    [refused],
  )
  await db.query(
    `update registrations set expires_at = now() - interval '1 hour',
       created_at = now() - interval '25 hours' where email = $1`,
    [expired],
  )
  const { out, code } = await at.stage.op(['registrations', 'list', 'wait.example'])
  assert.equal(code, 0)
  assert.match(out, /0 h +waits +sent +a@wait\.example/)
  assert.match(out, /0 h +waits +failed +b@wait\.example\n +550 5\.1\.1 no such user/)
  assert.match(out, /25 h +expired +queued +c@wait\.example/)
  const found = await at.stage.op(['find', refused])
  assert.match(found.out, /not confirmed\n.*failed\n +550 5\.1\.1 no such user\n +op registrations/)

  const resent = await at.stage.op(['registrations', 'resend', expired, '--yes'])
  assert.equal(resent.code, 0, resent.err)
  await at.stage.browser().expectOk('POST /api/auth/confirm', {
    ...{ code: await emailedCode(expired), password: PASSWORD },
  })
  const gone = await at.stage.op(['registrations', 'delete', refused, ...because])
  assert.equal(gone.code, 0, gone.err)
  assert.equal((await at.stage.op(['registrations', 'resend', refused, '--yes'])).code, 1)
  const all = await at.stage.op(['registrations'])
  assert.doesNotMatch(all.out, /[bc]@wait\.example/)
  assert.doesNotMatch(all.out, /argon2|code_hash/)
})
