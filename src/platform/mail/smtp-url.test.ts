// The URL of an SMTP server as operators write it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSmtpUrl, type SmtpServer } from './smtp-url.ts'

function serverOf(text: string): SmtpServer {
  const read = readSmtpUrl(text)
  assert.ok(!('problem' in read), text)
  return read
}

test('scheme and port decide how TLS begins', () => {
  const shape = (text: string) => {
    const { host, port, secure, requireTLS } = serverOf(text)
    return [host, port, secure, requireTLS]
  }
  assert.deepEqual(shape('smtp://relay.example'), ['relay.example', 587, false, true])
  assert.deepEqual(shape('smtp://relay.example:2525'), ['relay.example', 2525, false, true])
  assert.deepEqual(shape('smtps://relay.example'), ['relay.example', 465, true, false])
  assert.deepEqual(shape('smtp://relay.example:465'), ['relay.example', 465, true, false])
  assert.deepEqual(shape('smtp://[::1]:587/'), ['::1', 587, false, true])
})

test('only the URL can turn TLS off', () => {
  const { requireTLS, ignoreTLS } = serverOf('smtp://relay.example?starttls=optional')
  assert.deepEqual([requireTLS, ignoreTLS], [false, false])
  assert.equal(serverOf('smtp://relay.example?starttls=never').ignoreTLS, true)
})

test('a password may contain any character', () => {
  const user = encodeURIComponent('gate@example.org')
  const pass = 'p@s:s/w?rd#%'
  const { auth } = serverOf(`smtp://${user}:${encodeURIComponent(pass)}@relay.example`)
  assert.deepEqual(auth, { user: 'gate@example.org', pass })
  assert.equal(serverOf('smtp://gate:100%@relay.example').auth?.pass, '100%')
  assert.equal(serverOf('smtp://relay.example').auth, undefined)
})

test('refuses an invalid URL without quoting it', () => {
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
    assert.ok('problem' in read, text)
    assert.doesNotMatch(read.problem, /canary/)
  }
})
