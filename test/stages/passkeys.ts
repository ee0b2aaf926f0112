// Passkeys for the tests of accounts: adds one to an owner's account, and answers a challenge.
import { createAuthenticator } from '../support/authenticator.ts'
import { type Browser, CABINET, expect } from './accounts.ts'

type Passkey = ReturnType<typeof createAuthenticator>

async function addPasskey(browser: Browser, name = 'Phone', isOwnerVerified = true) {
  const passkey = createAuthenticator(CABINET, { isOwnerVerified })
  const options = expect(await browser.get('/passkey/generate-register-options'), 200).body
  const response = passkey.register(options as Parameters<typeof passkey.register>[0])
  const reply = await browser.post('/passkey/verify-registration', { response, name })
  return { passkey, reply }
}

async function passkeyAnswer(passkey: Passkey, browser: Browser) {
  const options = expect(await browser.get('/passkey/generate-authenticate-options'), 200).body
  return passkey.authenticate(options as Parameters<typeof passkey.authenticate>[0])
}

async function signInWith(passkey: Passkey, browser: Browser) {
  const response = await passkeyAnswer(passkey, browser)
  return { response, reply: await browser.post('/passkey/verify-authentication', { response }) }
}

export const passkeySteps = { addPasskey, passkeyAnswer, signInWith }
