// The accounts secret gets a successor: sessions go on, authenticator apps and recovery codes work,
// attempts are counted once, and a job encrypts with the new secret what the former one encrypted.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createBrowser,
  createStage,
  enableSecondFactor,
  errorOf,
  expect,
  nextCode,
  type Stage,
} from '../../../test/stages/accounts.ts'
import { passkeySteps } from '../../../test/stages/passkeys.ts'
import { Masked } from '../../platform/masked.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const [FIRST, SECOND] = [
  'accounts secret of the tests: 32 bytes or more',
  'the second accounts secret, in its place',
]
/** What the setting says while both are accepted, while the second makes, and at the end. */
const [ACCEPT, MAKE, END] = [
  `1:${FIRST},2:${SECOND}`,
  `2:${SECOND},1:${FIRST}`,
  `2:${SECOND},`,
] as const

const startProcess = (text: string) =>
  stage.createAccountsWith({ settings: { secret: new Masked(text) } })
type Browser = ReturnType<Stage['browser']>

/** The same browser at another process: it keeps its cookies. */
function moved(browser: Browser, accounts: ReturnType<typeof startProcess>): Browser {
  const other = createBrowser(accounts)
  for (const [name, value] of browser.jar) other.jar.set(name, value)
  return other
}

async function secretIds(): Promise<string[]> {
  const { rows } = await stage.db.query(
    `select distinct unnest(array[split_part(secret, '$', 3), split_part(recovery_codes, '$', 3)])
       as id from second_factors order by id`,
  )
  return (rows as { id: string }[]).map(({ id }) => id)
}

test('a session goes on when the secret gets a successor, also one step back', async () => {
  const owner = await stage.person('stays')
  for (const text of [ACCEPT, MAKE]) {
    assert.equal((await moved(owner, startProcess(text)).session())?.email, owner.email)
  }
  assert.equal(await moved(owner, startProcess(END)).session(), undefined)
  const later = createBrowser(startProcess(MAKE))
  expect(await later.signIn(owner.email), 200)
  for (const text of [ACCEPT, MAKE, END]) {
    assert.equal((await moved(later, startProcess(text)).session())?.email, owner.email)
  }
})

test('a forged signature is no session under either secret', async () => {
  const owner = await stage.person('forged')
  const browser = moved(owner, startProcess(MAKE))
  const name = [...browser.jar.keys()].find((one) => one.endsWith('session_token')) ?? ''
  const [value = ''] = (browser.jar.get(name) ?? '').split('.')
  browser.jar.set(name, `${value}.${encodeURIComponent(`${'A'.repeat(43)}=`)}`)
  assert.equal(await browser.session(), undefined)
})

