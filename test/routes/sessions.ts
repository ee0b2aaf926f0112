// The sessions of one owner with a second factor that routes are tried with: one of each level,
// made by real sign-ins and step-ups. Before each request the session's row is put back as it was,
// so that a route may end it.
import { PASSWORD, totpCode } from '../stages/accounts.ts'
import { type CabinetBrowser, type CabinetStage, createCabinetBrowser } from '../stages/cabinet.ts'
import { issueKey } from '../stages/cabinet-owner.ts'

export const sessionLevels = [
  'none',
  'stale',
  'password',
  'second factor',
  'fresh',
  'shared device',
] as const
export type SessionLevel = (typeof sessionLevels)[number]

type Kept = { readonly row: unknown; readonly atMs: number; readonly cookies: Map<string, string> }

export async function createSessions(stage: CabinetStage) {
  const { db } = stage
  const owner = await stage.person('everyone')
  await stage.buyPack(owner)
  await issueKey(owner)
  const { body } = await owner.expectOk<{ uri: string }>('POST /api/auth/two-factor/enable', {
    password: PASSWORD,
  })
  const codeNow = () => totpCode(body.uri)
  await owner.expectOk('POST /api/auth/two-factor/verify-totp', { code: codeNow() })
  // The same code serves several sign-ins: the count of its uses is deleted between them.
  const forgetAttempts = () => db.query('delete from account_throttles')

  async function signIn(isPrivate: boolean): Promise<CabinetBrowser> {
    await forgetAttempts()
    const own = stage.browser()
    const credentials = { email: owner.email, password: PASSWORD, isPrivate }
    await own.expectOk('POST /api/auth/sign-in/email', credentials)
    await own.expectOk('POST /api/auth/two-factor/verify-totp', { code: codeNow() })
    return own
  }

  const idOf = async (own: CabinetBrowser) => (await stage.accounts.session(own.headers()))?.id

  async function age(own: CabinetBrowser, interval: string): Promise<void> {
    await db.query(
      `update sessions set password_at = password_at - $2::interval,
         code_at = code_at - $2::interval where id = $1`,
      [await idOf(own), interval],
    )
  }

  async function prove(own: CabinetBrowser, ...proofs: readonly object[]): Promise<void> {
    await forgetAttempts()
    for (const proof of proofs) await own.expectOk('POST /api/auth/step-up', proof)
  }

  const make = makersOf({ signIn, age, prove, codeNow })
  const kept = new Map<SessionLevel, Kept>()
  for (const level of Object.keys(make) as (keyof typeof make)[]) {
    const own = await make[level]()
    const { rows } = await db.query('select to_jsonb(s) as row from sessions s where id = $1', [
      await idOf(own),
    ])
    const { row } = rows[0] as { row: unknown }
    kept.set(level, { row, atMs: Date.now(), cookies: new Map(own.jar) })
  }

  return {
    owner,
    /** A browser with a session of this level, as old as when it was made. */
    async browser(level: SessionLevel): Promise<CabinetBrowser> {
      await forgetAttempts()
      const own = createCabinetBrowser(stage.url)
      const session = kept.get(level)
      if (session === undefined) return own
      await db.query('delete from sessions where account_id = $1', [owner.account])
      await db.query(
        `insert into sessions select (jsonb_populate_record(null::sessions,
           $1::jsonb || jsonb_build_object(
             'password_at', ($1::jsonb->>'password_at')::timestamptz + $2::interval,
             'code_at', ($1::jsonb->>'code_at')::timestamptz + $2::interval))).*`,
        [JSON.stringify(session.row), `${Date.now() - session.atMs} milliseconds`],
      )
      for (const [name, value] of session.cookies) own.jar.set(name, value)
      return own
    },
  }
}

/** How a session of each level comes about. */
function makersOf(p: {
  signIn(isPrivate: boolean): Promise<CabinetBrowser>
  age(own: CabinetBrowser, interval: string): Promise<void>
  prove(own: CabinetBrowser, ...proofs: readonly object[]): Promise<void>
  codeNow(): string
}) {
  async function stale(): Promise<CabinetBrowser> {
    const own = await p.signIn(true)
    await p.age(own, '1 day')
    return own
  }
  return {
    stale,
    async password() {
      const own = await stale()
      await p.prove(own, { password: PASSWORD })
      return own
    },
    async 'second factor'() {
      const own = await stale()
      await p.prove(own, { password: PASSWORD }, { code: p.codeNow() })
      return own
    },
    fresh: () => p.signIn(true),
    async 'shared device'() {
      const own = await p.signIn(false)
      await p.age(own, '3 minutes')
      return own
    },
  } satisfies Record<Exclude<SessionLevel, 'none'>, () => Promise<CabinetBrowser>>
}

export type Sessions = Awaited<ReturnType<typeof createSessions>>
