// What owners make over the cabinet's API in many tests: an API key and a passkey.
import { createAuthenticator } from '../support/authenticator.ts'
import { CABINET } from './accounts.ts'
import type { CabinetBrowser } from './cabinet.ts'

export type Passkey = ReturnType<typeof createAuthenticator>

/** Issues a key and confirms it; returns its id. */
export async function issueKey(own: CabinetBrowser): Promise<string> {
  const { body } = await own.expectOk<{ id: string }>('POST /api/key')
  await own.expectOk(`POST /api/key/${body.id}/confirm`)
  return body.id
}

/** `origin`: of the cabinet that the browser has open. */
export async function addPasskey(
  own: CabinetBrowser,
  name: string,
  origin: string = CABINET,
): Promise<{ readonly id: string; readonly passkey: Passkey }> {
  const passkey = createAuthenticator(origin)
  const { body } = await own.expectOk('GET /api/auth/passkey/generate-register-options')
  const response = passkey.register(body as Parameters<Passkey['register']>[0])
  const added = await own.expectOk<{ id: string }>('POST /api/auth/passkey/verify-registration', {
    ...{ response, name },
  })
  return { id: added.body.id, passkey }
}
