// Signing in by an identity provider, with a real one on the loopback: who gets a session, whether
// its second factor counts, and what is refused.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createOidcStage, type OidcStage } from '../../../test/stages/oidc.ts'
import {
  CONSOLE,
  createStaffStage,
  type StaffStage,
  type TestOperator,
} from '../../../test/stages/staff.ts'
import { isRefusal } from '../../platform/refusal.ts'
import type { Staff } from '../staff.ts'

const at = {
  stage: undefined as unknown as StaffStage,
  provider: undefined as unknown as OidcStage,
  staff: undefined as unknown as Staff,
  olga: undefined as unknown as TestOperator,
}

before(async () => {
  at.stage = await createStaffStage()
  at.provider = await createOidcStage(CONSOLE)
  at.staff = at.stage.withSettings(at.provider.settings)
  at.olga = await at.stage.operator('olga', 'support')
})
after(async () => {
  await at.provider.end()
  await at.stage.end()
})

type Recognised = Parameters<OidcStage['recognise']>[0]

/** What the browser has after the provider: its ticket, and the query of the provider's answer. */
async function answerFor(person: Recognised, staff = at.staff) {
  at.provider.recognise(person)
  const { ticket, url } = await staff.oidc.begin(at.stage.caller)
  return { ticket, query: await at.provider.follow(url) }
}

const finish = (given: { ticket: string | undefined; query: string }, staff = at.staff) =>
  staff.oidc.finish({ ...at.stage.caller, ...given })

const refused = (what?: string) => (error: unknown) =>
  isRefusal(error, 'oidc_sign_in_refused') && (what === undefined || error.detail.what === what)

test('the provider recognises an operator, who then proves our own factor', async () => {
  const { token, session } = await finish(await answerFor({ email: 'Olga@Gate.Example' }))
  assert.equal(session.operator.id, at.olga.id)
  assert.equal(session.operator.role, 'support')
  assert.equal(session.missing, 'factor')
  const proven = await at.staff.proveFactor(token, at.olga.code())
  assert.equal(proven.session.missing, null)
  assert.ok(proven.session.proofs.provider)
})

test('the provider’s second factor counts only if the settings say so', async () => {
  const staff = at.stage.withSettings({
    ...{ ...at.provider.settings, oidcSecondFactor: 'amr=mfa,acr=strong' },
  })
  const missing = async (changes: Recognised['changes'], own = staff) => {
    const given = await answerFor({ email: at.olga.email, changes: changes ?? {} }, own)
    return (await finish(given, own)).session.missing
  }
  assert.equal(await missing({ amr: ['pwd', 'mfa'] }), null)
  assert.equal(await missing({ acr: 'strong' }), null)
  assert.equal(await missing({ amr: ['pwd'] }), 'factor')
  assert.equal(await missing({ amr: 'mfa,acr' }), 'factor')
  assert.equal(await missing({}), 'factor')
  assert.equal(await missing({ amr: ['mfa'] }, at.staff), 'factor')
})

test('a session of the provider’s factor adds no factor of ours', async () => {
  const staff = at.stage.withSettings({
    ...{ ...at.provider.settings, oidcSecondFactor: 'amr=mfa' },
  })
  const changes = { amr: ['mfa'] }
  const { token } = await finish(await answerFor({ email: at.olga.email, changes }, staff), staff)
  await assert.rejects(staff.enrolTotp(token), (error) => isRefusal(error, 'second_factor_missing'))
})

test('an ID token with a wrong claim or signature is refused', async () => {
  const past = Math.floor(Date.now() / 1_000) - 3_600
  const wrong: Record<string, Partial<Recognised>> = {
    nonce: { changes: { nonce: 'another' } },
    'no nonce': { changes: { nonce: undefined } },
    issuer: { changes: { iss: 'https://evil.example' } },
    audience: { changes: { aud: 'another-client' } },
    expired: { changes: { iat: past, exp: past + 60 } },
    signature: { key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey },
    subject: { changes: { sub: 'another@gate.example' } },
  }
  for (const [name, person] of Object.entries(wrong)) {
    const given = await answerFor({ email: at.olga.email, ...person })
    await assert.rejects(finish(given), refused('answer'), name)
  }
})

