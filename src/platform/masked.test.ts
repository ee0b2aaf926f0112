// A masked secret, printed in every way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { Masked } from './masked.ts'

const CANARY = 'canary-3f9a'

test('a masked secret prints as dots in every ordinary way', () => {
  const secret = new Masked(CANARY)
  const printed = [
    String(secret),
    `${secret}`,
    JSON.stringify({ deep: [secret] }),
    inspect({ secret }, { showHidden: true, depth: 9 }),
    format('%s %o %j', secret, secret, secret),
    JSON.stringify({ ...secret }),
    Object.values(secret).join(),
  ].join('\n')
  assert.equal(printed.includes(CANARY), false)
  assert.match(printed, /••••/)
})

test('only reveal returns the secret', () => {
  assert.equal(new Masked(CANARY).reveal(), CANARY)
})
