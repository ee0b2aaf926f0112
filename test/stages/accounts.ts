// A stage for accounts: the real module on a real database, with the real outbox, and browsers that
// keep cookies. Tests read e-mails from the outbox; there is no mail server.
import { createHmac } from 'node:crypto'
import {
  type Accounts,
  type AccountsOptions,
  type ClosingHooks,
  createAccounts,
} from '../../src/accounts/accounts.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type Executor, openDatabase } from '../../src/platform/db/db.ts'
import type { BookId } from '../../src/platform/ids.ts'
import { createMail } from '../../src/platform/mail/mail.ts'
import { Masked } from '../../src/platform/masked.ts'
import { createTestDatabase, quiet, settingsOf } from '../support/harness.ts'

export const CABINET = 'https://cabinet.example.org'
export const PASSWORD = 'a quiet evening in may'
export const AGENT = 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0'

/** As in production, without the limits that would slow tests down or make them collide. */
export const accountSettings = {
  secret: new Masked('accounts secret of the tests: 32 bytes or more'),
  sessionDays: 30,
  freshMinutes: 10,
  answerMs: 1,
  passwordQueue: 64,
  addressPerMinute: 10_000,
  wrongPerAccount: 10,
  wrongMinutes: 15,
  lettersPerHour: 100,
  eraseAfterDays: 1_095,
  recoveryHours: 72,
}

export const documents = [
  { document: 'offer', version: '2026-11-01', isRequired: true },
  { document: 'personal-data', version: '3', isRequired: true },
  { document: 'news', version: '1', isRequired: false },
]
export const requiredConsents = documents.filter((one) => one.isRequired)

export type StoredEmail = {
  kind: string
  recipient: string
  subject: string
  text: string
  html: string
}
export type AuthResponse = { status: number; body: Record<string, unknown>; headers: Headers }
export type Stage = Awaited<ReturnType<typeof createStage>>
export type Browser = ReturnType<Stage['browser']>

/** Nothing runs, nothing can be refunded: closing waits for nobody. */
export const emptyBooks: ClosingHooks = {
  isStopped: async () => false,
  onBegin: async () => {},
  onStop: async () => {},
  isDrained: async () => true,
  requestRefunds: async () => {},
  isRefunded: async () => true,
  onClose: async () => true,
  needs: async () => [],
  beforeErase: async () => {},
  onErase: async () => {},
  exports: {},
}

export async function createStage() {
  const database = await createTestDatabase()
  const { db } = database
  // The modules connect as the programs do; tests prepare and look as the owner.
  const own = openDatabase(settingsOf(database.stageUrl), 'test', () => undefined)
  // Nothing listens on that port: what works here works without a mail server.
  const smtpUrl = new Masked('smtp://127.0.0.1:1?starttls=never')
  const from = 'letters@example.org'
  const brand = { name: 'Gate', supportEmail: 'help@example.org', cabinetUrl: CABINET }
  const mail = createMail({ db: own, smtpUrl, from, brand, log: quiet, clock: systemClock })

  type AccountsChanges = Partial<Omit<AccountsOptions, 'settings'>> & {
    settings?: Partial<AccountsOptions['settings']>
  }
  function createAccountsWith({ settings, ...changes }: AccountsChanges = {}): Accounts {
    return createAccounts({
      db: own,
      mail,
      clock: systemClock,
      log: quiet,
      brand,
      settings: { ...accountSettings, ...settings },
      async openBook(tx) {
        const { rows } = await tx.query('select ledger_open() as id')
        return (rows[0] as { id: BookId }).id
      },
      documents: () => documents,
      closingHooks: emptyBooks,
      ...changes,
    })
  }

  const accounts = createAccountsWith()
  /** The newest e-mail to the recipient, which must be of this kind. */
  async function lastEmail(recipient: string, kind: string): Promise<StoredEmail> {
    const found = (await emailsTo(recipient)).at(-1)
    if (found?.kind !== kind) throw new Error(`${recipient} has ${found?.kind}, not ${kind}`)
    return found
  }
  async function emailsTo(recipient: string): Promise<StoredEmail[]> {
    const { rows } = await db.query(
      `select kind, recipient, subject, body_text as text, body_html as html
       from letters where recipient = $1 order by posted_at`,
      [recipient],
    )
    return rows as StoredEmail[]
  }
  const emailedCode = async (recipient: string, kind: string) =>
    codeIn(await lastEmail(recipient, kind))
  const browser = (options: BrowserOptions = {}) => createBrowser(accounts, options)

  /** The signed-in browser of an owner with a confirmed account. */
  async function person(name: string, options: BrowserOptions = {}) {
    const email = `${name}@example.org`
    const own = createBrowser(options.accounts ?? accounts, options)
    const body = { email, password: PASSWORD, language: 'en', consents: requiredConsents }
    expect(await own.post('/register', body), 200)
    const confirmation = { code: await emailedCode(email, 'confirm-email'), password: PASSWORD }
    expect(await own.post('/confirm', confirmation), 200)
    return Object.assign(own, { email })
  }

  return {
    ...{ db, database, mail, accounts, createAccountsWith },
    ...{ lastEmail, emailsTo, emailedCode, browser, person },
    async end() {
      mail.close()
      await own.end()
      await database.drop()
    },
  }
}

