// op secrets: what each secret made, and which keys.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { createTestKeys, keySettings } from '../../test/support/harness.ts'
import { Masked } from '../platform/masked.ts'
import { secretVersionsOf } from '../platform/secret-versions.ts'

let stage: OperatorStage
before(async () => {
  stage = await createOperatorStage()
})
after(() => stage.end())

const BOTH = new Masked(`2:its successor,1:${keySettings.tagSecret.reveal()}`)
const inSuccession = secretVersionsOf(BOTH)

test('op secrets list counts what each secret made, and says what is accepted', async () => {
  const owner = await stage.person('holder')
  const made = createTestKeys(stage.db, stage.ledger, { tagSecret: BOTH })
  const other = await stage.ledger.createBook(stage.db)
  const old = createTestKeys(stage.db, stage.ledger)
  await stage.db.transaction((tx) => old.issue(tx, owner.book))
  await stage.db.transaction((tx) => made.issue(tx, other))

  const lookup = secretVersionsOf(keySettings.lookupSecret)
  const changes = { keySecrets: { tag: inSuccession, lookup } }
  const listed = await stage.op(['secrets', 'list'], undefined, changes)
  assert.equal(listed.code, 0)
  assert.match(listed.out, /keys\.tagSecret +1 +issued keys +1 +accepted/)
  assert.match(listed.out, /keys\.tagSecret +2 +issued keys +1 +makes/)
  assert.match(listed.out, /accounts\.secret +1 +sessions +1 +not read by op/)
  assert.match(listed.out, /keys\.tagSecret is in succession: 2 makes, 1 is accepted too/)

  const without = await stage.op(['secrets', 'list'])
  assert.equal(without.code, 1, 'keys are under a secret that is not accepted here')
  assert.match(without.out, /keys\.tagSecret +2 +issued keys +1 +not accepted/)
})

test('op secrets keys lists the keys of a secret with their owners', async () => {
  const { out } = await stage.op(['secrets', 'keys', 'tag', '1'])
  assert.match(out, /^key_\S+ .* pending .*holder@/m)
  assert.equal((await stage.op(['secrets', 'keys', 'lookup', '1'])).out.trim(), 'no current key')
  assert.equal((await stage.op(['secrets', 'keys', 'accounts', '1'])).code, 2)
  assert.equal((await stage.op(['secrets', 'keys', 'tag', 'first'])).code, 2)
})
