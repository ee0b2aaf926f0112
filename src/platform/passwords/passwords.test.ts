// Passwords: how they are stored, how many are checked at once, which are accepted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRefusal } from '../refusal.ts'
import { createPasswords, passwordProblem } from './passwords.ts'

test('a password is stored as Argon2id of 19 MiB and two passes, with its own salt', async () => {
  const { hash, verify } = createPasswords({ waitingMax: 8 })
  const [one, two] = await Promise.all([
    hash('correct horse battery'),
    hash('correct horse battery'),
  ])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(one, two)
  assert.equal(await verify({ hash: one, password: 'correct horse battery' }), true)
  assert.equal(await verify({ hash: one, password: 'correct horse batterz' }), false)
})

test('a password matches in composed and decomposed Unicode', async () => {
  const { hash, verify } = createPasswords({ waitingMax: 8 })
  const composed = 'мой чудный йогурт'.normalize('NFC')
  const kept = await hash(composed)
  assert.equal(await verify({ hash: kept, password: composed.normalize('NFD') }), true)
})

test('refuses a check when all threads are busy and the queue is full', async () => {
  const passwords = createPasswords({ waitingMax: 1, threadsMax: 1 })
  const [running, waiting] = [passwords.hash('the first one'), passwords.hash('the second one')]
  await assert.rejects(passwords.hash('the third one'), (error) =>
    isRefusal(error, 'password_checks_overloaded'),
  )
  await Promise.all([running, waiting])
  assert.deepEqual(passwords.stats(), { runs: 2, running: 0, overflows: 1, waiting: 0 })
  assert.match(await passwords.hash('the fourth one'), /argon2id/)
})

test('refuses common passwords in any case and with punctuation after them', () => {
  for (const password of [
    ...['1234567890', 'Password123', 'QWERTYUIOP', 'qwerty12345!', 'йцукен12345', 'Пароль12345'],
    ...[
      'aaaaaaaaaaaa',
      '1212121212',
      'abcabcabcabc',
      'zyxwvutsrqponm',
      '9876543210',
      'абвгдеёжзий',
    ],
  ]) {
    assert.equal(passwordProblem(password), 'password_common', password)
  }
  for (const password of [
    'a quiet evening',
    'три белых слона',
    'qwerty but longer',
    '83624-95127',
  ]) {
    assert.equal(passwordProblem(password), undefined, password)
  }
})

test('refuses the own e-mail address as a password', () => {
  assert.equal(passwordProblem('olga.petrova', 'Olga.Petrova@example.org'), 'password_common')
  assert.equal(
    passwordProblem('olga.petrova@example.org', 'olga.petrova@example.org'),
    'password_common',
  )
  assert.equal(passwordProblem('olga.petrova', 'ivan@example.org'), undefined)
})
