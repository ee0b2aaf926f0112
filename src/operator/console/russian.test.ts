// What commands say to a Russian-speaking operator: every command of the console is planned and
// run, and each line of it has a Russian sentence. The command's own text stays as it is: digests,
// acts and approvals do not depend on the language of a page.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConsoleStage, createConsoleStage } from '../../../test/stages/console.ts'
import { quarantineCharge } from '../../../test/support/quarantined-charge.ts'
import { russianLine } from '../../../web/console/command/lines.ts'
import { CONSOLE_COMMANDS } from './commands.ts'
import type { Account, CommandAnswer } from './contract/contract.ts'

type Plan = Extract<CommandAnswer, { state: 'plan' }>

const at = { stage: undefined as unknown as ConsoleStage, asker: '', other: '' }

before(async () => {
  at.stage = await createConsoleStage({ settings: { approveAdjustmentsAbove: 1_000 } })
  at.asker = (await at.stage.people.newcomer('asker', 'finance')).token
  at.other = (await at.stage.people.newcomer('other', 'finance')).token
})
after(() => at.stage.end())

/** A line that is the same in every language: ids, numbers, addresses. */
const isBare = (line: string) => /^\s*(?:\S+_\S+|op approvals \w+ \S+)$/.test(line)

const seen = new Set<string>()

/** Plans and runs a command, and looks at every line of it; the end. */
async function run(
  name: string,
  args: readonly string[],
  options: Readonly<Record<string, string>> = {},
  token = at.asker,
): Promise<CommandAnswer> {
  const { body } = await at.stage.command<CommandAnswer>(token, name, args, options)
  const { digest } = body as Plan
  const { body: end } = await at.stage.command<CommandAnswer>(token, name, args, options, digest)
  seen.add(name)
  for (const line of [...(body.lines ?? []), ...(end.lines ?? [])]) requireRussian(line, name)
  assert.ok(['done', 'nothing', 'asked'].includes(end.state), `${name}: ${JSON.stringify(end)}`)
  return end
}

function requireRussian(line: string, of: string): void {
  if (isBare(line)) return
  assert.match(russianLine(line) ?? '', /[а-я]/i, `${of}: ${line}`)
}

const reason = { reason: 'обращение 311' }
const note = { note: 'письмо 17' }

test('each command about an account is read in Russian', async () => {
  const anna = await at.stage.person('anna.russian')
  const { id: order } = await at.stage.buyPack(anna)
  const { body: key } = await anna.expectOk<{ id: string }>('POST /api/key')
  await anna.expectOk(`POST /api/key/${key.id}/confirm`)
  const book = String(anna.book)
  const granted = await run('grant', [book, '700'], { ...reason, ref: 'a' })
  assert.equal(granted.state, 'done')
  await run('grant', [anna.email, '700'], { ...reason, ref: 'a' })
  await run('adjust', [book, '20.5'], reason)
  await run('adjust', [book, '-20.5'], { ...reason, contra: 'promo' })
  await run('refund', [order], { ...reason, amount: '300', ref: 'b' })
  await run('disputes open', [order], { ...note, amount: '500' })
  await run('disputes won', [order], note)
  await run('disputes open', [order], note)
  await run('disputes lost', [order], note)
  await run('suspend', [book], reason)
  await run('unsuspend', [book], reason)
  await run('revoke', [book], reason)
  await run('grant', [book, '1'], reason)
})

