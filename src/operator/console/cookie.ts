// The console's cookie: the token of the session, for this host only, never sent from other sites.

/** `__Host-` binds a cookie to exactly this host and to TLS; browsers refuse it on plain HTTP. */
export function createCookie(consoleUrl: string) {
  const isSecure = consoleUrl.startsWith('https:')
  const name = isSecure ? '__Host-tollgate-console' : 'tollgate-console'
  // Without Max-Age: it ends with the browser, and in any case with the session in the database.
  const traits = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

  return {
    /** The token in a Cookie header; undefined when there is none. */
    read(header: string | undefined): string | undefined {
      const pair = (header ?? '').split(';').find((one) => one.trimStart().startsWith(`${name}=`))
      return pair?.trim().slice(name.length + 1) || undefined
    },
    /** Values of a `set-cookie` header. */
    write: (token: string): string => `${name}=${token}; ${traits}`,
    erase: (): string => `${name}=; Max-Age=0; ${traits}`,
  }
}

export type Cookie = ReturnType<typeof createCookie>
