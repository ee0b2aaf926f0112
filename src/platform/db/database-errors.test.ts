// Which errors of the database are transient, and which of them mean that the server must be left.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../assert.ts'
import {
  isDatabaseUnavailable,
  isServerLost,
  isTransient,
  markTransient,
  OutcomeUnknown,
} from './database-errors.ts'

/** An error of the server. */
const said = (code: string) => Object.assign(new Error('a test'), { code, severity: 'ERROR' })
/** An error of a socket. */
const met = (code: string) => Object.assign(new Error('a test'), { code })

test('a lost connection, a full, read-only or failing server and a conflict are transient', () => {
  const states = ['08006', '53300', '57P01', '57014', '58030', '58P01', 'XX000', 'XX001', 'XX002']
  for (const code of [...states, '25006', '40001', '40P01', '55P03']) {
    assert.equal(isTransient(said(code)), true, code)
  }
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']) {
    assert.equal(isTransient(met(code)), true, code)
  }
  assert.equal(isTransient(new Error('Connection terminated unexpectedly')), true)
  assert.equal(isTransient(new AggregateError([met('ECONNREFUSED')])), true)
  assert.equal(isTransient(new OutcomeUnknown('no answer')), true)
})

test('a wrong statement, a missing privilege and a bug of ours are not transient', () => {
  for (const code of ['22012', '23505', '23514', '26000', '42501', '42883', '42P01', 'TG002']) {
    assert.equal(isTransient(said(code)), false, code)
  }
  for (const error of [new TypeError(), new RangeError(), new SyntaxError(), new Fault('a bug')]) {
    assert.equal(isTransient(error), false, error.name)
  }
  assert.equal(isTransient('08006'), false)
})

test('a server is left when it is read-only or shuts down, not for a lock or a time limit', () => {
  for (const code of ['25006', '57P01', '57P02', '57P03', '08006', '08P01']) {
    assert.equal(isServerLost(said(code)), true, code)
  }
  for (const code of ['55P03', '57014', '40001', '40P01', '53300', '42P01']) {
    assert.equal(isServerLost(said(code)), false, code)
  }
})

test('an error of another socket does not count as the database’s', async () => {
  const ours = met('ECONNRESET')
  await assert.rejects(markTransient(Promise.reject(ours)), ours)
  assert.equal(isDatabaseUnavailable(ours), true)
  assert.equal(isDatabaseUnavailable(met('ECONNRESET')), false)
  const wrong = said('42P01')
  await assert.rejects(markTransient(Promise.reject(wrong)), wrong)
  assert.equal(isDatabaseUnavailable(wrong), false)
})
