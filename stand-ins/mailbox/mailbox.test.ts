// What a sender of e-mails, a test and a person looking at the page may rely on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { createTransport } from 'nodemailer'
import type { Fault } from './faults.ts'
import type { Letter } from './letters.ts'
import { type Mailbox, startMailbox } from './mailbox.ts'

let mailbox: Mailbox
before(async () => {
  mailbox = await startMailbox({ lettersMax: 20 })
})
after(() => mailbox.close())
afterEach(() => {
  mailbox.clear()
  mailbox.faults()
})

const russian = {
  from: 'Шлюз <letters@example.com>',
  to: 'anna@example.org',
  subject: 'Подтвердите адрес — confirm your address',
  text: 'Здравствуйте! Ссылка: https://cabinet.example/confirm?code=a1&lang=ru. Спасибо.\n',
  html: '<p>Ссылка: <a href="https://cabinet.example/confirm?code=a1&amp;lang=ru">здесь</a></p>',
  headers: { 'X-Letter-Kind': 'confirm-email' },
}

/** A machine may stall for a minute in the middle of a test; the sender's timeout is longer. */
const patience = { ignoreTLS: true, connectionTimeout: 300_000, greetingTimeout: 300_000 }

async function send(change: object = {}): Promise<void> {
  const transport = createTransport({ url: mailbox.smtpUrl, ...patience })
  await transport.sendMail({ ...russian, ...change })
}

const failure = (change: object) =>
  send(change).then(
    () => assert.fail('it was sent'),
    (error: { responseCode?: number; code?: string }) => error,
  )

async function get(path: string): Promise<{ letters: Letter[]; lastId: number }> {
  return (await fetch(`${mailbox.url}${path}`)).json() as Promise<{
    letters: Letter[]
    lastId: number
  }>
}

const put = (faults: unknown) =>
  fetch(`${mailbox.url}/api/faults`, { method: 'PUT', body: JSON.stringify(faults) })

test('an e-mail is shown as it was written, in any script, with kind and links', async () => {
  await send()
  const [email] = (await get('/api/letters')).letters
  assert.ok(email)
  assert.equal(email.subject, russian.subject)
  assert.equal(email.sender, 'Шлюз <letters@example.com>')
  assert.equal(email.text.trim(), russian.text.trim())
  assert.equal(email.html?.trim(), russian.html)
  assert.deepEqual(
    [email.from, email.to, email.kind],
    ['letters@example.com', ['anna@example.org'], 'confirm-email'],
  )
  assert.deepEqual(email.links, ['https://cabinet.example/confirm?code=a1&lang=ru'])
  assert.deepEqual(await get(`/api/letters/${email.id}`), email)
})