/** Makes every proof of the sessions older, of one owner or of all. */
export async function ageProofs(db: Executor, interval: string, email = ''): Promise<void> {
  await db.query(
    `update sessions set created_at = created_at - $1::interval,
       password_at = password_at - $1::interval, code_at = code_at - $1::interval,
       recovery_at = recovery_at - $1::interval, passkey_at = passkey_at - $1::interval
     where $2 = '' or account_id = (select id from accounts where email = $2)`,
    [interval, email],
  )
}

export function codeIn(email: StoredEmail): string {
  const found = /#code=([\w-]+)/.exec(email.text)?.[1]
  if (found === undefined) throw new Error(`no code in ${email.kind}`)
  return found
}

/** For the preparation of a test: throws when the status is another. */
export function expect(reply: AuthResponse, status: number): AuthResponse {
  if (reply.status === status) return reply
  throw new Error(`${reply.status} and not ${status}: ${JSON.stringify(reply.body)}`)
}

export const errorOf = ({ body }: AuthResponse) =>
  (body.error as { code?: string } | undefined)?.code

type BrowserOptions = {
  readonly accounts?: Accounts
  readonly address?: string
  readonly agent?: string
  readonly origin?: string | null
}

/** A browser that keeps cookies, sends its origin, and calls `handle` with Request objects. */
export function createBrowser(accounts: Accounts, options: BrowserOptions = {}) {
  const { address = '203.0.113.7', agent = AGENT, origin = CABINET } = options
  const target = options.accounts ?? accounts
  const jar = new Map<string, string>()

  function headers(): Headers {
    const sent = new Headers({ 'user-agent': agent })
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    if (cookie !== '') sent.set('cookie', cookie)
    return sent
  }

  async function send(request: Request): Promise<AuthResponse> {
    const response = await target.handle(request, { address })
    for (const line of response.headers.getSetCookie()) storeCookie(jar, line)
    const body = (await response.json()) as Record<string, unknown>
    return { status: response.status, body, headers: response.headers }
  }

  return {
    jar,
    headers,
    session: () => target.session(headers()),
    get: (path: string) => send(new Request(`${CABINET}/api/auth${path}`, { headers: headers() })),
    post(path: string, body: unknown = {}, more: Record<string, string> = {}) {
      const sent = headers()
      sent.set('content-type', 'application/json')
      if (origin !== null) sent.set('origin', origin)
      for (const [name, value] of Object.entries(more)) sent.set(name, value)
      const init = { method: 'POST', headers: sent, body: JSON.stringify(body) }
      return send(new Request(`${CABINET}/api/auth${path}`, init))
    },
    signIn(email: string, password: string = PASSWORD) {
      return this.post('/sign-in/email', { email, password })
    },
  }
}

function storeCookie(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split('; ')
  const [name = '', ...value] = pair.split('=')
  if (attributes.some((one) => /^max-age=0$/i.test(one))) jar.delete(name)
  else jar.set(name, value.join('='))
}

/** Switches an authenticator app on in a browser that is signed in with PASSWORD. */
export async function enableSecondFactor(browser: Pick<Browser, 'post'>) {
  const { body } = expect(await browser.post('/two-factor/enable', { password: PASSWORD }), 200)
  const { uri, recoveryCodes } = body as { uri: string; recoveryCodes: string[] }
  expect(await browser.post('/two-factor/verify-totp', { code: totpCode(uri) }), 200)
  return { uri, recoveryCodes }
}

/** The code of the next half minute, which is accepted too and was not used yet. */
export const nextCode = (uri: string): string => totpCode(uri, Date.now() + 30_000)

/** The code that an authenticator app shows: RFC 6238, from the URI of its QR code. */
export function totpCode(uri: string, atMs: number = Date.now()): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const text = new URL(uri).searchParams.get('secret') ?? ''
  const bits = [...text].map((char) => alphabet.indexOf(char).toString(2).padStart(5, '0')).join('')
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)))
  const digest = createHmac('sha1', secret).update(counter).digest()
  const offset = (digest.at(-1) ?? 0) & 15
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
