// Cookies: the options for those that better-auth makes, and how we read and write our own.
import type { Brand } from './emails/emails.ts'

const DAY_SECONDS = 86_400

/** `__Host-` binds a cookie to exactly this host and to TLS; browsers refuse it on plain HTTP. */
export function cookiesOf(brand: Brand) {
  const isSecure = brand.cabinetUrl.startsWith('https:')
  return {
    cookiePrefix: isSecure ? '__Host-tollgate' : 'tollgate',
    // Otherwise better-auth puts `__Secure-` before our prefix: subdomains can set such cookies.
    useSecureCookies: false,
    defaultCookieAttributes: {
      secure: isSecure,
      httpOnly: true,
      // Not Strict: an owner who returns from the bank's page would be signed out.
      sameSite: 'lax',
      path: '/',
    },
  } as const
}

/** In a Cookie header; the name is better-auth's. */
export const SESSION_COOKIE = /(?:^|;\s*)(?:__Host-)?tollgate\.session_token=/

export function createCookies(brand: Brand) {
  const { cookiePrefix, defaultCookieAttributes } = cookiesOf(brand)
  const secure = defaultCookieAttributes.secure ? '; Secure' : ''

  return {
    /** Reads a cookie from a request's Cookie header; the name is without the prefix. */
    read(header: string, name: string): string | undefined {
      const full = `${cookiePrefix}.${name}=`
      const pair = header.split(';').find((one) => one.trimStart().startsWith(full))
      return pair?.trim().slice(full.length)
    },

    /** The value of a `set-cookie` header. */
    write: (name: string, value: string, days: number): string =>
      `${cookiePrefix}.${name}=${value}; Max-Age=${days * DAY_SECONDS}; Path=/; HttpOnly; ` +
      `SameSite=Lax${secure}`,
  }
}

export type Cookies = ReturnType<typeof createCookies>
