// The payer's side over HTTP, without a browser and without scripts: the tests read pages as text
// and post forms as a browser does. They ask the shop's own API for the result.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { type Bank, startBank } from './bank.ts'
import { type Driver, drive, type Receiver, startReceiver } from './drive.ts'
import type { JsonObject } from './json.ts'
import { readCard, testCards } from './pages-cards.ts'
import { reasonsEn, reasonsRu } from './pages-reasons.ts'

let bank: Bank
let shop: Driver
let receiver: Receiver
before(async () => {
  receiver = await startReceiver()
  bank = await startBank({ webhookUrl: receiver.url, shopName: 'Лавка «Ключ»' })
  shop = drive(bank)
})
beforeEach(async () => {
  // A notice of the previous test must not arrive in this one.
  await shop.sim('settle')
  await shop.sim('reset')
  receiver.forget()
})
after(async () => {
  await bank.close()
  await receiver.close()
})

const backUrl = 'https://shop.example/back?order=1&step=pay'
const hourMs = 3_600_000
const goodCard = '4111 1111 1111 1111'
const codeCard = '5555 5555 5555 4477'
const insufficient = '5555 5555 5555 4600'

type Seen = { status: number; text: string; to: string | null; headers: Headers }
type Fields = Readonly<Record<string, string>>

