// Encrypts what must be read again: the seeds of authenticator apps and recovery codes. AES-256-GCM
// with a key derived from `operators.secret`. The text begins with the id of the secret that made
// it, so that the secret can have a successor, as accounts.secret has.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { randomText } from '../platform/ids.ts'
import type { SecretVersion, SecretVersions } from '../platform/secret-versions.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
/** What GCM is made for; random, it repeats once in 2^48 texts of one secret. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

export function createEncryption(versions: SecretVersions) {
  const keys = new Map(versions.map((one) => [one.id, keyOf(one)]))
  const current = versions[0].id

  return {
    /** `about` is the row that the text belongs to: in another row it cannot be decrypted. */
    encrypt(plain: string, about: string): string {
      const nonce = Buffer.from(randomText(NONCE_BYTES), 'base64url')
      const cipher = createCipheriv(CIPHER, keys.get(current) as Buffer, nonce)
      cipher.setAAD(Buffer.from(about))
      const text = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final()])
      return `${current}$${Buffer.concat([text, cipher.getAuthTag()]).toString('base64url')}`
    },

    /** Undefined when no given secret made the text, or it was changed or moved. */
    decrypt(text: string, about: string): string | undefined {
      const [id = '', body = ''] = text.split('$')
      const key = keys.get(Number(id))
      const bytes = Buffer.from(body, 'base64url')
      if (key === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(about))
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
        return Buffer.concat([plain, decipher.final()]).toString('utf8')
      } catch {
        // GCM found that the text or its row was changed.
        return undefined
      }
    },
  }
}

export type Encryption = ReturnType<typeof createEncryption>

function keyOf({ secret }: SecretVersion): Buffer {
  return Buffer.from(hkdfSync('sha256', secret.reveal(), '', 'operators', KEY_BYTES))
}
