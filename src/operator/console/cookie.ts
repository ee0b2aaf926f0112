// The console's cookies, for this host only and never sent from other sites: the token of the
// session, and the ticket of a sign-in that the identity provider has under way.

export function createCookies(consoleUrl: string, ticketSeconds: number) {
  return {
    // Without Max-Age: it ends with the browser, and in any case with the session in the database.
    session: createCookie(consoleUrl, 'tollgate-console'),
    ticket: createCookie(consoleUrl, 'tollgate-console-ticket', ticketSeconds),
  }
}

/** `__Host-` binds a cookie to exactly this host and to TLS; browsers refuse it on plain HTTP. */
function createCookie(consoleUrl: string, plainName: string, seconds?: number) {
  const isSecure = consoleUrl.startsWith('https:')
  const name = isSecure ? `__Host-${plainName}` : plainName
  const age = seconds === undefined ? '' : `; Max-Age=${seconds}`
  const traits = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

  return {
    /** The value in a Cookie header; undefined when there is none. */
    read(header: string | undefined): string | undefined {
      const pair = (header ?? '').split(';').find((one) => one.trimStart().startsWith(`${name}=`))
      return pair?.trim().slice(name.length + 1) || undefined
    },
    /** Values of a `set-cookie` header. */
    write: (value: string): string => `${name}=${value}${age}; ${traits}`,
    erase: (): string => `${name}=; Max-Age=0; ${traits}`,
  }
}

export type Cookies = ReturnType<typeof createCookies>
