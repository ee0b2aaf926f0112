// The address of a relay as operators write it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Relay, readSmtpUrl } from './smtp-url.ts'

function relay(text: string): Relay {
  const read = readSmtpUrl(text)
  assert.ok(!('complaint' in read), text)
  return read
}

test('the scheme and the port say how TLS begins', () => {
  const shape = (text: string) => {
    const { host, port, secure, requireTLS } = relay(text)
    return [host, port, secure, requireTLS]
  }
  assert.deepEqual(shape('smtp://relay.example'), ['relay.example', 587, false, true])
  assert.deepEqual(shape('smtp://relay.example:2525'), ['relay.example', 2525, false, true])
  assert.deepEqual(shape('smtps://relay.example'), ['relay.example', 465, true, false])
  assert.deepEqual(shape('smtp://relay.example:465'), ['relay.example', 465, true, false])
  assert.deepEqual(shape('smtp://[::1]:587/'), ['::1', 587, false, true])
})

test('only the address itself can say that TLS is not wanted', () => {
  const { requireTLS, ignoreTLS } = relay('smtp://relay.example?starttls=optional')
  assert.deepEqual([requireTLS, ignoreTLS], [false, false])
  assert.equal(relay('smtp://relay.example?starttls=never').ignoreTLS, true)
})

test('a password may hold any character', () => {
  const user = encodeURIComponent('gate@example.org')
  const pass = 'p@s:s/w?rd#%'
  const { auth } = relay(`smtp://${user}:${encodeURIComponent(pass)}@relay.example`)
  assert.deepEqual(auth, { user: 'gate@example.org', pass })
  assert.equal(relay('smtp://gate:100%@relay.example').auth?.pass, '100%')
  assert.equal(relay('smtp://relay.example').auth, undefined)
})

test('what is no address of a relay is refused, without quoting it', () => {
  const wrong = [
    'relay.example:587',
    'http://relay.example',
    'smtp://',
    'smtp://canary:canary@relay.example?starttls=maybe',
    'smtp://relay.example?ignoreTLS=true',
    'smtp://relay.example/inbox',
  ]
  for (const text of wrong) {
    const read = readSmtpUrl(text)
    assert.ok('complaint' in read, text)
    assert.doesNotMatch(read.complaint, /canary/)
  }
})
