// Operators at the terminal, from the first one on: invitations, signing in, tokens, reads, limits
// of a day, and breaking the glass. The tests go on with the people of those before.
import assert from 'node:assert/strict'
import { stat, writeFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import {
  type Answer,
  createOperatorStage,
  type OperatorStage,
} from '../../../test/stages/operator.ts'
import { Masked } from '../../platform/masked.ts'
import { credits } from '../../units/credits.ts'

const at = { stage: undefined as unknown as OperatorStage }
const olga = { email: 'olga@gate.example', password: 'a sentence of olga 1', seed: '', id: '' }

before(async () => {
  at.stage = await createOperatorStage({}, { supportCreditsPerDay: 1_000 })
})
after(() => at.stage.end())

/** Types password and codes as a person with a phone would. */
function answersOf(code: string): Answer {
  return (question, said) => {
    if (question.startsWith('One-time')) return code
    if (/^(?:New password|Password|The same)/.test(question)) return olga.password
    if (question.startsWith('E-mail')) return olga.email
    olga.seed = said.flatMap((line) => /^ {2}key (\w+)$/.exec(line)?.[1] ?? [])[0] ?? olga.seed
    // The next one when the present one was used to set the app up.
    const ahead = question.startsWith('Code of') ? 30_000 : 0
    return at.stage.people.codeOf(olga.seed, ahead)
  }
}

test('while there is no operator, commands run without a login', async () => {
  const book = await at.stage.newBook()
  assert.equal((await at.stage.op(['grant', `${book}`, '1', '--reason', 'x', '--yes'])).code, 0)
  assert.match((await at.stage.op(['whoami'])).out, /^there is no operator yet/)
  assert.match((await at.stage.op(['login'])).err, /op operators create/)
})

test('the first operator is made on the machine; then every command needs a login', async () => {
  const made = await at.stage.json('operators', 'create', olga.email, '--role', 'admin')
  assert.equal(made.isDone, true)
  olga.id = String(made.operator)
  const code = String(made.code)
  assert.equal(made.link, `http://127.0.0.1:8083/invitation#${code}`)
  const detail = (await at.stage.acts()).at(-1)?.detail ?? ''
  assert.equal(detail, `operator ${olga.id} is invited as admin`)
  const refused = await at.stage.op(['find', 'x', '--as', 'olga'])
  assert.deepEqual([refused.code, refused.out], [1, ''])
  assert.match(refused.err, /op login/)
  const second = await at.stage.op(['operators', 'create', 'x@gate.example', '--role', 'admin'])
  assert.match(second.err, /op login/)

  const accepted = await at.stage.op(['operators', 'accept'], answersOf(code))
  assert.equal(accepted.code, 0, accepted.err)
  assert.match(accepted.out, /^signed in as olga, admin, at most until/)
  assert.equal((await stat(at.stage.operators.sessionFile)).mode & 0o777, 0o600)
})

test('an act names the person, and the machine beside it', async () => {
  const book = await at.stage.newBook()
  const args = ['grant', `${book}`, '1', '--reason', 'x', '--yes', '--as', 'somebody']
  assert.equal((await at.stage.op(args)).code, 0)
  const act = (await at.stage.acts()).at(-1)
  assert.equal(act?.by, `olga (${olga.id})`)
  assert.match(act?.osUser ?? '', /^somebody as \S+@/)
  for (const by of ['olga', olga.id]) {
    assert.match((await at.stage.op(['acts', '--by', by])).out, new RegExp(`op grant ${book}`))
  }
  assert.equal((await at.stage.op(['acts', '--by', 'olg'])).out, 'nobody has done anything')
})

test('without a terminal, login says what to do instead of asking nobody', async () => {
  for (const command of [['login'], ['operators', 'accept']]) {
    const { code, err } = await at.stage.op(command, answersOf(''), {}, { isInteractive: false })
    assert.equal(code, 1)
    assert.match(err, /^this asks a person and needs a terminal; .* op tokens create/)
  }
})

test('logout ends the session, login opens another, and a readable file is refused', async () => {
  assert.match((await at.stage.op(['logout'])).out, /^signed out$/)
  assert.match((await at.stage.op(['whoami'])).err, /op login/)
  const { code, err, out } = await at.stage.op(['login'], answersOf(''))
  assert.equal(code, 0, err)
  assert.match(out, /^signed in as olga/)
  assert.match((await at.stage.op(['whoami'])).out, /^olga \(opr_.*\), admin$/)
  const path = at.stage.operators.sessionFile
  const config = {
    brand: at.stage.brand,
    operators: { ...at.stage.operators, sessionFile: `${path}-open` },
  }
  await writeFile(`${path}-open`, 'token', { mode: 0o644 })
  assert.match((await at.stage.op(['whoami'], '', { config })).err, /can be read by others/)
  const wrong = await at.stage.op(['login'], () => 'wrong', { config })
  assert.match(wrong.err, /sign_in_wrong/)
})

test('a read of a customer’s data leaves a line without an address', async () => {
  const anna = await at.stage.person('anna')
  assert.equal((await at.stage.op(['find', anna.email])).code, 0)
  const { rows } = await at.stage.db.query(
    'select read_by as by, command from operator_reads order by id desc limit 1',
  )
  const [read] = rows as { by: string; command: string }[]
  assert.equal(read?.by, `olga (${olga.id})`)
  assert.match(read?.command ?? '', /^find acc_[\w-]{16}$/)
  await assert.rejects(at.stage.db.query('delete from operator_reads'), /never changed or removed/)
  await assert.rejects(at.stage.db.query('truncate operator_reads'), /never changed or removed/)
})

test('a role moves at most its credits of a day, also by two commands at once', async () => {
  const vera = await at.stage.people.newcomer('vera', 'support')
  const book = await at.stage.newBook()
  const grant = (amount: string, ref: string) =>
    at.stage.opAs(vera.token, [
      ...['grant', `${book}`, amount, '--reason', 'x', '--yes', '--ref', ref],
    ])
  const ends = await Promise.all([grant('600', 'one'), grant('600', 'two')])
  assert.deepEqual(ends.map(({ code }) => code).sort(), [0, 1])
  assert.match(ends.map(({ err }) => err).join(), /day_limit_exceeded/)
  assert.equal((await at.stage.ledger.balance(book))?.available, credits(600))
  const [passed] = ends[0]?.code === 0 ? ['one'] : ['two']
  assert.equal((await grant('600', passed ?? '')).code, 0, 'a repeat moves nothing')
  assert.equal((await grant('400', 'three')).code, 0)
  assert.match((await grant('0.5', 'four')).err, /0 credits are left/)
  const refused = await at.stage.opAs(vera.token, [
    'adjust',
    `${book}`,
    '1',
    '--reason',
    'x',
    '--yes',
  ])
  assert.match(refused.err, /permission_missing/)
})

test('a token runs what is made for a schedule, within its role, until it is revoked', async () => {
  const made = await at.stage.json(
    'tokens',
    'create',
    'nightly',
    '--role',
    'support',
    '--days',
    '30',
  )
  const token = new Masked(String(made.token))
  const config = { brand: at.stage.brand, operators: { ...at.stage.operators, token } }
  const run = (...args: string[]) => at.stage.op(args, '', { config })
  assert.equal((await run('audit')).code, 0)
  assert.match((await run('whoami')).out, /^token nightly \(opt_.*\), support$/)
  assert.match((await run('grant', '1', '1', '--reason', 'x')).err, /token_not_for_command/)
  assert.match((await run('find', 'anna')).err, /token_not_for_command/)
  assert.match((await run('roles', 'check')).err, /permission_missing/)
  assert.match((await at.stage.op(['tokens'])).out, /nightly +support/)
  const again = ['tokens', 'create', 'nightly', '--role', 'support', '--days', '1', '--yes']
  assert.match((await at.stage.op(again)).err, /token_exists/)
  assert.equal((await at.stage.op(['tokens', 'revoke', 'nightly', '--yes'])).code, 0)
  assert.match((await run('audit')).err, /operators\.token was revoked/)
  const twice = await at.stage.op(['tokens', 'revoke', 'nightly', '--yes'])
  assert.match(twice.err, /token_unknown/)
})

test('an admin disables, enables, demotes and resets people, but not the last admin', async () => {
  const nina = await at.stage.people.newcomer('nina', 'admin')
  const as = (...args: string[]) => at.stage.op([...args, '--yes'])
  assert.match((await at.stage.op(['operators'])).out, /nina@gate\.example +admin +active +app/)
  assert.equal((await as('operators', 'role', nina.email, 'viewer')).code, 0)
  const refused = await at.stage.opAs(nina.token, ['operators'])
  assert.match(refused.err, /permission_missing/)
  assert.equal((await as('operators', 'disable', nina.id)).code, 0)
  assert.match((await at.stage.opAs(nina.token, ['whoami'])).err, /op login/)
  assert.equal((await as('operators', 'enable', nina.id)).code, 0)
  const reset = await as('operators', 'reset', nina.email)
  assert.match(reset.err, /in a browser: http:\/\/127\.0\.0\.1:8083\/invitation#/)
  for (const args of [['disable'], ['reset']]) {
    assert.match((await as('operators', ...args, olga.email)).err, /operator_last_admin/)
  }
  assert.match((await as('operators', 'role', olga.email, 'viewer')).err, /operator_last_admin/)
})

test('break-glass needs no login and is loud: an act, the log, e-mails to everybody', async () => {
  await at.stage.op(['logout'])
  const book = await at.stage.newBook()
  const grant = ['grant', `${book}`, '7', '--reason', 'x', '--yes']
  const { code, err } = await at.stage.op(['--break-glass', 'the phone is lost', ...grant])
  assert.equal(code, 0, err)
  const [opened, done] = (await at.stage.acts()).slice(-2)
  assert.match(opened?.by ?? '', /^break-glass \S+@/)
  assert.equal(opened?.detail, 'without signing in: the phone is lost')
  assert.equal(done?.by, opened?.by)
  assert.match(done?.command ?? '', /^grant .* --break-glass 'the phone is lost'$/)
  assert.equal(at.stage.fatal.length, 1)
  assert.match(at.stage.fatal[0] ?? '', /an operator acted without signing in/)
  const { rows } = await at.stage.db.query(
    `select recipient from letters where kind = 'break-glass' order by 1`,
  )
  const told = (rows as { recipient: string }[]).map(({ recipient }) => recipient)
  assert.deepEqual(told, ['olga@gate.example', 'vera@gate.example'])
  assert.match((await at.stage.op(['--break-glass', ' ', ...grant])).err, /needs a reason/)
  const reset = ['operators', 'reset', olga.email, '--yes', '--break-glass', 'nobody can sign in']
  assert.equal((await at.stage.op(reset)).code, 0, 'also of the last admin')
})
