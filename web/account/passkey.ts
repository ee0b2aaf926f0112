// Passkeys through the browser's own JSON functions for WebAuthn. Browsers without them (before
// 2025) offer no passkeys; passwords still work there.
import { call } from '../runtime/api.ts'
import { Cancelled } from '../runtime/errors.ts'

export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function' &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function'
  )
}

/** Signs in with a passkey. Throws ApiRefusal, or Cancelled if the owner closes the dialog. */
export async function signInByPasskey(): Promise<void> {
  const body = { response: await passkeyAnswer() }
  await call('POST /api/auth/passkey/verify-authentication', { body })
}

/** Proves in this session who the owner is. Throws as `signInByPasskey` does. */
export async function proveByPasskey(): Promise<void> {
  await call('POST /api/auth/step-up', { body: { response: await passkeyAnswer() } })
}

async function passkeyAnswer(): Promise<object> {
  const options = await call('GET /api/auth/passkey/generate-authenticate-options')
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    // Safe: the server answers with these options as WebAuthn defines them.
    options as PublicKeyCredentialRequestOptionsJSON,
  )
  const credential = await credentialFrom(navigator.credentials.get({ publicKey }))
  return credential.toJSON() as object
}

/** Needs recent proofs. Throws as `signInByPasskey` does. */
export async function addPasskey(name: string): Promise<void> {
  const options = await call('GET /api/auth/passkey/generate-register-options')
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    // Safe for the same reason.
    options as PublicKeyCredentialCreationOptionsJSON,
  )
  const credential = await credentialFrom(navigator.credentials.create({ publicKey }))
  await call('POST /api/auth/passkey/verify-registration', {
    body: { response: credential.toJSON() as object, name },
  })
}

async function credentialFrom(prompt: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await prompt
    if (credential instanceof PublicKeyCredential) return credential
    throw new Cancelled()
  } catch (error) {
    // The browser throws the same errors for "closed", "not this device" and "timed out".
    if (error instanceof DOMException && /^(?:NotAllowed|Abort)Error$/.test(error.name)) {
      throw new Cancelled()
    }
    throw error
  }
}
