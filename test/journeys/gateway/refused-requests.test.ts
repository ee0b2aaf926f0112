// Refused requests as the owner sees them: by reason, of the chosen days, of the own account only.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Refused } from '../../../src/cabinet/contract/usage.ts'
import { refusalAnswers } from '../../../src/gateway/answers.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../../stages/cabinet.ts'
import { startDataPlane } from '../../stages/data-plane.ts'
import { question } from './client.ts'

const at = {} as { stage: CabinetStage; own: Person; url: string; end(): Promise<void> }
before(async () => {
  at.stage = await createCabinetStage()
  Object.assign(at, await startDataPlane(at.stage))
  at.own = await at.stage.person('refused')
})
after(async () => {
  await at.end()
  await at.stage.end()
})

const refusedOf = async (who: Person, query = '') =>
  (await who.expectOk<Refused>(`GET /api/refused${query}`)).body
const shown = ({ lines }: Refused) => lines.map(({ reason, requests }) => `${reason} ${requests}`)

test('an owner sees how often and why requests were refused, without one in the log', async () => {
  const { keys, db, ledger } = at.stage
  const issued = await db.transaction((tx) => keys.issue(tx, at.own.book))
  await db.transaction((tx) => keys.confirm(tx, at.own.book, issued.keyId))
  const ask = (body: string) =>
    fetch(`${at.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': issued.plain, 'content-type': 'application/json' },
      body,
    })
  assert.deepEqual(shown(await refusedOf(at.own)), [])
  assert.equal((await ask('{}')).status, 400)
  assert.equal((await ask(question('x', { thread: { id: 'x' } }))).status, 400)
  for (let i = 0; i < 3; i++) assert.equal((await ask(question())).status, 402)
  await ledger.usage.refused.flush()
  const refused = await refusedOf(at.own)
  assert.deepEqual(shown(refused), ['credits 3', 'invalid 2'])
  assert.equal(refused.keptDays, 90)
  assert.ok(Math.abs(Date.now() - Date.parse(refused.lines[0]?.lastAt ?? '')) < 60_000)
  const { body: copy } = await at.own.expectOk<{
    ledger: { refusedRequests: { reason: string; requests: string }[] }
  }>('GET /api/export')
  const copied = copy.ledger.refusedRequests.map(({ reason, requests }) => `${reason} ${requests}`)
  assert.deepEqual(copied, ['credits_insufficient 3', 'thread_unsupported 1', 'field_invalid 1'])
  const { body: log } = await at.own.expectOk<{ lines: unknown[] }>('GET /api/log')
  assert.deepEqual(log.lines, [])
})

test('a period, another account and no session see none of them', async () => {
  const stranger = await at.stage.person('other')
  assert.deepEqual(shown(await refusedOf(stranger)), [])
  assert.deepEqual(shown(await refusedOf(at.own, '?from=2026-01-01&to=2026-01-31')), [])
  assert.equal(await at.stage.browser().refusal('GET /api/refused'), '401 session_missing')
  assert.equal(await at.own.refusal('GET /api/refused?from=2020-01-01'), '400 field_invalid')
})

/** Refused before an account is known. */
const WITHOUT_ACCOUNT = [
  ...['path_unknown', 'key_missing', 'key_malformed', 'key_unknown', 'key_attempts_exceeded'],
  'book_unknown', // a fault: every key has a book
]

test('every code that a request of an account can get has a reason', async () => {
  const { refused } = at.stage.ledger.usage
  const codes = Object.keys(refusalAnswers).filter((code) => !WITHOUT_ACCOUNT.includes(code))
  const who = await at.stage.person('every')
  for (const code of codes) refused.count(who.book, code)
  await refused.flush()
  const { lines } = await refusedOf(who)
  assert.ok(lines.length > 10)
  assert.equal(
    lines.some(({ reason }) => reason === 'other'),
    false,
  )
  refused.count(who.book, 'from_a_newer_version')
  await refused.flush()
  assert.equal((await refusedOf(who)).lines[0]?.reason, 'other')
})