test('an address that is unverified, unknown or not of an active operator is refused', async () => {
  const count = await at.staff.people.count()
  const unverified = await answerFor({ email: at.olga.email, isVerified: false })
  await assert.rejects(finish(unverified), refused('e-mail'))
  for (const email of ['nobody@gate.example', at.olga.id]) {
    const what = email.includes('@') ? 'operator' : 'e-mail'
    await assert.rejects(finish(await answerFor({ email })), refused(what), email)
  }
  await at.stage.invite('invited', 'admin')
  await assert.rejects(
    finish(await answerFor({ email: 'invited@gate.example' })),
    refused('operator'),
  )
  const nina = await at.stage.operator('nina', 'viewer')
  await at.stage.db.transaction((tx) => at.staff.people.disable(tx, nina.id))
  await assert.rejects(finish(await answerFor({ email: nina.email })), refused('operator'))
  assert.equal((await at.staff.people.count()).all, count.all + 2, 'nobody was made')
})

test('an address that becomes an operator’s only in small letters is refused', async () => {
  await at.stage.operator('nick', 'admin')
  const kelvin = 'nic\u212a@gate.example'
  assert.equal(kelvin.toLowerCase(), 'nick@gate.example')
  await assert.rejects(finish(await answerFor({ email: kelvin })), refused('operator'))
})

test('an answer works once, in the browser that asked, and with its state', async () => {
  const person = { email: at.olga.email }
  const given = await answerFor(person)
  await assert.rejects(finish({ ...given, ticket: undefined }), refused('ticket'))
  await finish(given)
  await assert.rejects(finish(given), refused('ticket'), 'the same answer again')

  const first = await answerFor(person)
  const second = await answerFor(person)
  await assert.rejects(finish({ ticket: second.ticket, query: first.query }), refused('answer'))
  await finish(first)
  // A code that was used, in an answer that is right otherwise.
  const third = await answerFor(person)
  const replayed = new URLSearchParams(third.query)
  replayed.set('code', new URLSearchParams(first.query).get('code') ?? '')
  await assert.rejects(
    finish({ ticket: third.ticket, query: replayed.toString() }),
    refused('answer'),
  )
  const { ticket, options } = await at.staff.beginPasskeySignIn(at.stage.caller)
  assert.ok(options.challenge)
  await assert.rejects(finish({ ticket, query: 'code=1&state=2' }), refused('ticket'))
})

test('a person whom the provider turned away is refused', async () => {
  at.provider.recognise({ email: at.olga.email })
  const { ticket, url } = await at.staff.oidc.begin(at.stage.caller)
  const state = new URL(url).searchParams.get('state')
  const iss = encodeURIComponent(at.provider.issuer)
  const query = `error=access_denied&state=${state}&iss=${iss}`
  await assert.rejects(finish({ ticket, query }), refused('answer'))
})

test('a claim that the settings ask for must be there', async () => {
  const staff = at.stage.withSettings({
    ...{ ...at.provider.settings, oidcAllowedClaim: 'groups=console' },
  })
  const sign = async (groups: unknown) =>
    finish(await answerFor({ email: at.olga.email, changes: { groups } }, staff), staff)
  await assert.rejects(sign(undefined), refused('claim'))
  await assert.rejects(sign(['consoles']), refused('claim'))
  assert.equal((await sign(['all', 'console'])).session.operator.id, at.olga.id)
})

test('without a provider, or while it is away, nobody begins', async () => {
  const away = (error: unknown) => isRefusal(error, 'oidc_unavailable')
  assert.equal(at.stage.staff.oidc.name, null)
  await assert.rejects(at.stage.staff.oidc.begin(at.stage.caller), away)
  const gone = at.stage.withSettings({ ...at.provider.settings, oidcIssuer: 'http://127.0.0.1:9' })
  await assert.rejects(gone.oidc.begin(at.stage.caller), away)
})
