// Which errors of the database pass by themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPassing } from './away.ts'

test('a lost connection, want of room and a failed disk pass; a wrong statement does not', () => {
  const said = (code: string) => Object.assign(new Error('a test'), { code, severity: 'ERROR' })
  for (const code of ['08006', '53300', '57P01', '58030', 'XX000', 'XX002', '55P03']) {
    assert.equal(isPassing(said(code)), true, code)
  }
  for (const code of ['22012', '23505', '42883', '42P01', '26000']) {
    assert.equal(isPassing(said(code)), false, code)
  }
})
