// Cookies: how better-auth is told to make its own, and how ours is read and written beside them.
import type { Brand } from './letters/letters.ts'

const DAY_SECONDS = 86_400

/** `__Host-` binds a cookie to this very host, over TLS; browsers refuse it on plain HTTP. */
export function cookiesOf(brand: Brand) {
  const isSecure = brand.cabinetUrl.startsWith('https:')
  return {
    cookiePrefix: isSecure ? '__Host-tollgate' : 'tollgate',
    // better-auth's own prefix would come before ours and be `__Secure-`, which subdomains can set.
    useSecureCookies: false,
    defaultCookieAttributes: {
      secure: isSecure,
      httpOnly: true,
      // Not Strict: who comes back from the bank would arrive signed out.
      sameSite: 'lax',
      path: '/',
    },
  } as const
}

export function createCookies(brand: Brand) {
  const { cookiePrefix, defaultCookieAttributes } = cookiesOf(brand)
  const secure = defaultCookieAttributes.secure ? '; Secure' : ''

  return {
    /** By its name without the prefix, out of a request's header. */
    read(header: string, name: string): string | undefined {
      const full = `${cookiePrefix}.${name}=`
      const pair = header.split(';').find((one) => one.trimStart().startsWith(full))
      return pair?.trim().slice(full.length)
    },

    /** For a `set-cookie` header. */
    write: (name: string, value: string, days: number): string =>
      `${cookiePrefix}.${name}=${value}; Max-Age=${days * DAY_SECONDS}; Path=/; HttpOnly; ` +
      `SameSite=Lax${secure}`,
  }
}

export type Cookies = ReturnType<typeof createCookies>
