// E-mails with a real PostgreSQL, a real worker and real SMTP to the stand-in mailbox.
// deaths.test.ts has the cases in which a process or the database dies.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import {
  type Mailbox,
  type MailboxOptions,
  startMailbox,
} from '../../../stand-ins/mailbox/mailbox.ts'
import {
  createMailStage,
  LONG_MS,
  letter,
  type MailStage,
  SECRET,
  until,
} from '../../../test/stages/mail.ts'

let stage: MailStage
before(async () => {
  stage = await createMailStage()
})
after(() => stage.end())
afterEach(() => stage.clear())

test('a posted e-mail arrives unchanged, and its row says sent and keeps no body', async () => {
  await stage.withWorker(async () => {
    await stage.db.transaction((tx) => stage.mail.post(tx, letter))
    const [caught] = await stage.mailbox.wait({ to: letter.to }, LONG_MS)
    assert.ok(caught)
    assert.equal(caught.subject, letter.subject)
    assert.equal(caught.headers['reply-to'], 'help@example.org')
    assert.equal(caught.text.trim(), letter.text.trim())
    assert.equal(caught.html?.trim(), letter.html)
    assert.equal(caught.sender, 'Gate <letters@gate.example>')
    assert.equal(caught.kind, 'confirm-email')
    assert.equal(caught.headers['auto-submitted'], 'auto-generated')
    assert.equal(caught.headers['list-unsubscribe'], undefined)
    await until('it is sent', async () => (await stage.only()).state === 'sent')
    const row = await stage.only()
    assert.equal(caught.messageId, `<letter.${row.id}@gate.example>`)
    assert.deepEqual([row.attempts, row.body_text, row.last_error], [1, null, null])
    await until('its job is over', async () => (await stage.jobs()) === 0)
  })
})

