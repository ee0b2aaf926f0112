// Passkeys through the browser's own JSON functions for WebAuthn. Browsers without them (before
// 2025) offer no passkeys; passwords still work there.
import { Cancelled } from './errors.ts'

export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function' &&
    typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function'
  )
}

/** A passkey's answer to the server's question. Throws Cancelled if the dialog is closed. */
export async function askPasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    // Safe: the server answers with these options as WebAuthn defines them.
    options as PublicKeyCredentialRequestOptionsJSON,
  )
  const credential = await credentialFrom(navigator.credentials.get({ publicKey }))
  return credential.toJSON() as object
}

/** A new passkey. Throws Cancelled if the dialog is closed. */
export async function makePasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    // Safe for the same reason.
    options as PublicKeyCredentialCreationOptionsJSON,
  )
  const credential = await credentialFrom(navigator.credentials.create({ publicKey }))
  return credential.toJSON() as object
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
