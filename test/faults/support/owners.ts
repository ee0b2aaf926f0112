// Owners who use the cabinet all the time, each in a browser of their own: a session that is lost
// and a page that fails are counted.
import { Agent, fetch } from 'undici'
import { systemClock } from '../../../src/platform/clock.ts'
import { nextCode, totpCode } from '../../stages/accounts.ts'
import { ensure, sleep } from '../../support/drill.ts'
import type { TestDatabase } from '../../support/harness.ts'

/** The default of brand.cabinetUrl, which the pages are at. */
const ORIGIN = 'http://127.0.0.1:8081'
const PASSWORD = 'a quiet evening in may'
/** Between two requests of a browser, so that dozens of them leave cores to the gateway. */
const PAUSE_MS = 200
/** All owners come from one address, and need not wait as long as a guesser. */
export const CABINET_SETTINGS = { ACCOUNTS_ADDRESS_PER_MINUTE: '100000', ACCOUNTS_ANSWER_MS: '1' }

type CabinetAddress = {
  /** Where the next request goes. */
  url(): string
  /** By default each request has a connection of its own. */
  readonly dispatcher?: Agent
}
type Reply = { readonly status: number; readonly body: Record<string, unknown> }

/** Without keep-alive: a stopping cabinet waits for its idle connections. */
const withoutKeeping = new Agent({ pipelining: 0 })

/** A browser that keeps its cookies. */
function createBrowser(cabinet: CabinetAddress) {
  const jar = new Map<string, string>()
  async function send(method: string, path: string, body?: object): Promise<Reply> {
    const response = await fetch(`${cabinet.url()}${path}`, {
      method,
      dispatcher: cabinet.dispatcher ?? withoutKeeping,
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
  cabinet: CabinetAddress,
  { db }: TestDatabase,
  name: string,
): Promise<Owner> {
  const email = `${name}@example.org`
  const browser = createBrowser(cabinet)
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
export async function signIn(cabinet: CabinetAddress, owner: Owner, how: 'app' | 'recovery') {
  const browser = createBrowser(cabinet)
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
    /** Ensures that no session was lost and that no page failed. */
    async stop() {
      state.isEnding = true
      await Promise.all(visiting)
      const seconds = (systemClock.spanMs() - startedMs) / 1_000
      const { visits, lost, failed } = state
      ensure(lost === 0, `no session is lost (${lost})`)
      ensure(failed.length === 0, `no page fails (${failed.length}, the first: ${failed[0]})`)
      return { visits, visitsPerSecond: Math.round(visits / seconds), lost }
    },
  }
}