async function visit(path: string, fields?: Fields, method?: string): Promise<Seen> {
  const response = await fetch(bank.url + path, {
    method: method ?? (fields === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    ...(fields === undefined ? {} : { body: new URLSearchParams(fields) }),
  })
  const { status, headers } = response
  return { status, text: await response.text(), to: headers.get('location'), headers }
}

/** Posts, then opens the page of the redirect. */
async function send(path: string, fields: Fields): Promise<Seen> {
  const { status, to } = await visit(path, fields)
  assert.equal(status, 303)
  return visit(to ?? '')
}

const typedCard = { number: goodCard, expiry: '12 / 48', cvc: '123' }
const cardOf = (number: string): Fields => ({ ...typedCard, number })

async function open(members: JsonObject = {}) {
  const confirmation = { type: 'redirect', return_url: backUrl }
  const { id } = await shop.pay({ confirmation, ...members })
  return { id, pay: `/pay/${id}`, app: `/sbp/${id}` }
}

const read = async (id: string) => (await shop.get(`/payments/${id}`)).body
const written = (text: string) => text.replaceAll('&', '&amp;')
const headings = ({ text }: Seen) => [...text.matchAll(/<h1>(.*?)<\/h1>/g)].map((found) => found[1])
const inEnglish = { confirmation: { type: 'redirect', return_url: backUrl, locale: 'en_US' } }

/** Checks that the page redirects to exactly the address that the shop gave. */
function assertLeaves({ status, text }: Seen): void {
  assert.equal(status, 200)
  const refresh = `<meta http-equiv="refresh" content="0; url=${written(backUrl)}">`
  assert.ok(text.includes(refresh), text)
}

test('the page says who is paid, how much and for what, and that no money moves', async () => {
  const { pay } = await open({ description: 'Пакет <b>"S"</b> & Co' })
  const { status, text } = await visit(pay)
  assert.equal(status, 200)
  assert.match(text, /Лавка «Ключ»/)
  assert.match(text, /<dd class="sum">1\u00a0300,00\u00a0₽<\/dd>/)
  assert.match(text, /Пакет &lt;b&gt;&quot;S&quot;&lt;\/b&gt; &amp; Co/)
  assert.match(text, /Это тестовый банк: деньги не списываются\./)
  assert.match(text, /<html lang="ru">/)
})

test('the countdown of the hour is in the page itself', async () => {
  const { pay } = await open()
  await shop.sim('advance', { ms: hourMs / 2 })
  const [, minutes] = /role="timer"[^>]*>(\d+):\d\d</.exec((await visit(pay)).text) ?? []
  // The clock runs while the page is fetched.
  assert.ok(['29', '30'].includes(minutes ?? ''), `${minutes} minutes`)
})

test('a page runs only our own script and style and loads nothing from elsewhere', async () => {
  const { pay } = await open()
  const { text, headers } = await visit(pay)
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none';.*form-action 'self';.*frame-ancestors 'none'/)
  assert.doesNotMatch(policy, /unsafe|\*|https?:/)
  for (const tag of ['script', 'style']) {
    const inside = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(text)?.[1] ?? ''
    assert.ok(policy.includes(`${tag}-src 'sha256-${hash('sha256', inside, 'base64')}'`), tag)
  }
  assert.doesNotMatch(text, /\sstyle=|\son\w+=|<(?:script|link|img)[^>]*(?:src|href)="(?!data:)/)
  assert.equal(headers.get('cache-control'), 'no-store')
})

test('a card without a code pays at once and returns without parameters of ours', async () => {
  const { id, pay } = await open()
  assertLeaves(await send(`${pay}/card`, cardOf(goodCard)))
  const payment = await read(id)
  assert.equal(payment.status, 'succeeded')
  assert.deepEqual(Object(payment.authorization_details).three_d_secure, { applied: false })
  const { card } = Object(payment.payment_method)
  assert.deepEqual(
    [card.first6, card.last4, card.expiry_month, card.expiry_year, card.card_type],
    ['411111', '1111', '12', '2048', 'Visa'],
  )
})

test('every documented number that needs a code asks for it, the others never do', async () => {
  for (const [number, outcome] of testCards) {
    if (outcome.kind === 'declined') continue
    const { id, pay } = await open()
    const { to } = await visit(`${pay}/card`, cardOf(number))
    assert.equal(to, `${pay}${outcome.kind === 'code' ? '/3ds' : '/return'}`, number)
    assert.equal((await read(id)).status, outcome.kind === 'code' ? 'pending' : 'succeeded')
  }
})

test('a card with a code pays after the code, and the shop can see that', async () => {
  const { id, pay } = await open()
  const asked = await send(`${pay}/card`, cardOf(codeCard))
  assert.match(asked.text, /•••• 4477/)
  assert.equal((await visit(`${pay}/3ds`, { code: ' ', answer: 'confirm' })).status, 422)
  assertLeaves(await send(`${pay}/3ds`, { code: '0000', answer: 'confirm' }))
  const payment = await read(id)
  assert.equal(payment.status, 'succeeded')
  assert.deepEqual(Object(payment.authorization_details).three_d_secure, { applied: true })
})

test('a refused code declines the attempt, and the payment can be paid again', async () => {
  const { id, pay } = await open()
  await visit(`${pay}/card`, cardOf(codeCard))
  const declined = await send(`${pay}/3ds`, { code: '', answer: 'refuse' })
  assert.ok(declined.text.includes(reasonsRu['3d_secure_failed'].title))
  assert.equal((await read(id)).status, 'pending')
  // The refused code request is gone; the payer must enter the card again.
  assert.equal((await visit(`${pay}/3ds`)).to, pay)
  assertLeaves(await send(`${pay}/card`, cardOf(goodCard)))
  assert.equal((await read(id)).status, 'succeeded')
})

const declines = [...testCards].flatMap(([number, outcome]) =>
  outcome.kind === 'declined' ? [{ number, reason: outcome.reason }] : [],
)
for (const { number, reason } of [
  ...declines,
  { number: '4000000000000002', reason: 'invalid_card_number' },
]) {
  test(`card ${number} is declined with ${reason} and advice, and may be tried again`, async () => {
    const { id, pay } = await open()
    const { text } = await send(`${pay}/card`, cardOf(number))
    // Safe: a reason without words shows the general sentence and fails the next line.
    const { title, advice } = reasonsRu[reason as keyof typeof reasonsRu]
    assert.ok(text.includes(title) && text.includes(advice), text)
    assert.ok(text.includes(`href="${pay}"`))
    assert.equal((await read(id)).status, 'pending')
    await shop.sim('settle')
    assert.deepEqual(receiver.events(), [])
  })
}

test('giving up after a decline ends the payment, and the shop gets the reason', async () => {
  for (const [number, party, reason] of [
    [insufficient, 'payment_network', 'insufficient_funds'],
    ['5555555555554584', 'yoo_money', 'country_forbidden'],
  ] as const) {
    const { id, pay } = await open()
    await visit(`${pay}/card`, cardOf(number))
    assertLeaves(await send(`${pay}/give-up`, {}))
    const payment = await read(id)
    assert.equal(payment.status, 'canceled')
    assert.deepEqual(payment.cancellation_details, { party, reason })
    assert.ok((await visit(pay)).text.includes(reasonsRu[reason].title))
  }
})

test('closing is a plain link to the shop, and giving up needs a failed attempt', async () => {
  const { id, pay } = await open()
  const { text } = await visit(pay)
  assert.match(text, new RegExp(`<a [^>]*href="${RegExp.escape(written(backUrl))}"[^>]*>Закрыть`))
  assertLeaves(await send(`${pay}/give-up`, {}))
  assert.equal((await read(id)).status, 'pending')
})

test('wrong fields get their own messages, and what was typed stays except the CVC', async () => {
  const { id, pay } = await open()
  const fields = { number: '4111 <x>', expiry: '13/30', cvc: '12' }
  const { status, text } = await visit(`${pay}/card`, fields)
  assert.equal(status, 422)
  assert.match(text, /<title>Ошибка: /)
  for (const name of ['number', 'expiry', 'cvc']) {
    const input = new RegExp(`<input id="${name}"[^>]*>`).exec(text)?.[0] ?? ''
    assert.match(input, new RegExp(`aria-describedby="${name}-problem"\\s+aria-invalid="true"`))
    assert.match(text, new RegExp(`<p class="wrong" id="${name}-problem">`))
  }
  assert.match(text, /value="4111 &lt;x&gt;"/)
  assert.doesNotMatch(text, /value="12"/)
  assert.equal((await visit(`${pay}/card`, {})).status, 422)
  assert.equal((await read(id)).status, 'pending')
})

test('a card works to the end of its last month, however its date is written', () => {
  const problemAt = (expiry: string, nowMs: number) =>
    readCard({ ...typedCard, expiry }, nowMs).problems?.expiry
  for (const expiry of ['02/28', '2 / 2028', '0228', '02-28', '022028']) {
    assert.equal(problemAt(expiry, Date.UTC(2028, 2, 1) - 1), undefined, expiry)
    assert.equal(problemAt(expiry, Date.UTC(2028, 2, 1)), 'expiryPast', expiry)
  }
  for (const expiry of ['00/28', '13/28', '2/2', '28', 'soon']) {
    assert.equal(problemAt(expiry, 0), 'expiryWrong', expiry)
  }
})

test('a form sent twice pays once, and both answers lead to the shop', async () => {
  const { id, pay } = await open()
  const posts = Array.from({ length: 5 }, () => visit(`${pay}/card`, cardOf(goodCard)))
  for (const { to } of await Promise.all(posts)) assert.equal(to, `${pay}/return`)
  const other = await open()
  await visit(`${other.pay}/card`, cardOf(codeCard))
  const answers = Array.from({ length: 5 }, () => visit(`${other.pay}/3ds`, { code: '1' }))
  for (const { to } of await Promise.all(answers)) assert.equal(to, `${other.pay}/return`)
  await shop.sim('settle')
  assert.deepEqual(receiver.events(), ['payment.succeeded', 'payment.succeeded'])
  assert.deepEqual(
    [(await read(id)).status, (await read(other.id)).status],
    ['succeeded', 'succeeded'],
  )
})

test('SBP shows a code for a desktop and a button for a phone, with one link', async () => {
  const { id, pay, app } = await open()
  const { text } = await visit(`${pay}/sbp`)
  assert.match(text, /role="img" aria-label="QR-код[^"]*"><svg .*fill="#ffffff".*stroke="#000000"/)
  const links = [...text.matchAll(/href="([^"]*)" target="_blank"/g)].map((found) => found[1])
  assert.equal(links.length, 2)
  for (const link of links) assert.ok(link?.startsWith(`${bank.url}${app}?`), `${link}`)
  // Without a script the page reloads by itself.
  const watch = /<noscript><meta http-equiv="refresh" content="5; url=(.*?)">/.exec(text)?.[1]
  assert.equal(watch, `${pay}/sbp?seen=0`)
  assert.equal((await visit(watch ?? '')).status, 200)
  assert.equal((await read(id)).status, 'pending')
})

test('a transfer confirmed in the bank app moves the waiting page on to the shop', async () => {
  const { id, pay, app } = await open()
  assert.deepEqual(JSON.parse((await visit(`${pay}/status`)).text), {
    status: 'pending',
    attempts: 0,
  })
  assert.deepEqual(headings(await send(app, { answer: 'confirm' })), ['Перевод выполнен'])
  assert.equal(JSON.parse((await visit(`${pay}/status`)).text).status, 'succeeded')
  const { to } = await visit(`${pay}/sbp?seen=0`)
  assertLeaves(await visit(to ?? ''))
  const payment = await read(id)
  assert.equal(payment.status, 'succeeded')
  assert.equal(Object(payment.payment_method).type, 'sbp')
  assert.equal((await visit(app, { answer: 'confirm' })).to, app)
  await shop.sim('settle')
  assert.deepEqual(receiver.events(), ['payment.succeeded'])
})

test('a transfer refused in the app shows on the waiting page and can be repeated', async () => {
  const { id, pay, app } = await open()
  const refused = await send(app, { answer: 'refuse' })
  assert.deepEqual(headings(refused), ['Вы отказались от перевода'])
  assert.equal(JSON.parse((await visit(`${pay}/status`)).text).attempts, 1)
  const { to } = await visit(`${pay}/sbp?seen=0`)
  assert.equal(to, `${pay}/refused`)
  const page = await visit(`${pay}/refused`)
  assert.deepEqual(headings(page), ['Перевод не подтверждён'])
  assert.ok(page.text.includes(`href="${pay}/sbp"`))
  assert.equal((await visit(`${pay}/sbp`)).status, 200)
  await visit(app, { answer: 'confirm' })
  assert.equal((await read(id)).status, 'succeeded')
})

test('only the method fixed at creation is offered', async () => {
  const card = await open({ payment_method_data: { type: 'bank_card' } })
  assert.doesNotMatch((await visit(card.pay)).text, /aria-label="Способ оплаты"/)
  assert.equal((await visit(`${card.pay}/sbp`)).to, card.pay)
  await visit(card.app, { answer: 'confirm' })
  assert.equal((await read(card.id)).status, 'pending')
  const sbp = await open({ payment_method_data: { type: 'sbp' } })
  assert.equal((await visit(sbp.pay)).to, `${sbp.pay}/sbp`)
  assert.doesNotMatch((await visit(`${sbp.pay}/sbp`)).text, /aria-label="Способ оплаты"/)
  assert.equal((await visit(`${sbp.pay}/card`, cardOf(goodCard))).to, sbp.pay)
  assert.equal((await read(sbp.id)).status, 'pending')
})

test('an hour after creation nothing can be paid, and every page says why', async () => {
  const { id, pay, app } = await open()
  await visit(`${pay}/card`, cardOf(codeCard))
  await shop.sim('advance', { ms: hourMs })
  assert.deepEqual(headings(await visit(pay)), ['Время на оплату истекло'])
  assert.deepEqual(headings(await visit(app)), ['Время на оплату истекло'])
  assert.equal((await visit(`${pay}/card`, cardOf(goodCard))).to, pay)
  assert.equal((await visit(`${pay}/3ds`, { code: '1' })).to, pay)
  assert.equal((await visit(`${pay}/sbp`)).to, pay)
  assert.equal((await visit(app, { answer: 'confirm' })).to, app)
  const payment = await read(id)
  assert.equal(payment.status, 'canceled')
  assert.equal(Object(payment.cancellation_details).reason, 'expired_on_confirmation')
})

test('a paid payment shows that it is paid and is not paid again', async () => {
  const { pay } = await open()
  await visit(`${pay}/card`, cardOf(goodCard))
  const page = await visit(pay)
  assert.deepEqual(headings(page), ['Платёж прошёл'])
  assert.doesNotMatch(page.text, /<form/)
  assert.equal((await visit(`${pay}/sbp`)).to, `${pay}/return`)
})

test('held money counts as paid for the payer, and SBP is not offered for a hold', async () => {
  const { id, pay } = await open({ capture: false })
  assert.equal((await visit(`${pay}/sbp`)).to, pay)
  assertLeaves(await send(`${pay}/card`, cardOf(goodCard)))
  assert.equal((await read(id)).status, 'waiting_for_capture')
  assert.deepEqual(headings(await visit(pay)), ['Платёж прошёл'])
})

test('without a return address the payer stays on a page of ours', async () => {
  const { id, app, pay } = await open({
    payment_method_data: { type: 'sbp' },
    confirmation: { type: 'qr' },
  })
  assert.doesNotMatch((await visit(`${pay}/sbp`)).text, /Закрыть без оплаты/)
  await visit(app, { answer: 'confirm' })
  assert.equal((await visit(`${pay}/return`)).to, pay)
  assert.equal((await read(id)).status, 'succeeded')
})

test('an unknown payment or path has its own page', async () => {
  const { pay } = await open()
  for (const path of ['/pay/nothing', '/sbp/nothing', `${pay}/nowhere`, '/pay/%ff/%00']) {
    const page = await visit(path)
    assert.equal(page.status, 404, path)
    assert.deepEqual(headings(page), ['Платёж не найден'])
  }
  const wrong = await visit(`${pay}/card`, undefined, 'DELETE')
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, POST'])
  const large = await visit(`${pay}/card`, { number: '1'.repeat(20_000) })
  assert.equal(large.status, 413)
})

test('pages use the language of the payment until the payer changes it', async () => {
  const { pay } = await open(inEnglish)
  const english = await visit(pay)
  assert.match(english.text, /<html lang="en">/)
  assert.match(english.text, /Pay 1,300\.00\u00a0₽<\/button>/)
  assert.ok(english.text.includes(`href="${pay}?lang=ru">Русский</a>`))
  const declined = await send(`${pay}/card`, cardOf(insufficient))
  assert.ok(declined.text.includes(reasonsEn.insufficient_funds.advice))
  // Every link and form carries the chosen language.
  assert.match((await visit(`${pay}?lang=ru`)).text, /action="[^"]*\/card\?lang=ru"/)
  const { to } = await visit(`${pay}/card?lang=ru`, cardOf(insufficient))
  assert.equal(to, `${pay}/declined?lang=ru`)
  assert.ok((await visit(to ?? '')).text.includes(reasonsRu.insufficient_funds.advice))
})
