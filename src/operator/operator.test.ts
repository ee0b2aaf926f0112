// What all commands have in common: plan, question, act and record; output for people and for
// scripts; usage errors.
import assert from 'node:assert/strict'
import { hostname, userInfo } from 'node:os'
import { after, before, beforeEach, test } from 'node:test'
import { createOperatorStage, type OperatorStage, type Typed } from '../../test/stages/operator.ts'
import type { BookId } from '../platform/ids.ts'
import { credits } from '../units/credits.ts'
import { commands, families } from './commands/commands.ts'

const at = { stage: undefined as unknown as OperatorStage, book: 0n as BookId }
const me = `${userInfo().username}@${hostname()}`

before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())
beforeEach(async () => {
  at.book = await at.stage.newBook()
})

const available = async () => (await at.stage.ledger.balance(at.book))?.available
const since = async (before: number) => (await at.stage.acts()).slice(before)
const grant = (...more: string[]) => ['grant', `${at.book}`, '700', '--reason', 'a test', ...more]

test('records an act with its author, command and result', async () => {
  const before = (await at.stage.acts()).length
  const { code, out, err } = await at.stage.op(grant(), '700')
  assert.equal(code, 0, err)
  assert.equal(await available(), credits(700))
  const [line, ...more] = await since(before)
  assert.deepEqual(more, [])
  assert.deepEqual(
    [line?.by, line?.osUser, line?.outcome, line?.command, line?.detail],
    [me, me, 'done', `grant ${at.book} 700 --reason 'a test'`, out],
  )
})

test('a declined confirmation changes nothing and records nothing', async () => {
  const before = (await at.stage.acts()).length
  for (const answer of [undefined, '', 'n', 'yes', '7', '7000']) {
    const { code, out } = await at.stage.op(grant(), answer)
    assert.deepEqual([code, out], [1, 'nothing was changed'], `${answer}`)
  }
  assert.equal(await available(), 0n)
  assert.deepEqual(await since(before), [])
})

test('accepts the repeated amount in any usual spelling', async () => {
  const big = ['grant', `${at.book}`, '1 234 567.5', '--reason', 'a test']
  assert.equal((await at.stage.op(big, ' 1_234_567.5 ')).code, 0)
})

test('a refused action changes nothing and records the reason', async () => {
  const before = (await at.stage.acts()).length
  const ask = ['adjust', `${at.book}`, '-1', '--reason', 'a test', '--yes']
  const { code, out, err } = await at.stage.op(ask)
  assert.deepEqual([code, out], [1, ''])
  assert.match(err, /refused: .* \(adjust_exceeds_available\)/)
  const [line] = await since(before)
  assert.equal(line?.outcome, 'refused')
  assert.match(line?.detail ?? '', /^adjust_exceeds_available: /)
  const { isDone, refusal } = await at.stage.json(...ask)
  assert.deepEqual([isDone, refusal], [false, 'adjust_exceeds_available'])
})

test('an action outside one transaction is recorded before and after', async () => {
  const before = (await at.stage.acts()).length
  await at.stage.op(['mail', 'test', 'me@example.org', '--yes'])
  const [begun, done] = await since(before)
  assert.deepEqual([begun?.outcome, done?.outcome, done?.of], ['begun', 'done', begun?.id])
  const shown = await at.stage.json<{ acts: { id: string; outcome: string }[] }>('acts')
  assert.deepEqual([shown.acts[0]?.id, shown.acts[0]?.outcome], [String(begun?.id), 'done'])
})

test('records cannot be changed or deleted', async () => {
  await at.stage.op(grant('--yes'))
  for (const statement of [
    `update operator_acts set detail = ''`,
    'delete from operator_acts',
    'truncate operator_acts',
  ]) {
    await assert.rejects(at.stage.db.query(statement), /never changed or removed/)
  }
})

test('op audit reports an act that was changed past the triggers', async () => {
  await at.stage.op(grant('--yes'))
  assert.equal((await at.stage.op(['audit'])).code, 0)
  const change = (detail: string) =>
    at.stage.db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica')
      await tx.query(
        `update operator_acts set detail = $1 where number = (select number from act_chain)`,
        [detail],
      )
    })
  const { detail = '' } = (await at.stage.acts()).at(-1) ?? {}
  await change('nothing happened')
  const { code, out } = await at.stage.op(['audit'])
  assert.equal(code, 1)
  assert.match(out, /^act_altered {2}act \d+ {2}it, .* is not as it was recorded$/m)
  assert.match(out, /^operators’ acts: \d+, tampered with; the copy was not read: there is none$/m)
  await change(detail)
  assert.equal((await at.stage.op(['audit'])).code, 0)
})

