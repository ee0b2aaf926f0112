// Nobody gets into an account by a recovery before its owner was warned in every known channel and
// the time has passed: not with the mailbox, the password or a stolen session, not with two of
// them, not an impatient operator, not one with a forged identity step, not with the program's
// clock moved. Stops and resets win against completions of the same moment. Real cabinet, real
// database.
import { type Db, openDatabase } from '../../src/platform/db/db.ts'
import { urlAs } from '../../tools/program-roles.ts'
import { PASSWORD, totpCode } from '../stages/accounts.ts'
import {
  type CabinetBrowser,
  type CabinetStage,
  createCabinetStage,
  type Person,
} from '../stages/cabinet.ts'
import { ageRecovery } from '../stages/recovery.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, random, sleep } from '../support/drill.ts'
import { settingsOf } from '../support/harness.ts'

const WAIT_HOURS = 72
const HOUR_MS = 3_600_000
/** Longer than a password check. */
const SPREAD_MS = 60
const NEW = 'a storm from the west'

export const drill: Drill = async ({ isFull, seed, say }) => {
  const stage = await createCabinetStage()
  const chance = random(seed)
  const rounds = isFull ? 40 : 2
  try {
    const alone = await attackers(stage, isFull ? 20 : 1)
    say(`attackers with one or two things: ${alone} attempts, none got in`)
    const impatient = await impatience(stage, rounds)
    say(`before the time: ${impatient} completions, none done, with the clock moved too`)
    const planted = await plantedSql(stage)
    say(`by SQL as the programs' roles: ${planted} statements refused by the database`)
    const operators = await impatientOperators(stage, rounds)
    say(`operators: ${operators} forged or early steps refused`)
    const doubles = await completionsAtOnce(stage, rounds)
    say(`two completions at once: ${doubles} rounds, one done in each`)
    const races = await raced(stage, rounds, chance)
    say(`stops and resets against completions: ${races.rounds} races, ${races.late} late, all won`)
    return { alone, impatient, planted, operators, doubles, ...races }
  } finally {
    await stage.end()
  }
}

type Owner = Person & { readonly uri: string }

async function careful(stage: CabinetStage, name: string): Promise<Owner> {
  const own = await stage.person(name)
  const { body } = await own.expectOk<{ uri: string }>('POST /api/auth/two-factor/enable', {
    password: PASSWORD,
  })
  await own.expectOk('POST /api/auth/two-factor/verify-totp', { code: totpCode(body.uri) })
  return Object.assign(own, { uri: body.uri })
}

/** A link from the mailbox, for who knows the password. */
async function linkFor(stage: CabinetStage, email: string, password = PASSWORD): Promise<string> {
  const browser = stage.browser()
  await browser.expectOk('POST /api/auth/sign-in/email', { email, password })
  await browser.expectOk('POST /api/auth/recovery/ask')
  return codeTo(stage, email, 'recovery-link')
}

async function open(stage: CabinetStage, email: string): Promise<void> {
  const code = await linkFor(stage, email)
  const body = { code, password: PASSWORD }
  await stage.browser().expectOk('POST /api/auth/recovery/open', body)
}

/** Who got in: a session, or a second factor that is gone. */
async function ensureNobodyIn(stage: CabinetStage, owner: Owner, thief: CabinetBrowser) {
  ensure(
    (await thief.refusal('GET /api/me')) === '401 session_missing',
    `a thief is in ${owner.email}`,
  )
  const account = await stage.accounts.find(owner.account)
  ensure(account?.hasSecondFactor === true, `${owner.email} lost its second factor`)
}

// ---- One or two things --------------------------------------------------------------------------

async function attackers(stage: CabinetStage, rounds: number): Promise<number> {
  let attempts = 0
  for (let round = 0; round < rounds; round += 1) {
    for (const attack of [mailboxOnly, passwordOnly, sessionOnly, mailboxAndSession]) {
      const owner = await careful(stage, `${attack.name.toLowerCase()}-${round}`)
      const thief = stage.browser()
      attempts += await attack(stage, owner, thief)
      await ensureNobodyIn(stage, owner, thief)
      const living = await stage.accounts.recovery.living(owner.account)
      ensure(living === undefined, `${attack.name} began a recovery`)
      await forgetAttempts(stage)
    }
  }
  return attempts
}

