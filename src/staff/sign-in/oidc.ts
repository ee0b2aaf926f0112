// Signing in by the company's identity provider: OpenID Connect, authorization code with PKCE. The
// provider says who somebody is; only an operator who exists, is active and has that verified
// address gets a session. It makes no operators and no roles. State, nonce and PKCE verifier are
// kept in the database under a ticket that only the browser that began has.
import type { Configuration, IDToken } from 'openid-client'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import type { Masked } from '../../platform/masked.ts'
import * as people from '../queries.ts'
import { signInRefusal } from '../refusals.ts'
import * as queries from './queries.ts'
import type { Caller, Sessions, SignedIn } from './sessions.ts'

export type OidcSettings = {
  /** `none`: nobody signs in this way. */
  readonly oidcIssuer: string
  readonly oidcClientId: string
  readonly oidcClientSecret: Masked<string>
  /** What the button says. */
  readonly oidcName: string
  /** `groups=console`: a claim that the ID token must have; `none`. */
  readonly oidcAllowedClaim: string
  /** `own`, or claims such as `amr=mfa,amr=hwk` that count as the second factor. */
  readonly oidcSecondFactor: string
}

/** As long as a person takes with a password and a phone at the provider. */
const TICKET_MINUTES = 10
/** Where the provider sends the browser back to; a page of the console. */
const RETURN_PATH = '/sign-in/provider'
const REQUEST_SECONDS = 10
/** The provider's addresses and keys are read again after this time. */
const DISCOVERY_MS = 3_600_000

/** Loaded when it is needed: most installations never do. */
const load = () => import('openid-client')

type Begun = { readonly state: string; readonly nonce: string; readonly verifier: string }

export function createOidc(p: {
  readonly db: Db
  readonly clock: Clock
  readonly sessions: Sessions
  readonly settings: OidcSettings & { readonly consoleUrl: string }
  countAddress(address: string): Promise<void>
}) {
  const { db, clock, sessions, settings } = p
  const isOn = settings.oidcIssuer !== 'none'
  const returnUrl = `${settings.consoleUrl}${RETURN_PATH}`
  const discover = createDiscovery(settings, clock)

  async function take(ticket: string | undefined): Promise<Begun> {
    const text =
      ticket?.startsWith(TICKET) === true
        ? await queries.challengeTake(db, { id: ticket, session: null })
        : undefined
    if (text === undefined) throw refused('ticket')
    return JSON.parse(text) as Begun
  }

  /** The claims of the provider's answer. Refuses: oidc_sign_in_refused, oidc_unavailable. */
  async function claimsOf(query: string, { state, nonce, verifier }: Begun): Promise<Claims> {
    const { authorizationCodeGrant, fetchUserInfo } = await load()
    const config = await discover()
    const answer = await authorizationCodeGrant(config, new URL(`${returnUrl}?${query}`), {
      ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
      idTokenExpected: true,
    }).catch(refuseAnswer)
    const idToken = answer.claims()
    if (idToken === undefined) throw refused('no ID token')
    if (idToken.email !== undefined) return { idToken, about: idToken }
    // Some providers name the address only here; the subject must be the same.
    const about = await fetchUserInfo(config, answer.access_token, idToken.sub).catch(refuseAnswer)
    return { idToken, about }
  }

  return {
    /** The provider's name for the sign-in page; null when nobody signs in this way. */
    name: isOn ? settings.oidcName : null,

    ticketSeconds: TICKET_MINUTES * 60,

    /** Refuses: sign_in_throttled, oidc_unavailable. */
    async begin({ address }: Pick<Caller, 'address'>) {
      await p.countAddress(address)
      const client = await load()
      const config = await discover()
      const begun = {
        ...{ state: client.randomState(), nonce: client.randomNonce() },
        verifier: client.randomPKCECodeVerifier(),
      }
      const ticket = `${TICKET}${randomText(32)}`
      await queries.challengeInsert(db, {
        ...{ id: ticket, challenge: JSON.stringify(begun), session: null, minutes: TICKET_MINUTES },
      })
      const url = client.buildAuthorizationUrl(config, {
        ...{ redirect_uri: returnUrl, scope: 'openid email' },
        ...{ state: begun.state, nonce: begun.nonce, code_challenge_method: 'S256' },
        code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
      })
      return { ticket, url: url.href }
    },

    /**
     * `query` is what the provider added to our address. The session misses its second factor,
     * unless the provider's counts. Refuses: oidc_sign_in_refused, oidc_unavailable.
     */
    async finish(
      given: Caller & { readonly ticket: string | undefined; readonly query: string },
    ): Promise<SignedIn> {
      const { idToken, about } = await claimsOf(given.query, await take(given.ticket))
      const { oidcAllowedClaim: allowed, oidcSecondFactor: factor } = settings
      if (allowed !== 'none' && !hasClaim(idToken, allowed)) throw refused('claim')
      const email = typeof about.email === 'string' ? asciiLowerCase(about.email) : ''
      if (about.email_verified !== true || !email.includes('@')) throw refused('e-mail')
      const counts = factor !== 'own' && factor.split(',').some((one) => hasClaim(idToken, one))
      return db.transaction(async (tx) => {
        const found = await people.operatorFind(tx, email)
        // Locks the row: an admin who disables the person waits, or was faster.
        const isActive =
          found?.email === email &&
          (await people.roleIsStill(tx, { operator: found.id, role: found.role }))
        if (!isActive) throw refused('operator')
        const proof = counts ? 'provider_factor' : 'provider'
        return sessions.open(tx, { ...given, operator: found.id, proof })
      })
    },
  }
}