test('a sign-in may begin under one secret and end under the other', async () => {
  const owner = await stage.person('halfway')
  const { uri, recoveryCodes } = await enableSecondFactor(owner)
  const half = createBrowser(startProcess(ACCEPT))
  expect(await half.signIn(owner.email), 200)
  const whole = moved(half, startProcess(MAKE))
  expect(await whole.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
  assert.equal((await whole.session())?.email, owner.email)

  const other = createBrowser(startProcess(MAKE))
  expect(await other.signIn(owner.email), 200)
  const back = moved(other, startProcess(ACCEPT))
  const [code] = recoveryCodes
  expect(await back.post('/two-factor/verify-backup-code', { code }), 200)
})

test('a passkey’s challenge of one secret may be answered under the other', async () => {
  const owner = await stage.person('key-in-two-halves')
  const { passkey } = await passkeySteps.addPasskey(owner)
  const browser = createBrowser(startProcess(ACCEPT))
  const options = await browser.get('/passkey/generate-authenticate-options')
  const response = passkey.authenticate(expect(options, 200).body as never)
  const other = moved(browser, startProcess(MAKE))
  expect(await other.post('/passkey/verify-authentication', { response }), 200)
})

test('a code of the app works once, also when the processes are at different steps', async () => {
  const owner = await stage.person('once')
  const { uri } = await enableSecondFactor(owner)
  const code = nextCode(uri)
  const browsers = [FIRST, ACCEPT].map((text) => createBrowser(startProcess(text)))
  for (const browser of browsers) expect(await browser.signIn(owner.email), 200)
  const answers = []
  for (const browser of browsers) {
    answers.push(await browser.post('/two-factor/verify-totp', { code }))
  }
  assert.deepEqual(answers.map(errorOf), [undefined, 'second_factor_wrong'])
})

test('wrong passwords are counted together by processes of neighbouring steps', async () => {
  const owner = await stage.person('guessed')
  const processes = [ACCEPT, MAKE, END].map(startProcess)
  for (const accounts of [processes[0], processes[1]]) {
    for (let i = 0; i < 5; i++) {
      const browser = createBrowser(accounts as (typeof processes)[number])
      assert.equal(errorOf(await browser.signIn(owner.email, 'wrong')), 'sign_in_wrong')
    }
  }
  for (const accounts of processes) {
    const refused = await createBrowser(accounts).signIn(owner.email)
    assert.equal(errorOf(refused), 'attempts_exceeded')
  }
})

test('the job encrypts with the new secret, once, and the former can be withdrawn', async () => {
  await stage.db.query('delete from second_factors')
  const people = []
  for (let i = 0; i < 5; i++) {
    const owner = await stage.person(`sealed-${i}`)
    people.push({ owner, ...(await enableSecondFactor(owner)) })
  }
  assert.deepEqual(await secretIds(), ['1'])
  assert.deepEqual(await startProcess(ACCEPT).reencrypt(), { done: 0, left: 0, unreadable: 0 })
  const later = startProcess(MAKE)
  assert.deepEqual(await later.reencrypt({ batch: 2, batchesMax: 2 }), {
    ...{ done: 4, left: 1, unreadable: 0 },
  })
  assert.deepEqual(await secretIds(), ['1', '2'])
  assert.deepEqual(await later.reencrypt(), { done: 1, left: 0, unreadable: 0 })
  assert.deepEqual(await later.reencrypt(), { done: 0, left: 0, unreadable: 0 })
  assert.deepEqual(await secretIds(), ['2'])
  const end = startProcess(END)
  for (const { owner, uri, recoveryCodes } of people) {
    const browser = createBrowser(end)
    expect(await browser.signIn(owner.email), 200)
    expect(await browser.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
    const other = createBrowser(end)
    expect(await other.signIn(owner.email), 200)
    const [code] = recoveryCodes
    expect(await other.post('/two-factor/verify-backup-code', { code }), 200)
  }
})

test('what no given secret can decrypt is counted and left as it is', async () => {
  await stage.db.query('delete from second_factors')
  await enableSecondFactor(await stage.person('unreadable'))
  assert.deepEqual(await startProcess(END).reencrypt(), { done: 0, left: 1, unreadable: 1 })
  assert.deepEqual(await secretIds(), ['1'])
})

test('a session’s row says which secret signed its cookie last', async () => {
  const owner = await stage.person('counted')
  const idOf = async () => {
    const { rows } = await stage.db.query(
      `select secret_id as "secretId" from sessions
       where account_id = (select id from accounts where email = $1)`,
      [owner.email],
    )
    return (rows as { secretId: number }[]).map(({ secretId }) => secretId)
  }
  assert.deepEqual(await idOf(), [1])
  const later = moved(owner, startProcess(MAKE))
  await later.session()
  assert.deepEqual(await idOf(), [1], 'the browser keeps its cookie until it is extended')
  // better-auth extends a session, and sets its cookie anew, once a day.
  await stage.db.query(`update sessions set expires_at = expires_at - interval '25 hours'`)
  const session = await later.session()
  assert.equal(session?.cookies.length, 1)
  assert.deepEqual(await idOf(), [2])
})