/** A reset through the mailbox gives a password, and no second identity step. */
async function mailboxOnly(stage: CabinetStage, owner: Owner, thief: CabinetBrowser) {
  await thief.expectOk('POST /api/auth/request-password-reset', { email: owner.email })
  const reset = await codeTo(stage, owner.email, 'reset-password')
  await thief.expectOk('POST /api/auth/reset-password', { code: reset, newPassword: NEW })
  const code = await linkFor(stage, owner.email, NEW)
  for (const route of ['open', 'complete']) {
    const body = { code, password: NEW }
    const answer = await thief.refusal(`POST /api/auth/recovery/${route}`, body)
    ensure(/recovery_password_new|code_wrong/.test(answer), `${route} answers ${answer}`)
  }
  return 2
}

async function passwordOnly(stage: CabinetStage, owner: Owner, thief: CabinetBrowser) {
  await thief.expectOk('POST /api/auth/sign-in/email', { email: owner.email, password: PASSWORD })
  const { body } = await thief.expectOk('POST /api/auth/recovery/ask')
  ensure(JSON.stringify(body).includes('code') === false, 'the answer has no code')
  for (let i = 0; i < 5; i += 1) {
    const guess = { code: `a-guess-of-a-thief-${i}`, password: PASSWORD }
    for (const route of ['open', 'complete']) {
      const answer = await thief.refusal(`POST /api/auth/recovery/${route}`, guess)
      ensure(answer === '400 code_wrong', `${route} answers ${answer}`)
    }
  }
  ensure((await stage.accounts.find(owner.account)) !== undefined, 'the account is there')
  return 10
}

async function sessionOnly(stage: CabinetStage, owner: Owner) {
  const thief = copyOf(stage, owner)
  const asked = await thief.refusal('POST /api/auth/recovery/ask')
  ensure(asked === '401 sign_in_expired', `a session asks: ${asked}`)
  return 1
}

/** The mailbox and a session, which cannot set a password: the reset ends it. */
async function mailboxAndSession(stage: CabinetStage, owner: Owner, thief: CabinetBrowser) {
  const session = copyOf(stage, owner)
  ensure((await session.refusal('POST /api/auth/recovery/ask')) === '401 sign_in_expired', 'asks')
  return 1 + (await mailboxOnly(stage, owner, thief))
}

// ---- Before the time ----------------------------------------------------------------------------

/** Password and mailbox together: only the time and the warnings are between thief and account. */
async function impatience(stage: CabinetStage, rounds: number): Promise<number> {
  let tried = 0
  for (let round = 0; round < rounds; round += 1) {
    const owner = await careful(stage, `impatient-${round}`)
    await open(stage, owner.email)
    await ensureWarned(stage, owner)
    const thief = stage.browser()
    for (const hours of [0, 1_000, -1_000]) {
      stage.clockShift.ms = hours * HOUR_MS
      const code = await linkFor(stage, owner.email)
      tried += await completeEarly(thief, code)
    }
    stage.clockShift.ms = 0
    // The time alone is not enough: the warning is still in the outbox.
    await ageRecovery(stage.db, owner.email, WAIT_HOURS, { areWarningsSent: false })
    tried += await completeEarly(thief, await linkFor(stage, owner.email))
    await ensureNobodyIn(stage, owner, thief)
    // As a control: with the warning and the time it is done, and the test could have seen it.
    await ageRecovery(stage.db, owner.email, 24)
    const code = await linkFor(stage, owner.email)
    await thief.expectOk('POST /api/auth/recovery/complete', { code, password: PASSWORD })
    const account = await stage.accounts.find(owner.account)
    ensure(account?.hasSecondFactor === false, 'after warning and time it is done')
    await forgetAttempts(stage)
  }
  return tried
}

async function completeEarly(thief: CabinetBrowser, code: string): Promise<number> {
  const body = { code, password: PASSWORD }
  const answer = await thief.refusal('POST /api/auth/recovery/complete', body)
  ensure(answer === '409 recovery_unripe', `an early completion is answered ${answer}`)
  return 1
}

async function ensureWarned(stage: CabinetStage, owner: Owner): Promise<void> {
  await codeTo(stage, owner.email, 'recovery-opened')
  const { body } = await owner.expectOk<{ recovery: object | null }>('GET /api/me')
  ensure(body.recovery !== null, 'the signed-in browser is warned')
}

