// op catalogue and op mail: a file is checked, compared and applied; a test e-mail shows the SMTP
// dialogue.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'

const at = { stage: undefined as unknown as OperatorStage, directory: '' }
before(async () => {
  at.stage = await createOperatorStage()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-catalogue-'))
})
after(async () => {
  await at.stage.end()
  await rm(at.directory, { recursive: true, force: true })
})

const example = join(import.meta.dirname, '../../../catalogue.example.yaml')

async function file(change: (text: string) => string): Promise<string> {
  const path = join(at.directory, 'catalogue.yaml')
  await writeFile(path, change(await readFile(example, 'utf8')))
  return path
}

test('checks a file before anything else', async () => {
  const good = await at.stage.op(['catalogue', 'check', example])
  assert.deepEqual([good.code, /nothing to complain/.test(good.out)], [0, true])
  assert.match(good.out, /^model-medium +1 +4 +1$/m)
  assert.match(good.out, /^pack-35m +1300\.00 +37\.14$/m)
  const bad = await at.stage.op(['catalogue', 'check', await file(() => 'models: 5')])
  assert.equal(bad.code, 1)
  assert.match(bad.out, /models/)
  const none = await at.stage.op(['catalogue', 'check', join(at.directory, 'none.yaml')])
  assert.deepEqual([none.code, /cannot be read: ENOENT/.test(none.err)], [2, true])
})

test('compares, confirms and applies a change once, and exports it again', async () => {
  const path = await file((text) => text.replace('priceKopecks: 130000', 'priceKopecks: 149900'))
  const { code, out } = await at.stage.op(['catalogue', 'diff', path])
  assert.deepEqual([code, /price .* → 1499\.00 RUB/.test(out)], [1, true], out)
  assert.match(out, /^in money: a million credits: 33\.00-37\.14 RUB → 33\.00-42\.82 RUB$/m)
  const apply = ['catalogue', 'apply', path, '--note', 'dearer']
  assert.equal((await at.stage.op(apply, 'n')).out, 'nothing was changed')
  assert.equal((await at.stage.pricing.refresh())?.version, 1)
  const done = await at.stage.op(apply, 'y')
  assert.deepEqual([done.code, done.out.split(' is')[0]], [0, 'version 2'])
  assert.match((await at.stage.op(apply)).out, /the same as in force/)
  assert.match((await at.stage.op(['catalogue'])).out, / 2 {2}.* UTC .* dearer$/m)
  const first = await at.stage.op(['catalogue', 'export', '1'])
  await writeFile(path, first.out)
  assert.equal((await at.stage.op(['catalogue', 'apply', path, '--yes'])).code, 0)
  assert.equal((await at.stage.op(['catalogue', 'diff', example])).code, 0)
  assert.equal((await at.stage.op(['catalogue', 'export', '99'])).code, 1)
})

test('changes single fields without a file, and goes back to an earlier version', async () => {
  const { pricing } = at.stage
  const before = (await pricing.refresh())?.version ?? 0
  const price = async () =>
    (await pricing.refresh())?.modelById.get('model-large')?.price.coefficient ?? 0n
  const set = ['catalogue', 'set', 'models.model-large.coefficient=6.5', '--note', 'dearer output']
  const declined = await at.stage.op(set, 'n')
  assert.match(declined.err, /model model-large: coefficient 5 → 6\.5$/m)
  assert.match(declined.err, /a typical request 13750 credits.* → 14950 credits, .* RUB$/m)
  assert.equal(await price(), 5_000_000n, 'a declined plan changes nothing')
  assert.equal((await at.stage.op(set, 'y')).code, 0)
  assert.equal(await price(), 6_500_000n)
  const shown = await at.stage.op(['catalogue', 'show'])
  assert.match(shown.out, /dearer output\n {2}model model-large: coefficient 5 → 6\.5\n/)

  const back = ['catalogue', 'rollback', String(before), '--note', 'a mistake']
  const done = await at.stage.op(back, 'y')
  assert.deepEqual([done.code, await price()], [0, 5_000_000n], done.err)
  const [newest] = await pricing.history()
  assert.deepEqual([newest?.version, newest?.note], [before + 2, 'a mistake'])
  assert.match((await at.stage.op(back)).out, /the same as in force/)
  assert.equal((await at.stage.op(['catalogue', 'rollback', '99', '--note', 'x'])).code, 1)
  const acts = (await at.stage.acts()).filter(({ outcome }) => outcome === 'done').slice(-2)
  assert.deepEqual(
    acts.map(({ command }) => command.split(' ').slice(0, 2).join(' ')),
    ['catalogue set', 'catalogue rollback'],
  )
})