test('acts name a person by the account, and op acts shows the present address', async () => {
  const anna = await at.stage.person('anna')
  const reason = `${anna.email} asked`
  await at.stage.op(['grant', anna.email, '7', '--reason', reason, '--yes'])
  await at.stage.op(['grant', `${anna.book}`, '7', '--reason', 'x', '--yes'])
  await at.stage.op(grant('--yes'))
  const line = (await at.stage.acts()).at(-3)
  const { id = '' } = (await at.stage.accounts.search(anna.email, 1))[0] ?? {}
  assert.equal(line?.command, `grant ${id} 7 --reason '${id} asked'`)
  const { out } = await at.stage.op(['acts', '--about', anna.email])
  const commands = out.split('\n').filter((one) => one.startsWith('    op '))
  assert.deepEqual(commands, [
    `    op grant ${anna.book} 7 --reason x`,
    `    op grant ${id} 7 --reason '${id} asked'`,
  ])
  assert.ok(out.endsWith(`\n    ${id} is ${anna.email}`), out)
})

test('--as names the operator; the system account is recorded as well', async () => {
  await at.stage.op(grant('--yes', '--as', 'Olga'))
  const line = (await at.stage.acts()).at(-1)
  assert.deepEqual([line?.by, line?.osUser], ['Olga', me])
  const { out } = await at.stage.op(['acts', '--by', 'Olga'])
  assert.match(out, new RegExp(`^${line?.id}  .* UTC  Olga \\(${me}\\)  done\n    op grant `))
})

test('a usage error exits with 2, suggests the nearest name and opens no connection', async () => {
  const said = (typed: Typed) => [typed.code, typed.out, typed.err.replaceAll('\n', ' ')]
  const cases: [string[], RegExp][] = [
    [['fnd', 'x'], /Did you mean find\?/],
    [['promo', 'crate'], /did you mean create\?/],
    [['mail', 'nonsense'], /there are outbox, retry, test/],
    [['grant', '1', '5'], /required option '--reason/],
    [['grant', `${at.book}`, 'five', '--reason', 'x'], /five is no number of credits/],
    [['statement', `${at.book}`, '--from', 'monday'], /--from is a day/],
    [['upstreams', 'drain', 'eats'], /did you mean east\?/],
    [['reviews', 'resolve', '1', 'refnd', '--note', 'x'], /did you mean refund\?/],
    [['disputes', 'open', '--note', 'x'], /missing required argument 'order'/],
  ]
  for (const [args, pattern] of cases) {
    const [code, out, err] = said(await at.stage.op(args))
    assert.deepEqual([code, out], [2, ''], args.join(' '))
    assert.match(String(err), pattern)
  }
})

test('--json prints the same members each time', async () => {
  const members: [string[], string][] = [
    [['find', `${at.book}`], 'found around'],
    [['statement', `${at.book}`], 'book email entries'],
    [grant(), 'isDone act book isRepeat entry ref credits available'],
    [['suspend', `${at.book}`, '--reason', 'x'], 'isDone act book isSuspended'],
    [['find', 'nowhere'], 'isDone refusal sentence'],
    [['promo'], 'promos'],
    [['catalogue'], 'versions'],
    [['upstreams'], 'upstreams'],
    [['mail'], 'queued oldestSeconds failed troubled'],
    [['reviews'], 'reviews'],
    [['disputes'], 'disputes'],
    [['reconcile'], 'providers'],
    [['audit'], 'findings money acts copy settles quarantine spools'],
    [['quarantine'], 'settles quarantine'],
    [['spool'], 'spools'],
    [['days'], 'daysAhead days'],
    [['acts'], 'acts people'],
  ]
  for (const [args, names] of members) {
    const said = await at.stage.json(...args)
    assert.equal(Object.keys(said).join(' '), names, args.join(' '))
  }
})

test('help lists every command with its options', async () => {
  const { code, out: all } = await at.stage.op(['--help'])
  assert.equal(code, 0)
  for (const { usage, options = [] } of commands) {
    const words = usage.split(' ').filter((word) => /^\w/.test(word))
    const [first = '', second] = words
    assert.match(all, new RegExp(`^  ${first}\\b`, 'm'))
    const family = families[first] === undefined ? '' : (await at.stage.op([first, '--help'])).out
    if (second !== undefined) assert.match(family, new RegExp(`^  ${second}\\b`, 'm'))
    const { out } = await at.stage.op([...words, '--help'])
    for (const [flags] of options) assert.ok(out.includes(flags), `${usage} ${flags}`)
    assert.match(out, /--json/)
  }
  assert.match(all, /Exit code: 0 done; 1 .*; 2 /)
})

test('a pasted key is neither stored nor printed', async () => {
  const key = 'sk-vendor-api03-AAabcdefghijklmnopqrstuvwxyz0123456789'
  for (const args of [
    ['find', key],
    ['revoke', key, '--reason', key],
    ['grant', `${at.book}`, '1', '--reason', `he lost ${key}`, '--yes'],
  ]) {
    const { out, err } = await at.stage.op(args)
    assert.doesNotMatch(out + err, /klmnop/, args.join(' '))
  }
  const [entry] = await at.stage.entries(at.book)
  assert.equal(entry?.note, 'he lost sk-…6789')
  assert.ok(!(await at.stage.acts()).some(({ command }) => command.includes('klmnop')))
})
