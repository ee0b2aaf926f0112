// The console over HTTP: who may use which route, signing in, plans and acts, and what it shows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type ConsoleStage, createConsoleStage, ROLES } from '../../../test/stages/console.ts'
import { requestIdOf } from '../../platform/ids.ts'
import type { Role } from '../../staff/staff.ts'
import { commands } from '../commands/commands.ts'
import { CONSOLE_COMMANDS } from './commands.ts'
import { consoleRoutes } from './console.ts'
import type { Account, CommandAnswer, Found, RequestDetails } from './contract/contract.ts'
import type { Access } from './routes.ts'

type Plan = Extract<CommandAnswer, { state: 'plan' }>

const at = {
  stage: undefined as unknown as ConsoleStage,
  tokens: {} as Record<Role, string>,
}

before(async () => {
  at.stage = await createConsoleStage()
  for (const role of ROLES) at.tokens[role] = (await at.stage.people.newcomer(role, role)).token
})
after(() => at.stage.end())

/** Every route, with who may use it. */
const routes = () =>
  Object.entries(consoleRoutes(at.stage) as Record<string, { access: Access }>).map(
    ([name, { access }]) => ({ route: name.replace(/:\w+/g, '1'), access }),
  )

/** Answers of somebody who may not be here. */
const STOPPED = ['operator_session_missing', 'second_factor_missing', 'permission_missing']

test('without a session only the sign-in answers', async () => {
  for (const { route, access } of routes()) {
    const { code } = await at.stage.send(route)
    if (access === 'public') assert.ok(!STOPPED.includes(String(code)), `${route}: ${code}`)
    else assert.equal(code, 'operator_session_missing', route)
  }
})

test('a session without its second factor can only prove or set up one', async () => {
  const person = await at.stage.people.operator('half', 'admin')
  for (const { route, access } of routes()) {
    // Each time anew: signing out is one of the routes.
    const { token, session } = await at.stage.staff.signIn({ ...at.stage.people.caller, ...person })
    assert.equal(session.missing, 'factor')
    const { code } = await at.stage.send(route, { token })
    if (access === 'public' || access === 'begun') continue
    assert.equal(code, 'second_factor_missing', route)
  }
  const { token } = await at.stage.staff.signIn({ ...at.stage.people.caller, ...person })
  const enrolled = await at.stage.send('POST /api/enrolment/app', { token })
  assert.equal(enrolled.code, 'second_factor_missing', 'a password alone sets up no factor')
})

test('each role reaches the routes of its permissions, and no other', async () => {
  for (const role of ROLES) {
    for (const { route, access } of routes()) {
      if (access === 'public' || access === 'begun') continue
      const { code } = await at.stage.send(route, { token: at.tokens[role] })
      if (at.stage.staff.may(role, access)) {
        assert.ok(!STOPPED.includes(String(code)), `${role} ${route}: ${code}`)
      } else assert.equal(code, 'permission_missing', `${role} ${route}`)
    }
  }
})

test('each role runs the commands of its permissions, and no other', async () => {
  for (const name of CONSOLE_COMMANDS) {
    const entry = commands.find(({ usage }) => usage.startsWith(`${name} `))
    assert.ok(entry?.permission, `${name} is a command with a permission`)
    for (const role of ROLES) {
      const { code } = await at.stage.command(at.tokens[role], name, [])
      const isAllowed = at.stage.staff.may(role, entry.permission)
      // A command that needs nothing may begin, and finds nothing to do.
      const begun: string = entry.usage.includes('<') ? 'field_invalid' : 'command_refused'
      assert.equal(code, isAllowed ? begun : 'permission_missing', `${role} ${name}`)
    }
  }
})

test('runs no command that is for the terminal', async () => {
  for (const name of ['import-keys', 'operators create', 'restore repair', 'find', 'toString']) {
    const { code } = await at.stage.command(at.tokens.admin, name, ['a@b.example'])
    assert.equal(code, 'command_unknown', name)
  }
})

