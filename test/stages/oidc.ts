// A real identity provider on the loopback (oidc-provider). It signs in whoever a test names,
// without asking, and can sign ID tokens with claims that a wrong or hostile provider would send.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { decodeJwt, type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import { Masked } from '../../src/platform/masked.ts'
import type { StaffSettings } from '../../src/staff/staff.ts'
import { freePorts } from '../../tools/free-port.ts'

const CLIENT = { id: 'console', secret: 'a secret of the console at the provider' }
const KEY_ID = 'signing'

export type OidcStage = Awaited<ReturnType<typeof createOidcStage>>

/** `changes` replace claims of ID tokens; undefined takes one away. */
type Person = {
  readonly email: string
  readonly isVerified?: boolean
  readonly changes?: Readonly<Record<string, unknown>>
  readonly key?: KeyObject
}

export async function createOidcStage(consoleUrl: string) {
  const [port = 0] = await freePorts(1)
  const issuer = `http://127.0.0.1:${port}`
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const state = { person: { email: 'nobody@gate.example' } as Person }
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret },
        ...{ redirect_uris: [`${consoleUrl}/sign-in/provider`], response_types: ['code'] },
        ...{
          grant_types: ['authorization_code'],
          token_endpoint_auth_method: 'client_secret_post',
        },
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_: unknown, one: { uid: string }) => `/interaction/${one.uid}` },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: async () => ({
        ...{ sub: accountId, email: accountId, email_verified: state.person.isVerified ?? true },
      }),
    }),
    jwks: { keys: [{ ...own.export({ format: 'jwk' }), kid: KEY_ID, alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of cookies'] },
  })

  async function signAgain(token: string): Promise<string> {
    const { changes = {}, key = own } = state.person
    const claims = { ...decodeJwt(token), ...changes } as JWTPayload
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KEY_ID }).sign(key)
  }

  provider.use(async (context, next) => {
    const { req, res, path } = context
    if (!path.startsWith('/interaction/')) {
      await next()
      const { body } = context
      if (path === '/token' && body?.id_token !== undefined) {
        body.id_token = await signAgain(body.id_token)
      }
      return
    }
    const { params } = await provider.interactionDetails(req, res)
    const accountId = state.person.email
    const grant = new provider.Grant({ accountId, clientId: params.client_id })
    grant.addOIDCScope('openid email')
    const consent = { grantId: await grant.save() }
    await provider.interactionFinished(req, res, { login: { accountId }, consent })
    context.respond = false
  })
  const server = provider.listen(port, '127.0.0.1')
  await once(server, 'listening')

  const settings: Partial<StaffSettings> = {
    ...{ oidcIssuer: issuer, oidcClientId: CLIENT.id, oidcName: 'Company' },
    oidcClientSecret: new Masked(CLIENT.secret),
  }

  return {
    ...{ issuer, settings },
    /** Whom the provider signs in from now on. */
    recognise(person: Person): void {
      state.person = person
    },

    /** Does what a browser does, until the provider sends it back; the query that it then has. */
    async follow(start: string): Promise<string> {
      const jar = new Map<string, string>()
      let url = start
      for (let step = 0; step < 10; step += 1) {
        if (url.startsWith(consoleUrl)) return new URL(url).search.slice(1)
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
        const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          jar.set(name, value)
        }
        const location = response.headers.get('location')
        if (location === null) throw new Error(`${response.status}: ${await response.text()}`)
        url = new URL(location, url).href
      }
      throw new Error('the provider does not send the browser back')
    },

    async end(): Promise<void> {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
