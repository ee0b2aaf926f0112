// A thief gains nothing: with a stolen cookie whose proofs are old, with the password but without
// the second factor, with a passkey planted before the owner's reset, with a changed address that
// the owner undoes, and in races between proofs, resets, undos and revocations. Real cabinet, real
// database; thief and owner send their requests at the same moment, many times.
import { ageProofs, PASSWORD, totpCode } from '../stages/accounts.ts'
import {
  type CabinetBrowser,
  type CabinetStage,
  createCabinetStage,
  type Person,
} from '../stages/cabinet.ts'
import { addPasskey, issueKey, type Passkey } from '../stages/cabinet-owner.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, random, sleep } from '../support/drill.ts'

/** As accounts.wrongPerAccount of the stage. */
const GUESSES_ALLOWED = 10
/** Two thousand connections at once would time out on a busy machine. */
const GUESSES_AT_ONCE = 100
/** Races are spread over this time, which is longer than a password check. */
const SPREAD_MS = 60

export const drill: Drill = async ({ isFull, seed, say }) => {
  const stage = await createCabinetStage()
  const chance = random(seed)
  const rounds = isFull ? 60 : 3
  try {
    const cookie = await stolenCookie(stage, isFull ? 2_000 : 60, chance)
    say(`stolen cookie: ${cookie.refused} actions refused, ${cookie.checked} guesses checked`)
    const planted = await plantedPasskeys(stage, rounds, chance)
    say(`planted passkeys: ${planted} resets, none signed in`)
    const undone = await undoneAddresses(stage, rounds, chance)
    say(`changed addresses: ${undone} undone, nothing left to the thief`)
    const revoked = await revokedSessions(stage, rounds * 4, chance)
    say(`revoked sessions: ${revoked} races, none came back`)
    return { ...cookie, planted, undone, revoked }
  } finally {
    await stage.end()
  }
}

// ---- A stolen cookie ----------------------------------------------------------------------------

async function stolenCookie(stage: CabinetStage, guesses: number, chance: () => number) {
  const owner = await stage.person('robbed')
  const order = await stage.buyPack(owner)
  await issueKey(owner)
  const { body } = await owner.expectOk<{ uri: string }>('POST /api/auth/two-factor/enable', {
    password: PASSWORD,
  })
  await owner.expectOk('POST /api/auth/two-factor/verify-totp', { code: totpCode(body.uri) })
  await ageProofs(stage.db, '1 day', owner.email)
  const before = await belongings(stage, owner)
  const thief = copyOf(stage, owner)
  const actions = actionsOn(order.id)
  const withCookie = await refusedActions(thief, actions)
  await thief.expectOk('POST /api/auth/step-up', { password: PASSWORD })
  const withPassword = await refusedActions(thief, actions)
  const elsewhere = stage.browser()
  const half = await elsewhere.expectOk('POST /api/auth/sign-in/email', {
    email: owner.email,
    password: PASSWORD,
  })
  ensure(half.body.status === 'second_factor', 'the password alone signs nobody in')

  const right = totpCode(body.uri)
  const codes = Array.from({ length: guesses }, () => wrongCode(right, chance))
  const answers: string[] = []
  for (let i = 0; i < guesses; i += GUESSES_AT_ONCE) {
    const wave = codes.slice(i, i + GUESSES_AT_ONCE)
    const refusals = wave.map((code) => thief.refusal('POST /api/auth/step-up', { code }))
    answers.push(...(await Promise.all(refusals)))
  }
  const checked = answers.filter((answer) => !answer.startsWith('429')).length
  ensure(checked <= GUESSES_ALLOWED, `${checked} of ${guesses} concurrent guesses were checked`)
  ensure((await belongings(stage, owner)) === before, 'the stolen cookie has changed nothing')
  return { refused: withCookie + withPassword, guesses, checked }
}

type Actions = Readonly<Record<string, object>>

/** Every action that needs more than the password, with a body that the owner could send. */
function actionsOn(order: string): Actions {
  const newEmail = 'thief@example.org'
  return {
    'POST /api/key': {},
    'POST /api/key/key_unknown/confirm': {},
    [`POST /api/orders/${order}/refund`]: { attempt: 'thief' },
    'POST /api/closing': { unspent: 'forfeit' },
    'POST /api/top-up': {},
    'POST /api/reset-review': { passkeys: [], keys: [] },
    'POST /api/auth/email/change': { newEmail },
    'POST /api/auth/change-password': { currentPassword: PASSWORD, newPassword: 'a thief has it' },
    'POST /api/auth/two-factor/disable': { password: PASSWORD },
    'POST /api/auth/two-factor/generate-backup-codes': { password: PASSWORD },
    'GET /api/auth/passkey/generate-register-options': {},
    'POST /api/auth/passkey/verify-registration': { response: {}, name: 'Mine' },
    'POST /api/auth/passkey/delete-passkey': { id: 'pk_unknown' },
  }
}

