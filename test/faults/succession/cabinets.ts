// Two cabinets that are restarted one after the other, as behind a proxy, and owners who use them
// all the time: each request goes to a cabinet that is not being stopped.
import { Agent, fetch } from 'undici'
import { systemClock } from '../../../src/platform/clock.ts'
import { nextCode, totpCode } from '../../stages/accounts.ts'
import { type PaymentProcess, startPaymentProcess } from '../../stages/served/process.ts'
import { ensure, sleep } from '../../support/drill.ts'
import type { TestDatabase } from '../../support/harness.ts'

/** The default of brand.cabinetUrl, which the pages are at. */
const ORIGIN = 'http://127.0.0.1:8081'
const PASSWORD = 'a quiet evening in may'
/** Between two requests of an owner. */
const PAUSE_MS = 20
/** A request that was sent to the old cabinet has arrived there after this time. */
const SETTLE_MS = 300

type Env = Readonly<Record<string, string>>

export async function startCabinets(env: () => Env) {
  const start = () =>
    startPaymentProcess('cabinet', {
      ...{ CABINET_PORT: '0', METRICS_CABINET_PORT: '0' },
      ...{ ACCOUNTS_ADDRESS_PER_MINUTE: '100000', ACCOUNTS_ANSWER_MS: '1' },
      ...env(),
    })
  const members = (await Promise.all([start(), start()])).map((process) => ({ process }))
  const turn = { next: 0 }

  return {
    /** The address of a cabinet, of each in turn. */
    url(): string {
      turn.next += 1
      return `http://127.0.0.1:${members[turn.next % members.length]?.process.ready.port}`
    },
    /** Replaces one after the other; the new ones read the secrets of now. */
    async restart(count = members.length): Promise<void> {
      const replacements = members.slice(0, count).map(start)
      for (const [i, member] of members.slice(0, count).entries()) {
        const old = member.process
        member.process = (await replacements[i]) as PaymentProcess
        // For a moment, cabinets before and after the step answer the same browsers.
        await sleep(SETTLE_MS)
        await old.stop()
      }
    },
    async end(): Promise<void> {
      await Promise.all(members.map(({ process }) => process.kill()))
    },
  }
}

export type Cabinets = Awaited<ReturnType<typeof startCabinets>>
type Reply = { readonly status: number; readonly body: Record<string, unknown> }

/** Without keep-alive: a stopping cabinet waits for its idle connections. */
const agent = new Agent({ pipelining: 0 })

/** A browser that keeps its cookies. */
function createBrowser(cabinets: Cabinets) {
  const jar = new Map<string, string>()
  async function send(method: string, path: string, body?: object): Promise<Reply> {
    const response = await fetch(`${cabinets.url()}${path}`, {
      method,
      dispatcher: agent,
      headers: {
        ...{ origin: ORIGIN, 'content-type': 'application/json' },
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    return { status: response.status, body: (await response.json()) as Reply['body'] }
  }
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body: object) => send('POST', path, body),
  }
}

export type Owner = {
  readonly email: string
  readonly uri: string
  readonly recoveryCodes: string[]
  readonly browser: ReturnType<typeof createBrowser>
}

function expectOk(what: string, { status, body }: Reply): Reply['body'] {
  ensure(status === 200, `${what} succeeds (${status} ${JSON.stringify(body)})`)
  return body
}

/** An owner with a session and an authenticator app. */
export async function enrol(
  cabinets: Cabinets,
  { db }: TestDatabase,
  name: string,
): Promise<Owner> {
  const email = `${name}@example.org`
  const browser = createBrowser(cabinets)
  const registered = { email, password: PASSWORD, language: 'en', consents: [] }
  expectOk('the registration', await browser.post('/api/auth/register', registered))
  const { rows } = await db.query('select body_text as text from letters where recipient = $1', [
    email,
  ])
  const code = /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1]
  expectOk(
    'the confirmation',
    await browser.post('/api/auth/confirm', { code, password: PASSWORD }),
  )
  const enabled = await browser.post('/api/auth/two-factor/enable', { password: PASSWORD })
  const factor = expectOk('the enrolment', enabled) as { uri: string; recoveryCodes: string[] }
  const verified = { code: totpCode(factor.uri) }
  expectOk('the first code', await browser.post('/api/auth/two-factor/verify-totp', verified))
  return { email, ...factor, browser }
}

/** A new browser signs in, with a code of the app or with a recovery code. */
export async function signIn(cabinets: Cabinets, owner: Owner, how: 'app' | 'recovery') {
  const browser = createBrowser(cabinets)
  const { email } = owner
  expectOk(
    'the password',
    await browser.post('/api/auth/sign-in/email', { email, password: PASSWORD }),
  )
  const answer =
    how === 'app'
      ? await browser.post('/api/auth/two-factor/verify-totp', { code: nextCode(owner.uri) })
      : await browser.post('/api/auth/two-factor/verify-backup-code', {
          code: owner.recoveryCodes.shift(),
        })
  expectOk(`the code (${how})`, answer)
  return { ...owner, browser }
}

/** Every owner asks for the home page again and again, until `stop`. */
export function startVisits(owners: Owner[]) {
  const state = { isEnding: false, visits: 0, lost: 0, failed: [] as string[] }
  const startedMs = systemClock.spanMs()
  async function visit(owner: Owner): Promise<void> {
    while (!state.isEnding) {
      const reply = await owner.browser.get('/api/home').catch((error: unknown) => ({
        status: 0,
        body: { error: String(error) },
      }))
      state.visits += 1
      if (reply.status === 401) state.lost += 1
      if (reply.status !== 200) state.failed.push(`${reply.status} ${JSON.stringify(reply.body)}`)
      await sleep(PAUSE_MS)
    }
  }
  const visiting = owners.map(visit)
  return {
    add: (owner: Owner) => void visiting.push(visit(owner)),
    async stop() {
      state.isEnding = true
      await Promise.all(visiting)
      const seconds = (systemClock.spanMs() - startedMs) / 1_000
      return { ...state, visitsPerSecond: Math.round(state.visits / seconds) }
    },
  }
}