test('each command that ends something is read in Russian, and why a closing waits', async () => {
  const { token: chief } = await at.stage.people.newcomer('chief of endings', 'admin')
  const dina = await at.stage.person('dina.russian')
  const book = String(dina.book)
  await run('unlock', [book], reason)
  const { recovery } = at.stage.accounts
  await at.stage.db.transaction((tx) =>
    recovery.recordIdentity(tx, dina.account, [
      { step: 'payment', isMatched: true },
      { step: 'key', isMatched: true },
    ]),
  )
  await at.stage.db.transaction((tx) =>
    recovery.begin(tx, { account: dina.account, kind: 'authenticator', newEmail: null }),
  )
  const { body: during } = await at.stage.send<Account>(`GET /api/accounts/${book}`, {
    token: at.asker,
  })
  assert.equal(during.recovery?.kind, 'authenticator')
  await run('recover stop', [book], reason)
  await at.stage.buyPack(dina)
  await at.stage.sim('hold-refunds', {})
  await run('close', [book], reason)
  const step = async () => {
    await at.stage.db.query(
      'update account_closings set next_at = ledger_now() where ended_at is null',
    )
    await at.stage.accounts.closings.run()
  }
  await step()
  await step()
  const { body: closing } = await at.stage.send<Account>(`GET /api/accounts/${book}`, {
    token: at.asker,
  })
  assert.deepEqual([closing.closing?.step, closing.closing?.waits.length], ['drained', 1])
  for (const line of closing.closing?.waits ?? []) requireRussian(line, 'waits')
  await at.stage.sim('hold-refunds', { isHeld: false })

  const egor = await at.stage.person('egor.russian')
  await run('close', [String(egor.book)], reason)
  for (let i = 0; i < 4; i++) await step()
  await at.stage.db.query(
    `update letters set state = 'sent', ended_at = now(), body_text = null, body_html = null
     where state = 'queued'`,
  )
  await run('erase', [String(egor.book)], reason, chief)
})

test('each command about payments, codes and upstreams is read in Russian', async () => {
  const boris = await at.stage.person('boris.russian')
  for (const decision of ['refund', 'credit']) {
    const { id } = await at.stage.buy(boris.book, { email: boris.email })
    await at.stage.sim('alter', { orderId: id, value: '1299.00' })
    await at.stage.sim('pay', { orderId: id })
    await at.stage.payments.check(id)
    const review = (await at.stage.payments.reviewQueue()).find(({ order }) => order === id)
    await run('reviews resolve', [String(review?.id), decision], note)
  }
  await run('promo create', ['WINTER-26', '10'], {
    ...{ times: '5', until: '2099-12-31', purchases: '1' },
  })
  const times = { times: '5', from: '2098-01-01', until: '2099-12-31' }
  await run('promo create', ['LATER-26', '10'], times)
  await run('promo end', ['WINTER-26'])
  await run('upstreams drain', ['west'])
  await run('upstreams drain', ['east'])
  await run('upstreams undrain', ['west'])
  await run('upstreams undrain', ['east'])
})

test('each command of the queues is read in Russian', async () => {
  const { token: chief } = await at.stage.people.newcomer('chief', 'admin')
  const vera = await at.stage.person('vera.russian')
  const order = await at.stage.buyPack(vera)
  await run('disputes open', [order.id], { ...note, until: '2099-12-31' })
  const { id } = await at.stage.buy(vera.book)
  await run('orders check', [id])
  await at.stage.sim('pay', { orderId: id })
  await run('orders check', [id])
  await run('orders check', [id])
  const other = await at.stage.buy(await at.stage.newBook())
  await at.stage.sim('expire', { orderId: other.id })
  await run('orders check', [other.id])
  await at.stage.db.query(`update orders set receipt_state = 'canceled' where id = $1`, [id])
  await at.stage.db.query(
    `insert into receipts (id, kind, order_id, state, amount_kopecks, credits)
     values ('rcp_' || md5($1), 'prepayment', $1, 'failed', 1, 0)`,
    [id],
  )
  await run('receipts retry', [id])
  await run('receipts dismiss', [id], note)
  const invited = 'invited.russian@example.org'
  await run('accounts create', [invited], reason)
  await run('accounts create', [invited], reason)
  await run('registrations resend', [invited])
  await run('registrations delete', [invited], reason)
  await at.stage.browser().expectOk('POST /api/auth/register', {
    ...{ email: 'own.russian@example.org', password: 'a quiet evening in may', language: 'en' },
    consents: at.stage.documents.list().filter((one) => one.isRequired),
  })
  await run('registrations resend', ['own.russian@example.org'])
  const { rows } = await at.stage.db.query(
    `insert into letters (kind, recipient, subject, body_text, body_html, attempts, last_error)
     values ('payment-credited', 'slow@example.org', 's', 't', 'h', 3, '451 later')
     returning id`,
  )
  await run('mail retry', [(rows[0] as { id: string }).id], {}, chief)
  const request = await quarantineCharge(at.stage.ledger, vera.book, 1_287)
  await run('quarantine retry', [request], {}, chief)
  await run('quarantine write-off', [request], reason, chief)
})