test('an e-mail that is no duty tells mail programs how to unsubscribe', async () => {
  const unsubscribe = 'https://cabinet.example.org/unsubscribe?code=acc_1.abc'
  await stage.withWorker(async () => {
    await stage.db.transaction((tx) => stage.mail.post(tx, { ...letter, unsubscribe }))
    const [caught] = await stage.mailbox.wait({ to: letter.to }, LONG_MS)
    assert.equal(caught?.headers['list-unsubscribe'], `<${unsubscribe}>`)
    assert.equal(caught?.headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click')
    await until('it is sent', async () => (await stage.only()).state === 'sent')
    const { rows } = await stage.db.query('select unsubscribe from letters')
    assert.deepEqual(rows, [{ unsubscribe: null }], 'the code is not kept')
  })
})

test('a rolled-back transaction posts no e-mail', async () => {
  const undone = stage.db.transaction(async (tx) => {
    await stage.mail.post(tx, letter)
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  assert.deepEqual([await stage.letters(), await stage.jobs()], [[], 0])
})

test('posts one e-mail per kind and cause, also concurrently', async () => {
  const once = { ...letter, once: 'pay_1' }
  await Promise.all(
    Array.from({ length: 8 }, () => stage.db.transaction((tx) => stage.mail.post(tx, once))),
  )
  assert.deepEqual([(await stage.letters()).length, await stage.jobs()], [1, 1])
  await stage.mail.deliver((await stage.only()).id)
  await stage.mail.post(stage.db, once) // also after it has gone
  assert.deepEqual([(await stage.letters()).length, await stage.jobs()], [1, 1])
  await stage.mail.post(stage.db, { ...once, kind: 'payment-credited' })
  await stage.mail.post(stage.db, letter)
  await stage.mail.post(stage.db, letter) // without a cause, each is a letter
  assert.equal((await stage.letters()).length, 4)
})

test('retries after a temporary failure until the e-mail is sent', async () => {
  stage.mailbox.faults({
    to: '*',
    do: 'refuse',
    at: 'rcpt',
    code: 450,
    text: 'Greylisted',
    times: 1,
  })
  await stage.withWorker(async () => {
    await stage.mail.post(stage.db, letter)
    await until('it is refused', async () =>
      /Greylisted/.test((await stage.only()).last_error ?? ''),
    )
    assert.deepEqual(
      [(await stage.only()).state, (await stage.only()).leased_until],
      ['queued', null],
    )
    const [caught] = await stage.mailbox.wait({}, LONG_MS)
    assert.equal(caught?.to[0], letter.to)
    await until('it is sent', async () => (await stage.only()).state === 'sent')
    assert.equal((await stage.only()).attempts, 2)
  })
})

for (const [at, code, what] of [
  ['rcpt', 550, 'recipient'],
  ['data', 554, 'content'],
] as const) {
  test(`a ${code} to the ${what} fails an e-mail at once`, async () => {
    const text = `5.7.1 blocked because of ${SECRET}`
    stage.mailbox.faults({ to: '*', do: 'refuse', at, code, text })
    await stage.mail.deliver(await stage.posted())
    const row = await stage.only()
    assert.deepEqual([row.state, row.attempts, row.body_text], ['failed', 1, null])
    assert.match(row.last_error ?? '', new RegExp(`^${code} .*because of \\[link\\]$`))
    assert.equal((await stage.mail.stats()).failed, 1)
  })
}

test('a recipient who is refused for now does not hold up the others', async () => {
  stage.mailbox.faults({ to: '*', do: 'refuse', at: 'rcpt', code: 450, text: '4.1.2 no domain' })
  await assert.rejects(stage.mail.deliver(await stage.posted()), /450 at RCPT TO/)
  await stage.db.query(`update letters set posted_at = posted_at - interval '1 hour'`)
  const { oldestSeconds, heldUpSeconds } = await stage.mail.stats()
  assert.deepEqual([oldestSeconds >= 3_600, heldUpSeconds], [true, 0])
  // Nobody has tried this one: it waits for us.
  await stage.posted()
  await stage.db.query(`update letters set posted_at = posted_at - interval '1 hour'`)
  assert.ok((await stage.mail.stats()).heldUpSeconds >= 3_600)
})

test('an invalid address fails its e-mail and nothing else', async () => {
  await stage.mail.deliver(
    await stage.posted({ to: 'anna@example.org>\r\nRCPT TO:<eve@example.org' }),
  )
  assert.equal((await stage.only()).state, 'failed')
  assert.deepEqual(stage.mailbox.list(), [])
})

test('an e-mail that is refused for a day fails after fourteen tries', async () => {
  stage.mailbox.faults({ to: '*', do: 'refuse', at: 'rcpt', code: 451 })
  const id = await stage.posted()
  await stage.db.query('update letters set attempts = 12')
  await assert.rejects(stage.mail.deliver(id), { message: 'the e-mail waits: 451 at RCPT TO' })
  assert.equal((await stage.only()).state, 'queued')
  await stage.mail.deliver(id)
  assert.deepEqual([(await stage.only()).state, (await stage.only()).attempts], ['failed', 14])
})

test('an e-mail whose process died fourteen times is not sent again', async () => {
  const id = await stage.posted()
  await stage.db.query('update letters set attempts = 14')
  await stage.mail.deliver(id)
  assert.deepEqual([(await stage.only()).state, stage.mailbox.list()], ['failed', []])
})

test('an SMTP server that is down or breaks off does not fail an e-mail', async () => {
  const nowhere = await startMailbox()
  await nowhere.close()
  const away = stage.mailAt(nowhere.smtpUrl)
  await assert.rejects(away.deliver(await stage.posted()), /the e-mail waits: ESOCKET/)
  assert.equal((await stage.only()).state, 'queued')
  stage.mailbox.faults({ to: '*', do: 'drop', at: 'data' })
  await assert.rejects(stage.mail.deliver((await stage.only()).id), /the e-mail waits/)
  stage.mailbox.faults({ to: '*', do: 'drop', at: 'after' })
  await stage.mail.deliver((await stage.only()).id)
  assert.equal((await stage.only()).state, 'sent')
})

test('an SMTP server that refuses our login or sender does not fail an e-mail', async () => {
  const login = { user: 'gate', password: 'right-password' }
  await withMailbox({ login }, async (guarded) => {
    const wrong = stage.mailAt(guarded.smtpUrl.replace('right', 'wrong'))
    await assert.rejects(wrong.deliver(await stage.posted()), /the e-mail waits: 535/)
    const right = stage.mailAt(guarded.smtpUrl)
    await right.deliver((await stage.only()).id)
    assert.equal(guarded.list().length, 1)
    right.close()
  })
})

async function withMailbox(
  options: MailboxOptions,
  work: (mailbox: Mailbox) => Promise<void>,
): Promise<void> {
  const own = await startMailbox(options)
  try {
    await work(own)
  } finally {
    await own.close()
  }
}

test('sends nothing without TLS unless the URL says so', async () => {
  const careful = stage.mailAt(stage.mailbox.smtpUrl.replace('?starttls=never', ''))
  await assert.rejects(careful.deliver(await stage.posted()), /the e-mail waits: ETLS|STARTTLS/)
  assert.deepEqual(stage.mailbox.list(), [])
  assert.equal((await stage.only()).state, 'queued')
})

test('deletes ended e-mails after a quarter, and none that wait', async () => {
  await stage.mail.deliver(await stage.posted())
  await stage.posted()
  await stage.db.query(
    `update letters set posted_at = posted_at - interval '93 days',
       ended_at = ended_at - interval '93 days'`,
  )
  assert.ok((await stage.mail.stats()).oldestSeconds > 92 * 86_400)
  await stage.mail.maintain()
  assert.equal((await stage.only()).state, 'queued')
  assert.equal((await stage.mail.stats()).queued, 1)
})

test('no log line contains an address, a subject, a body or the SMTP server’s text', async () => {
  await stage.mail.deliver(await stage.posted())
  stage.mailbox.faults({
    to: '*',
    do: 'refuse',
    at: 'rcpt',
    code: 450,
    text: `no ${SECRET} ${letter.to}`,
  })
  await assert.rejects(stage.mail.deliver(await stage.posted()), (error: Error) => {
    stage.lines.push(`${error.message} ${error.stack} ${error.cause}`) // graphile-worker logs it
    return true
  })
  stage.mailbox.faults({
    to: '*',
    do: 'refuse',
    at: 'rcpt',
    code: 550,
    text: `no ${SECRET} ${letter.to}`,
  })
  await stage.mail.deliver(await stage.posted())
  assert.ok(stage.lines.length >= 4, 'each was logged')
  const secrets = ['canary', letter.to, letter.subject, 'Откройте']
  for (const secret of secrets) assert.ok(!stage.lines.join('').includes(secret), secret)
})

test('the operator sees the SMTP dialogue without the password', async () => {
  const login = { user: 'gate', password: 'canary-password' }
  await withMailbox({ login }, async (guarded) => {
    const said = await stage.mailAt(guarded.smtpUrl).test('op@example.org')
    assert.match(said, /^< 220 /m)
    assert.match(said, /^> RCPT TO:<op@example\.org>$/m)
    assert.match(said, /\nsent$/)
    assert.equal(guarded.list({ kind: 'test' }).length, 1)
    const refused = await stage
      .mailAt(guarded.smtpUrl.replace('canary', 'other'))
      .test('op@example.org')
    assert.match(refused, /\nnot sent: 535 /)
    const encoded = Buffer.from(login.password).toString('base64').slice(0, -2)
    for (const text of [said, refused]) {
      assert.ok(!text.includes(login.password) && !text.includes(encoded), text)
    }
  })
})