async function refusedActions(thief: CabinetBrowser, actions: Actions): Promise<number> {
  for (const [route, body] of Object.entries(actions)) {
    const answer = await thief.refusal(route, body)
    ensure(answer === '403 step_up_needed', `${route} answers the thief ${answer}`)
  }
  return Object.keys(actions).length
}

/** What a thief would like to change, as text. */
async function belongings(stage: CabinetStage, { account, book }: Person): Promise<string> {
  const { rows } = await stage.db.query(
    `select a.email, a.second_factor_on, c.password_hash, f.recovery_codes,
       (select json_agg(id) from passkeys where account_id = a.id) as passkeys,
       (select json_agg(json_build_array(id, state) order by id) from keys where book_id = $2),
       (select json_agg(state) from orders where book_id = $2) as orders
     from accounts a join credentials c on c.account_id = a.id
     left join second_factors f on f.account_id = a.id where a.id = $1`,
    [account, book],
  )
  return JSON.stringify(rows)
}

// ---- A passkey that was planted before a reset --------------------------------------------------

async function plantedPasskeys(
  stage: CabinetStage,
  rounds: number,
  chance: () => number,
): Promise<number> {
  const owner = await stage.person('planted')
  const passwords = [PASSWORD]
  const { passkey: planted } = await addPasskey(owner, 'Planted')
  for (let round = 0; round < rounds; round += 1) {
    const newPassword = `a new password ${round}`
    const thieves = [stage.browser(), stage.browser(), stage.browser()]
    const old = passwords.at(-1) ?? ''
    const [byPasskey, byPassword, byCookie] = thieves as [Thief, Thief, Thief]
    const credentials = { email: owner.email, password: old }
    await byCookie.send('POST /api/auth/sign-in/email', credentials)
    const change = { currentPassword: old, newPassword: `the thief chose ${round}` }
    const code = await emailedReset(stage, owner.email)
    await Promise.all([
      later(chance, () =>
        stage.browser().send('POST /api/auth/reset-password', { code, newPassword }),
      ),
      later(chance, () => signInByPasskey(byPasskey, planted)),
      later(chance, () => byPassword.send('POST /api/auth/sign-in/email', credentials)),
      later(chance, () => byCookie.send('POST /api/auth/change-password', change)),
    ])
    const isChanged = await canSignIn(stage, owner.email, change.newPassword)
    // The thief's change came first, and the link of the reset ended with it: the owner asks again.
    if (isChanged) await resetTo(stage, owner.email, newPassword)
    for (const thief of thieves) await ensureSignedOut(thief, `a thief in round ${round}`)
    for (const password of [old, change.newPassword]) {
      ensure(!(await canSignIn(stage, owner.email, password)), 'an old password signs in')
    }
    const late = await signInByPasskey(stage.browser(), planted)
    ensure(late === 'passkey_suspended', `the planted passkey is answered ${late}`)
    passwords.push(newPassword)
    await forgetAttempts(stage)
  }
  await owner.expectOk('POST /api/auth/sign-in/email', {
    email: owner.email,
    password: passwords.at(-1),
  })
  const { body } = await owner.expectOk<{ passkeys: { id: string }[] }>('GET /api/reset-review')
  const ids = body.passkeys.map(({ id }) => id)
  await owner.expectOk('POST /api/reset-review', { passkeys: ids, keys: [] })
  const gone = await signInByPasskey(stage.browser(), planted)
  ensure(gone === 'passkey_unknown', 'a passkey that the owner has dropped is gone')
  return rounds
}

type Thief = CabinetBrowser

// ---- A changed address that the owner undoes ----------------------------------------------------