test('a request for a second person is read in Russian, and compared as it was asked', async () => {
  const book = String(await at.stage.newBook())
  const ids: string[] = []
  for (const amount of ['5000', '6000', '7000']) {
    const asked = await run('adjust', [book, amount], reason)
    assert.equal(asked.state, 'asked')
    ids.push(/opa_\S+/.exec(asked.lines.join('\n'))?.[0] ?? '')
  }
  const [first = '', second = '', third = ''] = ids
  const end = await run('approvals approve', [first], {}, at.other)
  assert.match(russianLine(end.lines[0] ?? '') ?? '', /одобрен: запись 1 счёта .*доступно 5 000/)
  await run('approvals decline', [second], reason, at.other)
  await run('approvals decline', [third], reason)
  const { rows } = await at.stage.db.query('select plan from operator_approvals')
  const kept = (rows as { plan: string[] }[]).flatMap(({ plan }) => plan)
  assert.ok(kept.length > 5)
  for (const line of kept) {
    requireRussian(line, 'kept')
    assert.doesNotMatch(line.replace('обращение', ''), /[а-я]/i, 'the request is in one language')
  }
})

test('a change of prices and a roll-back are read in Russian', async () => {
  const { token: chief } = await at.stage.people.newcomer('chief of prices', 'admin')
  const changes = ['models.model-small.coefficient=4.5', 'packs.pack-35m.priceKopecks=149900']
  await run('catalogue set', changes, note, chief)
  await run('catalogue rollback', ['1'], note, chief)
})

test('a seal is read in Russian around its figures', async () => {
  const now = new Date()
  const last = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
  const month = last.toISOString().slice(0, 7)
  const { body } = await at.stage.command<CommandAnswer>(at.asker, 'month seal', [month], reason)
  const { lines, digest } = body as Plan
  for (const line of [lines[0], ...lines.slice(-2)]) requireRussian(line ?? '', 'month seal')
  const sealed = await at.stage.command<CommandAnswer>(
    ...([at.asker, 'month seal', [month], reason, digest] as const),
  )
  assert.equal(sealed.body.state, 'done')
  for (const line of sealed.body.lines) requireRussian(line, 'month seal')
  seen.add('month seal')
})

test('no command of the console was left out', () => {
  assert.deepEqual(
    CONSOLE_COMMANDS.filter((name) => !seen.has(name)),
    [],
  )
})

test('a refusal is read in Russian', async () => {
  const book = String(await at.stage.newBook())
  const cases: [string, string[], Record<string, string>][] = [
    ['grant', ['nobody.at.all', '5'], reason],
    ['grant', [book, 'five'], reason],
    ['grant', [book, '-5'], reason],
    ['refund', ['pay_00000000000000000000000000000000'], reason],
    ['promo end', ['NONE-26'], {}],
    ['receipts retry', [(await at.stage.buy(await at.stage.newBook())).id], {}],
    ['receipts dismiss', [(await at.stage.buy(await at.stage.newBook())).id], note],
  ]
  for (const [name, args, options] of cases) {
    const { body } = await at.stage.command<{ error: { message: string } }>(
      ...([at.asker, name, args, options] as const),
    )
    requireRussian(body.error.message, name)
  }
})

test('keeps indentation and values, and shows a line without a sentence as it is', () => {
  assert.equal(
    russianLine('    gets 1 000.5 credits, against loss'),
    '    получит кредиты: 1 000.5; за наш счёт',
  )
  assert.equal(
    russianLine('  300.00 RUB goes back through yookassa; its credits are set aside now'),
    '  через yookassa вернётся 300,00 ₽; кредиты за эту сумму замораживаются сразу',
  )
  assert.equal(
    russianLine('- reason: a (book 1, 5 available) b'),
    '- причина: a (book 1, 5 available) b',
  )
  assert.equal(russianLine('something that no command says to anybody'), undefined)
})

test('a difference of prices is read in Russian, with its roubles', () => {
  assert.equal(
    russianLine('  in money: a million credits: 33.00-37.14 RUB → 33.00-42.82 RUB'),
    '  в деньгах: миллион кредитов: 33,00-37,14 ₽ → 33,00-42,82 ₽',
  )
  const typical = 'a typical request 13750 credits, 0.45-0.51 RUB → 13350 credits, 0.44-0.57 RUB'
  assert.match(
    russianLine(`  in money: model model-small: ${typical}`) ?? '',
    /^ {2}в деньгах: модель model-small: обычный запрос 13750 кредитов, 0,45-0,51 ₽ → 13350/,
  )
})
