// Passkeys, through the browser's own way of reading and writing WebAuthn as JSON. Browsers that
// lack it (before 2025) are offered no passkeys: they still have passwords.
import { call } from '../runtime/api.ts'
import { Cancelled } from '../runtime/errors.ts'

export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function' &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function'
  )
}

/** Signs in with a passkey. Throws No, or Cancelled when the owner closes the browser's window. */
export async function signInByPasskey(): Promise<void> {
  const options = await call('GET /api/auth/passkey/generate-authenticate-options')
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    // Safe: the server answers with what WebAuthn calls these options.
    options as PublicKeyCredentialRequestOptionsJSON,
  )
  const credential = await asked(navigator.credentials.get({ publicKey }))
  await call('POST /api/auth/passkey/verify-authentication', {
    body: { response: credential.toJSON() as object },
  })
}

/** Needs a fresh session. Throws as `signInByPasskey` does. */
export async function addPasskey(name: string): Promise<void> {
  const options = await call('GET /api/auth/passkey/generate-register-options')
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    // Safe for the same reason.
    options as PublicKeyCredentialCreationOptionsJSON,
  )
  const credential = await asked(navigator.credentials.create({ publicKey }))
  await call('POST /api/auth/passkey/verify-registration', {
    body: { response: credential.toJSON() as object, name },
  })
}

async function asked(question: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await question
    if (credential instanceof PublicKeyCredential) return credential
    throw new Cancelled()
  } catch (error) {
    // The browser says the same for "closed", "not this device" and "time ran out".
    if (error instanceof DOMException && /^(?:NotAllowed|Abort)Error$/.test(error.name)) {
      throw new Cancelled()
    }
    throw error
  }
}