export type Oidc = ReturnType<typeof createOidc>

/** Tickets of passkeys do not begin like this. */
const TICKET = 'oidc_'

type Claims = {
  /** Signed by the provider. */
  readonly idToken: IDToken
  readonly about: { readonly [name: string]: unknown }
}

/** Reads the provider's addresses, once an hour. Refuses: oidc_unavailable. */
function createDiscovery(settings: OidcSettings, clock: Clock): () => Promise<Configuration> {
  const kept: { untilMs: number; found: Promise<Configuration> | undefined } = {
    ...{ untilMs: 0, found: undefined },
  }
  return () => {
    if (kept.found !== undefined && clock.spanMs() < kept.untilMs) return kept.found
    const found = discovery(settings)
    Object.assign(kept, { found, untilMs: clock.spanMs() + DISCOVERY_MS })
    // What failed is not remembered.
    found.catch(() => Object.assign(kept, { found: undefined }))
    return found
  }
}

async function discovery(settings: OidcSettings): Promise<Configuration> {
  const { oidcIssuer: issuer, oidcClientId, oidcClientSecret } = settings
  if (issuer === 'none') throw unavailable('no provider is set')
  const client = await load()
  // The settings of production allow plain HTTP on the loopback only.
  const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
  return client
    .discovery(new URL(issuer), oidcClientId, oidcClientSecret.reveal(), undefined, {
      timeout: REQUEST_SECONDS,
      // Signatures of ID tokens are verified too, not only the connection that they came by.
      execute: [...insecure, client.enableNonRepudiationChecks],
    })
    .catch((error: unknown) => {
      throw unavailable('discovery', error)
    })
}

/**
 * Only A-Z: other letters that become one of a-z, such as the sign of kelvin, are another person's
 * mailbox at the provider.
 */
function asciiLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** `amr=mfa`: the claim is this text, or a list with it. */
function hasClaim(claims: { readonly [name: string]: unknown }, text: string): boolean {
  const [name = '', ...rest] = text.trim().split('=')
  const value = rest.join('=')
  const claim = Object.hasOwn(claims, name) ? claims[name] : undefined
  return Array.isArray(claim) ? claim.includes(value) : claim === value
}

/** An answer that is wrong is refused; no answer may be there the next time. */
function refuseAnswer(error: unknown): never {
  const { code = '' } = Object(error) as { code?: string }
  const isAway = error instanceof TypeError || /TIMEOUT|ECONN|UND_ERR/.test(code)
  throw isAway ? unavailable('no answer', error) : refused('answer', error)
}

function refused(what: string, cause?: unknown) {
  const { code, error } = Object(cause) as { code?: string; error?: string }
  return signInRefusal(
    'oidc_sign_in_refused',
    'This sign-in was not accepted.',
    { what, ...(code !== undefined && { code }), ...(error !== undefined && { error }) },
    cause,
  )
}

function unavailable(what: string, cause?: unknown) {
  return signInRefusal('oidc_unavailable', 'The provider does not answer.', { what }, cause)
}