test('samples are shown in both themes, and apart from received e-mails', async () => {
  const dark = '<style>@media (prefers-color-scheme:dark){p{color:#fff}}</style>'
  const html = `<!doctype html><html><head>${dark}</head><p>Спасибо</p></html>`
  const sample = { kind: 'confirm-email', language: 'ru', subject: '<Тема>', text: 'Текст', html }
  const give = (body: unknown) =>
    fetch(`${mailbox.url}/api/samples`, { method: 'PUT', body: JSON.stringify(body) })
  const shown = async (path: string) => (await fetch(`${mailbox.url}${path}`)).text()
  assert.equal((await fetch(`${mailbox.url}/samples`)).status, 404)
  assert.doesNotMatch(await shown('/'), /href="\/samples"/)
  assert.equal((await give([{ ...sample, html: null }])).status, 400)
  assert.equal((await give([sample])).status, 200)
  assert.match(await shown('/samples'), /&lt;Тема&gt;[\s\S]*Текст/)
  assert.match(await shown('/'), /href="\/samples"/)
  assert.match(await shown('/samples/0/light'), /^<!doctype html><base target/)
  const policy = (await fetch(`${mailbox.url}/samples/0/dark`)).headers
  assert.match(policy.get('content-security-policy') ?? '', /^sandbox /)
  assert.match(await shown('/samples/0/dark'), /@media all\{[\s\S]*color-scheme:dark/)
  assert.match(await shown('/samples/0/light'), /@media not all\{[\s\S]*color-scheme:light/)
  assert.equal((await fetch(`${mailbox.url}/samples/1`)).status, 404)
  assert.deepEqual((await get('/api/letters')).letters, [])
})

test('e-mails are listed newest first, searched by recipient, kind and number', async () => {
  const before = (await get('/api/letters')).lastId
  await send({ subject: 'first' })
  await send({ subject: 'second', to: 'Boris@example.org', headers: {} })
  const subjects = async (query: string) =>
    (await get(`/api/letters?${query}`)).letters.map(({ subject }) => subject)
  assert.deepEqual(await subjects(''), ['second', 'first'])
  assert.deepEqual(await subjects('to=boris@EXAMPLE.org'), ['second'])
  assert.deepEqual(await subjects('kind=confirm-email'), ['first'])
  assert.deepEqual(await subjects(`after=${before + 1}`), ['second'])
})

test('a waiting request is answered as soon as its e-mail arrives, or with nothing', async () => {
  const waiting = get('/api/letters?to=late@example.org&kind=confirm-email&waitMs=60000')
  await send({ to: 'other@example.org' })
  await send({ to: 'late@example.org' })
  assert.deepEqual(
    (await waiting).letters.map(({ to }) => to),
    [['late@example.org']],
  )
  assert.deepEqual((await get('/api/letters?to=nobody@example.org&waitMs=20')).letters, [])
})

test('deleting removes e-mails and never reuses a number', async () => {
  await send()
  const { lastId } = await get('/api/letters')
  await fetch(`${mailbox.url}/api/letters`, { method: 'DELETE' })
  await send()
  const now = await get('/api/letters')
  assert.deepEqual(
    now.letters.map(({ id }) => id),
    [lastId + 1],
  )
})

test('the oldest e-mails are deleted when there are too many', async () => {
  for (let i = 0; i < 22; i++) await send({ subject: `letter ${i}` })
  const { letters } = await get('/api/letters')
  assert.equal(letters.length, 20)
  assert.equal(letters.at(-1)?.subject, 'letter 2')
})

test('a recipient is refused as configured, for now or for good, others are not', async () => {
  await put([
    { to: '*@full.example', do: 'refuse', at: 'rcpt', code: 452, text: 'Mailbox full', times: 1 },
    { to: 'gone@*', do: 'refuse', at: 'rcpt' },
    { to: 'spam@example.org', do: 'refuse', at: 'data', code: 554 },
  ])
  assert.equal((await failure({ to: 'a@full.example' })).responseCode, 452)
  await send({ to: 'a@full.example' }) // the fault has ended
  assert.equal((await failure({ to: 'gone@example.org' })).responseCode, 550)
  assert.equal((await failure({ to: 'spam@example.org' })).responseCode, 554)
  await send()
  assert.deepEqual(
    mailbox.list().map(({ to }) => to[0]),
    ['anna@example.org', 'a@full.example'],
  )
})

const drops: [Fault['at'], boolean, boolean][] = [
  ['rcpt', false, false],
  ['data', false, false],
  ['reply', true, false],
  ['after', true, true],
]
for (const [at, isKept, isTold] of drops) {
  test(`dropped at ${at}, an e-mail is ${isKept ? '' : 'not '}stored and the sender gets ${
    isTold ? 'a reply' : 'no reply'
  }`, async () => {
    mailbox.faults({ to: '*', do: 'drop', at })
    const isSent = await send().then(
      () => true,
      () => false,
    )
    assert.deepEqual([mailbox.list().length === 1, isSent], [isKept, isTold])
  })
}

test('a hanging server accepts the e-mail and sends no reply until the client leaves', async () => {
  mailbox.faults({ to: '*', do: 'hang', at: 'reply' })
  const transport = createTransport({ url: mailbox.smtpUrl, ...patience, pool: true })
  const sending = transport.sendMail(russian).then(
    () => 'sent',
    () => 'left',
  )
  assert.equal((await mailbox.wait({}, 300_000)).length, 1)
  transport.close({ force: true })
  assert.equal(await sending, 'left')
})

test('an invalid fault is refused with a reason', async () => {
  for (const fault of [{}, { to: '*', do: 'refuse', at: 'reply' }, { to: '*', do: 'burn' }]) {
    const answer = await put(fault)
    assert.equal(answer.status, 400)
    assert.match(((await answer.json()) as { error: string }).error, /\w+ \w+/)
  }
})

test('a login is required when one is configured', async (t) => {
  const guarded = await startMailbox({ login: { user: 'gate', password: 'p@ss word' } })
  t.after(() => guarded.close())
  const withoutLogin = guarded.smtpUrl.replace(/\/\/.*@/, '//')
  await createTransport({ url: guarded.smtpUrl, ...patience }).sendMail(russian)
  await assert.rejects(createTransport({ url: withoutLogin, ...patience }).sendMail(russian), {
    responseCode: 530,
  })
})

test('the page lists e-mails, and shows one with a stranger’s markup escaped', async () => {
  await send({ subject: '<script>alert(1)</script>', text: 'x <b> "y" https://a.example/?q=1&r=2' })
  const list = await (await fetch(`${mailbox.url}/`)).text()
  assert.doesNotMatch(list, /<script>alert/)
  assert.match(list, /anna@example\.org/)
  const [email] = mailbox.list()
  const page = await (await fetch(`${mailbox.url}/letters/${email?.id}`)).text()
  assert.match(page, /x &lt;b&gt; &quot;y&quot; <a href="https:\/\/a\.example\/\?q=1&amp;r=2"/)
  assert.match(page, /<iframe[^>]* sandbox="allow-popups allow-popups-to-escape-sandbox"/)
})

test('the HTML of an e-mail can neither run scripts nor load anything', async () => {
  await send({ html: '<img src="https://tracker.example/x"><script>alert(1)</script>' })
  const answer = await fetch(`${mailbox.url}/letters/${mailbox.list()[0]?.id}/html`)
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/)
  assert.doesNotMatch(policy, /script-src|allow-scripts/)
  assert.equal((await fetch(`${mailbox.url}/letters/999999/html`)).status, 404)
})

test('closing ends open connections', async () => {
  const short = await startMailbox()
  const socket = connect(Number(new URL(short.smtpUrl).port), '127.0.0.1')
  await once(socket, 'data') // the greeting
  const ended = once(socket, 'close')
  await short.close()
  await ended
})