// ---- By SQL -------------------------------------------------------------------------------------

async function plantedSql(stage: CabinetStage): Promise<number> {
  const owner = await careful(stage, 'planted')
  await open(stage, owner.email)
  const statements = [
    `update account_recoveries set done_at = clock_timestamp() where account_id = $1`,
    `update account_recoveries set done_at = clock_timestamp(),
       ripe_at = clock_timestamp() - interval '1 hour' where account_id = $1`,
    `update account_recoveries set ripe_at = clock_timestamp() where account_id = $1`,
    `update account_recoveries set wait_hours = 25 where account_id = $1`,
    `update account_recoveries set opened_at = opened_at - interval '9 days' where account_id = $1`,
    `delete from account_recoveries where account_id = $1`,
  ]
  let refused = 0
  for (const role of ['tollgate_cabinet', 'tollgate_operator', 'tollgate_gateway']) {
    await asRole(stage, role, async (db) => {
      for (const text of statements) {
        const isRefused = await db.query(text, [owner.account]).then(
          () => false,
          () => true,
        )
        ensure(isRefused, `${role} may: ${text}`)
        refused += 1
      }
    })
  }
  await ensureNobodyIn(stage, owner, stage.browser())
  return refused
}

async function asRole(stage: CabinetStage, role: string, work: (db: Db) => Promise<void>) {
  const url = urlAs(stage.database.url, role)
  const db = openDatabase(settingsOf(url), 'test', () => undefined)
  try {
    await work(db)
  } finally {
    await db.end()
  }
}

// ---- Operators ----------------------------------------------------------------------------------

async function impatientOperators(stage: CabinetStage, rounds: number): Promise<number> {
  const { recovery } = stage.accounts
  let refused = 0
  for (let round = 0; round < rounds; round += 1) {
    const owner = await careful(stage, `operated-${round}`)
    const newEmail = `operated-${round}-thief@example.org`
    const { account } = owner
    const begin = () =>
      stage.ledger.db.transaction((tx) => recovery.begin(tx, { account, kind: 'both', newEmail }))
    const answers = (isMatched: boolean, step: 'payment' | 'card') =>
      stage.ledger.db.transaction((tx) =>
        recovery.recordIdentity(tx, account, [{ step, isMatched }]),
      )
    refused += await refusedCalls([begin])
    await answers(true, 'payment')
    await answers(false, 'card')
    refused += await refusedCalls([begin])
    // A row by hand needs the matches too.
    const forged = () =>
      stage.ledger.db.query(
        `insert into account_recoveries (id, account_id, kind, begun_by, steps, new_email,
           confirm_hash, wait_hours)
         values ($2, $1, 'both', 'operator', '{payment,card}', $3, $4, 24)`,
        [account, `rcv_${round}`, newEmail, Buffer.from(`forged ${round}`)],
      )
    refused += await refusedCalls([forged])
    await answers(true, 'card')
    await begin()
    const confirm = await codeTo(stage, newEmail, 'recovery-confirm')
    await stage.browser().expectOk('POST /api/auth/recovery/confirm', { code: confirm })
    await ensureWarned(stage, owner)
    await recovery.run()
    const { rows } = await stage.db.query(
      `select from letters where recipient = $1 and kind = 'recovery-ready'`,
      [newEmail],
    )
    ensure(rows.length === 0, 'the new mailbox gets no code before the time')
    const early = await stage.browser().refusal('POST /api/auth/recovery/finish', { code: confirm })
    ensure(early === '400 code_wrong', `the first code finishes: ${early}`)
    await ensureNobodyIn(stage, owner, stage.browser())
    refused += 2
  }
  return refused
}

async function refusedCalls(calls: readonly (() => Promise<unknown>)[]): Promise<number> {
  for (const call of calls) {
    const isRefused = await call().then(
      () => false,
      () => true,
    )
    ensure(isRefused, 'an operator without two matched steps is refused')
  }
  return calls.length
}

// ---- Races --------------------------------------------------------------------------------------