test('a change must come from the console’s own pages', async () => {
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: at.stage.consoleUrl, 'sec-fetch-site': 'cross-site' },
    { origin: at.stage.consoleUrl, 'sec-fetch-site': 'same-site' },
  ]
  for (const { route } of routes().filter((one) => one.route.startsWith('POST'))) {
    for (const headers of foreign) {
      const { code } = await at.stage.send(route, { token: at.tokens.admin, headers })
      assert.equal(code, 'origin_wrong', `${route} ${JSON.stringify(headers)}`)
    }
  }
  const read = { token: at.tokens.admin, headers: { 'sec-fetch-site': 'cross-site' } }
  assert.equal((await at.stage.send('GET /api/me', read)).code, 'origin_wrong')
})

test('signs in with password and code, and keeps the token in a strict cookie', async () => {
  const { email, password, code } = await at.stage.people.newcomer('signer', 'support')
  const wrong = await at.stage.send('POST /api/sign-in', { body: { email, password: 'no' } })
  assert.deepEqual([wrong.status, wrong.code], [401, 'sign_in_wrong'])
  const begun = await at.stage.send('POST /api/sign-in', { body: { email, password } })
  assert.deepEqual(begun.body, { missing: 'factor' })
  const proven = await at.stage.send('POST /api/sign-in/code', {
    ...{ token: tokenIn(begun.headers), body: { code: code() } },
  })
  assert.deepEqual(proven.body, { missing: null })
  const [cookie = ''] = proven.headers.getSetCookie()
  assert.match(cookie, /^tollgate-console=[\w-]{40,}; Path=\/; HttpOnly; SameSite=Strict$/)
  const token = tokenIn(proven.headers)
  const me = await at.stage.send('GET /api/me', { token })
  assert.deepEqual([me.status, me.body.role, me.body.email], [200, 'support', email])
  assert.equal(me.headers.get('cache-control'), 'no-store')
  const old = await at.stage.send('GET /api/me', { token: tokenIn(begun.headers) })
  assert.equal(old.code, 'operator_session_missing', 'a proof makes a new token')
  await at.stage.send('POST /api/sign-out', { token })
  const ended = await at.stage.send('GET /api/me', { token })
  assert.equal(ended.code, 'operator_session_missing')
})

test('more passwords at once than may wait are answered with 503 and a sentence', async () => {
  const stage = await createConsoleStage({ settings: { passwordQueue: 0 } })
  try {
    const body = { email: 'nobody@gate.example', password: 'a wrong sentence' }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => stage.send('POST /api/sign-in', { body })),
    )
    const busy = answers.find(({ status }) => status !== 401)
    assert.deepEqual([busy?.status, busy?.code], [503, 'password_checks_overloaded'])
    assert.equal(busy?.headers.get('retry-after'), '1')
  } finally {
    await stage.end()
  }
})

test('without an identity provider none is offered, and none begins', async () => {
  const ways = await at.stage.send('GET /api/sign-in/ways')
  assert.deepEqual(ways.body, { provider: null })
  const begun = await at.stage.send('POST /api/sign-in/provider/begin')
  assert.deepEqual([begun.status, begun.code], [503, 'oidc_unavailable'])
})

test('an invited operator sets a password and an app, and is signed in', async () => {
  const { code: invitation } = await at.stage.people.invite('newest', 'viewer')
  const password = 'a long enough sentence'
  const body = { code: invitation, password }
  const begun = await at.stage.send('POST /api/enrolment', { body })
  assert.deepEqual(begun.body, { missing: 'enrolment' })
  const token = tokenIn(begun.headers)
  const { body: app } = await at.stage.send<{ seed: string }>('POST /api/enrolment/app', { token })
  const confirmed = await at.stage.send('POST /api/enrolment/app/confirm', {
    ...{ token, body: { code: at.stage.people.codeOf(app.seed) } },
  })
  assert.equal(confirmed.status, 200)
  const me = await at.stage.send('GET /api/me', { token: tokenIn(confirmed.headers) })
  assert.equal(me.body.role, 'viewer')
  const again = await at.stage.send('POST /api/enrolment', { body })
  assert.equal(again.code, 'invitation_wrong')
})