test('a wrong field is named, and nothing is changed', async () => {
  const before = (await at.stage.pricing.refresh())?.version
  const { code, err } = await at.stage.op([
    ...['catalogue', 'set', 'models.model-large.coefficient=0', 'packs.pack-35m.credits=many'],
    ...['--note', 'x', '--yes'],
  ])
  assert.equal(code, 2)
  assert.match(err, /^models\.model-large\.coefficient: expected a number .* above 0/m)
  assert.match(err, /^packs\.pack-35m\.credits: expected a whole number/m)
  assert.equal((await at.stage.op(['catalogue', 'set', 'packs.pack-35m.credits=9'])).code, 2, 'why')
  assert.equal((await at.stage.pricing.refresh())?.version, before)
})

test('what another person applied while a plan was read is not undone', async () => {
  const set = (change: string) => ['catalogue', 'set', change, '--note', 'x']
  const other = async () => {
    await at.stage.op([...set('packs.pack-35m.priceKopecks=131000'), '--yes'])
    return 'y'
  }
  const { code, err } = await at.stage.op(set('packs.pack-100m.priceKopecks=351000'), other)
  assert.equal(code, 1)
  assert.match(err, /another version was applied meanwhile/)
  const packs = (await at.stage.pricing.refresh())?.packs.map((one) => one.priceKopecks)
  assert.deepEqual(packs?.slice(0, 2), [131_000n, 350_000n])
})

test('of two changes at the same moment, both hold or one is refused', async () => {
  const set = (change: string) => at.stage.op(['catalogue', 'set', change, '--note', 'x', '--yes'])
  for (let round = 1n; round <= 10n; round += 1n) {
    const prices = [140_000n + round, 360_000n + round]
    const [small, large] = await Promise.all([
      set(`packs.pack-35m.priceKopecks=${prices[0]}`),
      set(`packs.pack-100m.priceKopecks=${prices[1]}`),
    ])
    const inForce = (await at.stage.pricing.refresh())?.packs.map((one) => one.priceKopecks) ?? []
    for (const [i, { code, err }] of [small, large].entries()) {
      if (code === 0) assert.equal(inForce[i], prices[i], 'a change that was reported as done')
      else assert.match(err, /another version was applied meanwhile/)
    }
    assert.ok(small.code === 0 || large.code === 0, 'one of them passes')
  }
})

test('sends a test e-mail and shows the dialogue', async () => {
  const { code, out, err } = await at.stage.op(['mail', 'test', 'me@example.org'], 'y')
  assert.deepEqual([code, out], [0, 'sent'])
  assert.match(err, /> RCPT TO:<me@example.org>\n(?:.*\n)*< 250/)
  at.stage.mailbox.faults({ to: '*', do: 'refuse', at: 'rcpt', code: 550, text: 'who is that' })
  const said = await at.stage.json<{ isSent: boolean; dialogue: string[] }>(
    ...['mail', 'test', 'me@example.org'],
  )
  assert.equal(said.isSent, false)
  assert.match(said.dialogue.at(-1) ?? '', /^not sent: 550 who is that/)
  at.stage.mailbox.faults()
})

test('the outbox shows what waits, since when, and why e-mails died', async () => {
  await at.stage.db.query('delete from letters')
  assert.equal(
    (await at.stage.op(['mail'])).out,
    '0 e-mails are waiting; 0 failed within the last day',
  )
  const post = (state: string, error: string | null) =>
    at.stage.db.query(
      `insert into letters (kind, recipient, subject, body_text, body_html, state, attempts,
         last_error, posted_at, ended_at)
       values ('payment-credited', 'anna@example.org', 's',
         case when $1 = 'queued' then 't' end, case when $1 = 'queued' then 'h' end,
         $1::letter_state, 3, $2, clock_timestamp() - interval '5 minutes',
         case when $1 = 'failed' then clock_timestamp() end)`,
      [state, error],
    )
  await post('queued', '451 later')
  await post('failed', '550 no such user')
  const { out } = await at.stage.op(['mail', 'outbox'])
  assert.match(out, /^1 e-mails are waiting, the oldest for 5 min; 1 failed within the last day\n/)
  assert.match(out, /waits +3 {2}payment-credited {2}anna@example\.org\n {4}451 later\n/)
  assert.match(out, /dead +3 {2}payment-credited {2}anna@example\.org\n {4}550 no such user$/)
  const { troubled } = await at.stage.json<{ troubled: { error: string }[] }>('mail')
  assert.deepEqual(troubled.map(({ error }) => error).toSorted(), ['451 later', '550 no such user'])
})