async function undoneAddresses(
  stage: CabinetStage,
  rounds: number,
  chance: () => number,
): Promise<number> {
  for (let round = 0; round < rounds; round += 1) {
    const thief = await stage.person(`moved-${round}`)
    const newEmail = `taken-${round}@example.org`
    await thief.expectOk('POST /api/auth/email/change', { newEmail })
    const code = await emailedCode(stage, newEmail)
    await thief.expectOk('POST /api/auth/email/confirm', { code })
    const undo = await emailedCode(stage, thief.email)
    const second = await thief.refusal('POST /api/auth/email/change', { newEmail: 'x@example.org' })
    ensure(second === '409 email_change_recent', 'a second change is refused')
    const closing = await thief.refusal('POST /api/closing', { unspent: 'forfeit' })
    ensure(closing === '409 email_change_recent', 'closing is refused')
    const reset = await emailedReset(stage, newEmail)
    const newPassword = `the thief chose ${round}`
    const [elsewhere, byReset] = [stage.browser(), stage.browser()]
    await Promise.all([
      later(chance, () => stage.browser().expectOk('POST /api/auth/email/undo', { code: undo })),
      later(chance, () =>
        elsewhere.send('POST /api/auth/sign-in/email', { email: newEmail, password: PASSWORD }),
      ),
      later(chance, () =>
        byReset.send('POST /api/auth/reset-password', { code: reset, newPassword }),
      ),
      later(chance, () =>
        thief.send('POST /api/auth/change-password', { currentPassword: PASSWORD, newPassword }),
      ),
    ])
    for (const one of [thief, elsewhere, byReset]) await ensureSignedOut(one, `round ${round}`)
    for (const email of [thief.email, newEmail]) {
      for (const password of [PASSWORD, newPassword]) {
        ensure(!(await canSignIn(stage, email, password)), `the thief signs in as ${email}`)
      }
    }
    await resetTo(stage, thief.email, 'the owner is back')
    ensure(await canSignIn(stage, thief.email, 'the owner is back'), 'the owner is back')
    await forgetAttempts(stage)
  }
  return rounds
}

// ---- A session that is revoked while it proves something ----------------------------------------

async function revokedSessions(
  stage: CabinetStage,
  rounds: number,
  chance: () => number,
): Promise<number> {
  const owner = await stage.person('revoking')
  for (let round = 0; round < rounds; round += 1) {
    const thief = stage.browser()
    const credentials = { email: owner.email, password: PASSWORD }
    await thief.expectOk('POST /api/auth/sign-in/email', credentials)
    await Promise.all([
      later(chance, () => owner.expectOk('POST /api/sessions/revoke-others')),
      later(chance, () => thief.send('POST /api/auth/step-up', { password: PASSWORD })),
    ])
    await ensureSignedOut(thief, `the revoked session of round ${round}`)
    const answer = await thief.refusal('GET /api/export')
    ensure(answer === '401 session_missing', `a revoked session exports: ${answer}`)
    await forgetAttempts(stage)
  }
  return rounds
}

// ---- Steps --------------------------------------------------------------------------------------

async function later<T>(chance: () => number, work: () => Promise<T>): Promise<T> {
  await sleep(chance() * SPREAD_MS)
  return work()
}

function copyOf(stage: CabinetStage, owner: Person): CabinetBrowser {
  const thief = stage.browser()
  for (const [name, value] of owner.jar) thief.jar.set(name, value)
  return thief
}

async function ensureSignedOut(own: CabinetBrowser, what: string): Promise<void> {
  const answer = await own.refusal('GET /api/me')
  ensure(answer === '401 session_missing', `${what} is still signed in`)
}

async function canSignIn(stage: CabinetStage, email: string, password: string): Promise<boolean> {
  const { status } = await stage.browser().send('POST /api/auth/sign-in/email', { email, password })
  return status === 200
}

/** The code of the refusal; undefined when the passkey has signed in. */
async function signInByPasskey(own: CabinetBrowser, passkey: Passkey): Promise<string | undefined> {
  const options = await own.expectOk('GET /api/auth/passkey/generate-authenticate-options')
  const response = passkey.authenticate(options.body as Parameters<Passkey['authenticate']>[0])
  const path = 'POST /api/auth/passkey/verify-authentication'
  const { body } = await own.send<{ error?: { code: string } }>(path, { response })
  return body.error?.code
}

async function emailedCode(stage: CabinetStage, recipient: string): Promise<string> {
  const { rows } = await stage.db.query(
    `select body_text as text from letters where recipient = $1 order by posted_at desc limit 1`,
    [recipient],
  )
  const code = /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1]
  if (code === undefined) throw new Error(`no code for ${recipient}`)
  return code
}

async function emailedReset(stage: CabinetStage, email: string): Promise<string> {
  await stage.browser().expectOk('POST /api/auth/request-password-reset', { email })
  return emailedCode(stage, email)
}

async function resetTo(stage: CabinetStage, email: string, newPassword: string): Promise<void> {
  const code = await emailedReset(stage, email)
  await stage.browser().expectOk('POST /api/auth/reset-password', { code, newPassword })
}

/** The limits on attempts are not what these races are about. */
async function forgetAttempts(stage: CabinetStage): Promise<void> {
  await stage.db.query('delete from account_throttles')
}

function wrongCode(right: string, chance: () => number): string {
  const code = String(Math.floor(chance() * 1_000_000)).padStart(6, '0')
  return Math.abs(Number(code) - Number(right)) < 1 ? '000000' : code
}
