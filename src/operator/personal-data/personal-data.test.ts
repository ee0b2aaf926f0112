// op export and op erase as the operator's database role, which may read and erase but not insert
// rows of other modules. npm run faults -- erasure searches what an erasure leaves.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'

const at = { stage: undefined as unknown as OperatorStage, directory: '' }
before(async () => {
  at.stage = await createOperatorStage()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-papers-'))
})
after(async () => {
  await at.stage.end()
  await rm(at.directory, { recursive: true, force: true })
})

const because = ['--reason', 'letter of 12 March', '--yes']

test('everything about a person is in one file that only its writer may read', async () => {
  const { email } = await at.stage.person('anna')
  const file = join(at.directory, 'anna.json')
  const { code, all } = await at.stage.op(['export', email, '--file', file, ...because])
  assert.equal(code, 0, all)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const copy = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
  assert.equal(copy.isWhole, true)
  const limits = { dayLimit: null, velocity: null }
  assert.deepEqual(copy.guards, { ...limits, lowCredits: null, lowDays: 3 })
})

test('an open account is not erased, and the refusal has the command that closes it', async () => {
  const { email } = await at.stage.person('boris')
  const refused = await at.stage.op(['erase', email, ...because])
  assert.equal(refused.code, 1)
  const [, account] = /close it first: op close (acc_[\w-]+) --reason …/.exec(refused.err) ?? []
  assert.ok(account !== undefined, refused.err)
  assert.equal((await at.stage.op(['close', account, ...because])).code, 0)
  const closing = await at.stage.op(['erase', account, ...because])
  assert.match(closing.err, /is closing: op closings says what it waits for/)
  const found = await at.stage.op(['find', account])
  assert.match(found.out, /^closing +since .* UTC, begun by the operator: op closings$/m)
  assert.match(found.out, /^book +\d+, it takes no requests$/m)
})
