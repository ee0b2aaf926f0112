// Cookies that a former accounts secret signed, or one that is to come: better-auth verifies with
// one secret only, so each such cookie gets that secret's signature before better-auth reads it.
// A cookie whose signature is of no given secret stays as it is, and better-auth refuses it.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SecretVersions } from '../../platform/secret-versions.ts'

export type CookieSignatures = ReturnType<typeof createCookieSignatures>

/** `prefix`: how the names of better-auth's cookies begin. */
export function createCookieSignatures(versions: SecretVersions, prefix: string) {
  const [{ secret: current }, ...others] = versions

  /** The value with the current secret's signature, when another of our secrets signed it. */
  function resignValue(encoded: string): string {
    const text = decode(encoded)
    const split = text.lastIndexOf('.')
    if (split < 1) return encoded
    const [value, signature] = [text.slice(0, split), text.slice(split + 1)]
    const isOf = (secret: typeof current) => isSame(signature, sign(value, secret.reveal()))
    if (isOf(current) || !others.some(({ secret }) => isOf(secret))) return encoded
    return encodeURIComponent(`${value}.${sign(value, current.reveal())}`)
  }

  function resignPair(pair: string): string {
    const [, name = '', encoded = ''] = /^(\s*[^=]+=)(.*)$/s.exec(pair) ?? []
    return name.trimStart().startsWith(prefix) ? name + resignValue(encoded) : pair
  }

  return {
    /** The request's headers, with a Cookie header that better-auth can verify. */
    resign(headers: Headers): Headers {
      const sent = headers.get('cookie')
      if (others.length === 0 || sent === null) return headers
      const resigned = new Headers(headers)
      resigned.set('cookie', sent.split(';').map(resignPair).join(';'))
      return resigned
    },
  }
}

/** As better-auth signs: base64 with padding. */
function sign(value: string, secret: string): string {
  return createHmac('sha256', secret).update(value).digest('base64')
}

function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return '' // a client may send anything
  }
}