test('a command shows its plan first, and acts only on the digest of that plan', async () => {
  const book = String(await at.stage.newBook())
  const given = { reason: 'an outage', ref: 'outage-1' }
  const grant = (plan?: string, amount = '700') =>
    at.stage.command<CommandAnswer>(at.tokens.support, 'grant', [book, amount], given, plan)
  const acts = (await at.stage.acts()).length
  const { body: planned } = await grant()
  assert.equal(planned.state, 'plan')
  const { digest, lines, isChanged } = planned as Plan
  assert.match(lines.join('\n'), /gets 700 promo credits.*\n.*an outage/)
  assert.equal(isChanged, false)
  const { body: changed } = await grant(digest, '7000')
  assert.deepEqual([changed.state, (changed as Plan).isChanged], ['plan', true])
  assert.equal((await at.stage.acts()).length, acts, 'nothing was done yet')

  const { body: done } = await grant(digest)
  assert.equal(done.state, 'done')
  await grant(digest)
  const account = await read<Account>('support', `GET /api/accounts/${book}`)
  assert.equal(account.available.exact, '700', 'the same reference grants once')
  const [act] = (await at.stage.acts()).slice(acts)
  assert.equal(act?.outcome, 'done')
  assert.match(act?.by ?? '', /^support \(opr_/)
  assert.match(act?.osUser ?? '', /^console /)
  assert.equal(act?.command, `grant ${book} 700 --reason 'an outage' --ref outage-1`)
})

test('a plan that begins now stays the same until it is confirmed', async () => {
  const until = { times: '5', until: '2099-12-31' }
  const create = (plan?: string) =>
    at.stage.command<CommandAnswer>(
      at.tokens.finance,
      'promo create',
      ['AT-ONCE', '10'],
      until,
      plan,
    )
  const { digest } = (await create()).body as Plan
  // The plan's times have seconds.
  await setTimeout(1_000)
  assert.equal((await create(digest)).body.state, 'done')
})

test('a refused command says why and changes nothing', async () => {
  const book = String(await at.stage.newBook())
  const adjust = (plan?: string) =>
    at.stage.command(at.tokens.finance, 'adjust', [book, '-5'], { reason: 'x' }, plan)
  const { digest } = (await adjust()).body as unknown as Plan
  const { status, code, body } = await adjust(digest)
  assert.deepEqual([status, code], [409, 'command_refused'])
  assert.match(JSON.stringify(body), /available/)
  const unknown = await at.stage.command(at.tokens.finance, 'adjust', ['nobody@x.example', '5'], {
    reason: 'x',
  })
  assert.equal(unknown.code, 'command_refused')
})

test('refuses options that a command does not have, and missing reasons', async () => {
  const { admin } = at.tokens
  for (const given of [
    {},
    { reason: ' ' },
    { reason: 'x', yes: 'true' },
    { reason: 'x', as: 'y' },
  ]) {
    const { code } = await at.stage.command(admin, 'suspend', ['1'], given)
    assert.equal(code, 'field_invalid', JSON.stringify(given))
  }
})

test('any id leads to its account or request, and a request to its arithmetic', async () => {
  const anna = await at.stage.person('anna.console')
  const { id: order } = await at.stage.buyPack(anna)
  const vendorRequestId = 'req_011CSHoEeqs5C35K2UUqR7Fy'
  const sessionId = '0b6f2a52-6a1c-4f7e-9c35-2a1f6d0c9e77'
  await at.stage.spend(anna.book, 1_287, { vendorRequestId, sessionId })
  await at.stage.ledger.aggregateUsage()
  const charge = (await at.stage.entries(anna.book)).find(({ kind }) => kind === 'charge')
  const request = requestIdOf(charge?.holdId as NonNullable<typeof charge>['holdId'] & bigint)
  const cases: [string, string][] = [
    [anna.email, 'account'],
    [anna.account, 'account'],
    [order, 'order'],
    [request, 'request'],
    [vendorRequestId, 'request'],
    [sessionId, 'session'],
  ]
  for (const [text, kind] of cases) {
    const found = await read<Found>('support', `GET /api/search?text=${encodeURIComponent(text)}`)
    assert.deepEqual(
      found.hits.map((hit) => [hit.kind, hit.book]),
      [[kind, String(anna.book)]],
      text,
    )
  }
  const details = await read<RequestDetails>('support', `GET /api/requests/${request}`)
  assert.deepEqual([details.email, details.vendorRequestId], [anna.email, vendorRequestId])
  const sum = details.charge?.lines.reduce((all, { credits }) => all + Number(credits.exact), 0)
  assert.equal(sum, Number(details.charge?.priced.exact))
  assert.equal(details.charge?.charged.exact, '1287')

  const account = await read<Account>('support', `GET /api/accounts/${anna.book}`)
  assert.equal(account.owner?.email, anna.email)
  assert.deepEqual(
    account.orders.map(({ id }) => id),
    [order],
  )
  assert.deepEqual(
    account.sessions.map(({ id }) => id),
    [sessionId],
  )
  const nobody = await at.stage.send('GET /api/accounts/999999', { token: at.tokens.support })
  assert.deepEqual([nobody.status, nobody.code], [404, 'thing_unknown'])
  const nothing = await read<Found>('support', 'GET /api/search?text=anna.console@exmaple.org')
  assert.deepEqual(nothing.hits, [])
  assert.match(nothing.advice ?? '', /did you mean anna.console@example.org/)
})

test('a read of a customer leaves a line with the reader’s name', async () => {
  const book = String(await at.stage.newBook())
  await read('support', `GET /api/accounts/${book}`)
  const { rows } = await at.stage.db.query(
    'select read_by as by, command from operator_reads order by id desc limit 1',
  )
  const [line] = rows as { by: string; command: string }[]
  assert.match(line?.by ?? '', /^support \(opr_/)
  assert.equal(line?.command, `find ${book}`)
})

test('a plan that names a buyer leaves a line, also when nobody confirms it', async () => {
  const { id } = await at.stage.buyPack(await at.stage.person('disputer'))
  for (const name of ['disputes open', 'disputes won', 'disputes lost']) {
    const { body } = await at.stage.command<Plan>(at.tokens.finance, name, [id], { note: 'x' })
    assert.match(body.lines.join('\n'), /disputer@example\.org/, name)
    const { rows } = await at.stage.db.query(
      'select read_by as by, command from operator_reads order by id desc limit 1',
    )
    const [line] = rows as { by: string; command: string }[]
    assert.match(line?.by ?? '', /^finance \(opr_/, name)
    assert.equal(line?.command, `${name} ${id} --note x`)
  }
})

test('above a limit a command asks, and another person lets it run', async () => {
  const stage = await createConsoleStage({ settings: { approveGrantsAbove: 100 } })
  try {
    const asker = await stage.people.newcomer('asker', 'support')
    const other = await stage.people.newcomer('other', 'support')
    const book = String(await stage.newBook())
    const run = async (token: string, name: string, args: string[], options = {}) => {
      const { body } = await stage.command<CommandAnswer>(token, name, args, options)
      const { digest } = body as Plan
      return (await stage.command<CommandAnswer>(token, name, args, options, digest)).body
    }
    const asked = await run(asker.token, 'grant', [book, '101'], { reason: 'x', ref: 'y' })
    assert.equal(asked.state, 'asked')
    const { body } = await stage.send<{ approvals: { id: string; isOwn: boolean }[] }>(
      'GET /api/approvals',
      { token: asker.token },
    )
    const [request] = body.approvals
    assert.equal(request?.isOwn, true)
    const own = await stage.command(asker.token, 'approvals approve', [request?.id ?? ''])
    const { digest } = own.body as unknown as Plan
    const refused = await stage.command(
      ...([asker.token, 'approvals approve', [request?.id ?? ''], {}, digest] as const),
    )
    assert.equal(refused.code, 'command_refused')
    assert.equal((await run(other.token, 'approvals approve', [request?.id ?? ''])).state, 'done')
    const { body: account } = await stage.send<Account>(`GET /api/accounts/${book}`, {
      token: other.token,
    })
    assert.equal(account.available.exact, '101')
  } finally {
    await stage.end()
  }
})

async function read<T>(role: Role, route: string): Promise<T> {
  const { status, body } = await at.stage.send<T>(route, { token: at.tokens[role] })
  assert.equal(status, 200, `${route}: ${JSON.stringify(body)}`)
  return body
}

function tokenIn(headers: Headers): string {
  return /=([^;]+)/.exec(headers.getSetCookie()[0] ?? '')?.[1] ?? ''
}
