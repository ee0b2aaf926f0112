// Signing in with a passkey: the server asks, the browser's dialog answers.
import { askPasskey } from '../../runtime/webauthn.ts'
import { call } from '../call.ts'

export async function signInByPasskey(): Promise<void> {
  const { ticket, options } = await call('POST /api/sign-in/passkey/begin')
  const response = await askPasskey(options)
  await call('POST /api/sign-in/passkey', { body: { ticket, response } })
}