/** A recovery that can be completed now, and the code of its warning. */
async function ripe(stage: CabinetStage, name: string) {
  const owner = await careful(stage, name)
  await open(stage, owner.email)
  const stop = await codeTo(stage, owner.email, 'recovery-opened')
  await ageRecovery(stage.db, owner.email, WAIT_HOURS)
  return { owner, stop, code: await linkFor(stage, owner.email) }
}

async function completionsAtOnce(stage: CabinetStage, rounds: number): Promise<number> {
  for (let round = 0; round < rounds; round += 1) {
    const { owner, code } = await ripe(stage, `twice-${round}`)
    const other = await linkFor(stage, owner.email)
    const route = 'POST /api/auth/recovery/complete'
    const answers = await Promise.all(
      [code, other, code].map((one) =>
        stage.browser().send(route, { code: one, password: PASSWORD }),
      ),
    )
    const done = answers.filter(({ status }) => status === 200).length
    ensure(done === 1, `${done} of three completions were done`)
    await forgetAttempts(stage)
  }
  return rounds
}

async function raced(stage: CabinetStage, rounds: number, chance: () => number) {
  let late = 0
  for (let round = 0; round < rounds; round += 1) {
    const { owner, stop, code } = await ripe(stage, `stopped-${round}`)
    const complete = { code, password: PASSWORD }
    const thief = stage.browser()
    const [, answer] = await Promise.all([
      later(chance, () => thief.send('POST /api/auth/recovery/complete', complete)),
      later(chance, () =>
        stage
          .browser()
          .expectOk<{ status: string }>('POST /api/auth/recovery/stop', { code: stop }),
      ),
      later(chance, () =>
        thief.send('POST /api/auth/sign-in/email', { email: owner.email, password: PASSWORD }),
      ),
    ])
    if (answer.body.status === 'taken_back') late += 1
    await ensureNobodyIn(stage, owner, thief)
    await resetWins(stage, round, chance)
    await forgetAttempts(stage)
  }
  return { rounds: rounds * 2, late }
}

/** After a reset the old password completes nothing, and signs nobody in. */
async function resetWins(stage: CabinetStage, round: number, chance: () => number) {
  const { owner, code } = await ripe(stage, `reset-${round}`)
  await stage.browser().expectOk('POST /api/auth/request-password-reset', { email: owner.email })
  const reset = { code: await codeTo(stage, owner.email, 'reset-password'), newPassword: NEW }
  const thief = stage.browser()
  const credentials = { email: owner.email, password: PASSWORD }
  const [done] = await Promise.all([
    later(chance, () =>
      thief.send('POST /api/auth/recovery/complete', { code, password: PASSWORD }),
    ),
    later(chance, () => stage.browser().send('POST /api/auth/reset-password', reset)),
    later(chance, () => thief.send('POST /api/auth/sign-in/email', credentials)),
  ])
  // A completion that came first has ended the link of the reset: the owner asks again.
  if (done.status === 200) {
    await stage.browser().expectOk('POST /api/auth/request-password-reset', { email: owner.email })
    const again = await codeTo(stage, owner.email, 'reset-password')
    const body = { code: again, newPassword: NEW }
    await stage.browser().send('POST /api/auth/reset-password', body)
  }
  ensure((await thief.refusal('GET /api/me')) === '401 session_missing', 'a reset ends the thief')
  const old = await stage.browser().refusal('POST /api/auth/sign-in/email', credentials)
  ensure(old === '401 sign_in_wrong', `the old password is answered ${old}`)
  const late = { code, password: PASSWORD }
  const again = await thief.refusal('POST /api/auth/recovery/complete', late)
  ensure(again === '400 code_wrong', `after the reset a completion is answered ${again}`)
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

async function codeTo(stage: CabinetStage, recipient: string, kind: string): Promise<string> {
  const { rows } = await stage.db.query(
    `select body_text as text from letters where recipient = $1 and kind = $2
     order by posted_at desc limit 1`,
    [recipient, kind],
  )
  const code = /#code=([\w-]+)/.exec((rows[0] as { text: string } | undefined)?.text ?? '')?.[1]
  if (code === undefined) throw new Error(`no ${kind} for ${recipient}`)
  return code
}

/** The limits on attempts are not what this is about. */
async function forgetAttempts(stage: CabinetStage): Promise<void> {
  await stage.db.query('delete from account_throttles')
}
