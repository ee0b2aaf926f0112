// What an owner does with passkeys: sign in, prove who they are, add one. Each throws ApiRefusal,
// or Cancelled if the owner closes the browser's dialog.
import { call } from '../runtime/api.ts'
import { askPasskey, makePasskey } from '../runtime/webauthn.ts'

export async function signInByPasskey(): Promise<void> {
  const body = { response: await passkeyAnswer() }
  await call('POST /api/auth/passkey/verify-authentication', { body })
}

/** Proves in this session who the owner is. */
export async function proveByPasskey(): Promise<void> {
  await call('POST /api/auth/step-up', { body: { response: await passkeyAnswer() } })
}

async function passkeyAnswer(): Promise<object> {
  return askPasskey(await call('GET /api/auth/passkey/generate-authenticate-options'))
}

/** Needs recent proofs. */
export async function addPasskey(name: string): Promise<void> {
  const response = await makePasskey(await call('GET /api/auth/passkey/generate-register-options'))
  await call('POST /api/auth/passkey/verify-registration', { body: { response, name } })
}
