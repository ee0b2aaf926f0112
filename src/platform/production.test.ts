// What production refuses about the console; config.test.ts has the other checks of production.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from './config.ts'

/** The problems of the console's address; the rest of a production's settings is left out. */
function problemsOf(consoleUrl: string): string[] {
  const env = { TOLLGATE_MODE: 'production', OPERATORS_CONSOLE_URL: consoleUrl }
  const result = loadConfig({ env })
  assert.ok('problems' in result)
  return result.problems.filter((one) => one.startsWith('operators.consoleUrl'))
}

test('production refuses a console without TLS beyond the loopback', () => {
  const [found = '', ...more] = problemsOf('http://console.example.org')
  assert.match(found, /must be https/)
  assert.deepEqual(more, [])
  assert.deepEqual(problemsOf('https://console.example.org'), [])
  assert.deepEqual(problemsOf('http://127.0.0.1:9'), [])
})

test('an identity provider is complete, and in production only over TLS', () => {
  const problems = (env: Record<string, string>) => {
    const result = loadConfig({ env: { TOLLGATE_MODE: 'production', ...env }, program: 'console' })
    assert.ok('problems' in result)
    return result.problems.filter((one) => one.startsWith('operators.oidc'))
  }
  const whole = {
    OPERATORS_OIDC_ISSUER: 'https://id.example.org/realms/staff',
    OPERATORS_OIDC_CLIENT_ID: 'console',
    OPERATORS_OIDC_CLIENT_SECRET: 'a-secret-of-the-client',
    OPERATORS_OIDC_SECOND_FACTOR: 'amr=mfa,acr=urn:example:strong',
    OPERATORS_OIDC_ALLOWED_CLAIM: 'groups=console',
  }
  assert.deepEqual(problems({}), [])
  assert.deepEqual(problems(whole), [])
  const plain = problems({ ...whole, OPERATORS_OIDC_ISSUER: 'http://id.example.org' })
  assert.match(plain.join(), /must be https/)
  for (const missing of ['OPERATORS_OIDC_CLIENT_ID', 'OPERATORS_OIDC_CLIENT_SECRET']) {
    assert.match(problems({ ...whole, [missing]: 'none' }).join(), /goes together/, missing)
  }
  const wrong = problems({ ...whole, OPERATORS_OIDC_SECOND_FACTOR: 'mfa' })
  assert.match(wrong.join(), /expected own or amr=mfa/)
})
