// op upstreams against a real database, while another process serves.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { upstreamDefaults } from '../../../test/stages/data-plane.ts'
import { createTestDatabase, quiet, type TestDatabase } from '../../../test/support/harness.ts'
import { runProgram } from '../../../test/support/run-to-end.ts'
import { systemClock } from '../../platform/clock.ts'
import { newInstanceId } from '../../platform/ids.ts'
import { Masked } from '../../platform/masked.ts'
import { createUpstreams, type Upstreams } from '../../upstreams/upstreams.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  serving: undefined as unknown as Upstreams,
  directory: '',
}

const FILE = `upstreams:
  - { name: east, url: 'http://127.0.0.1:9', keys: ['env:EAST_1', 'env:EAST_2'], weight: 3 }
  - { name: west, url: 'http://127.0.0.1:9', keys: ['env:WEST'] }
`

/** The upstreams of a serving process; `gone` is no longer configured anywhere. */
function serving(): Upstreams {
  const names = ['east', 'west', 'gone']
  return createUpstreams({
    upstreams: names.map((name) => ({
      ...upstreamDefaults,
      name,
      url: 'http://127.0.0.1:9',
      keys: [new Masked(name)],
    })),
    db: at.database.db,
    instance: newInstanceId(),
    clock: systemClock,
    log: quiet,
  })
}

before(async () => {
  at.database = await createTestDatabase()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-op-'))
  await writeFile(join(at.directory, 'upstreams.yaml'), FILE)
  at.serving = serving()
  // Every second health check is reported.
  await at.serving.start()
  await at.serving.start()
})
after(async () => {
  await at.serving.close()
  await at.database.drop()
  await rm(at.directory, { recursive: true, force: true })
})

function op(args: string[], input = '') {
  const env = {
    DATABASE_URL: at.database.url,
    LEDGER_SPOOL_DIRECTORY: join(at.directory, 'spool'),
    UPSTREAM_FILE: join(at.directory, 'upstreams.yaml'),
    EAST_1: 'a',
    EAST_2: 'b',
    WEST: 'c',
  }
  return runProgram(['op', ...args], { env, input })
}

/** The operator's settings in the database: weight, drained, author. */
async function word(name: string) {
  const setting = (await at.serving.settings()).find((one) => one.name === name)
  return setting && [setting.weight, setting.isDrained, setting.changedBy]
}

const me = `${userInfo().username}@${hostname()}`

test('lists every credential with its state in all processes and its weight', async () => {
  const { code, out } = await op(['upstreams'])
  assert.equal(code, 0)
  const rows = out
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  assert.deepEqual(rows, [
    [
      ...['target', 'state', 'under way', 'succeeded', 'failed', 'first byte ms', 'weight'],
      ...['drained', 'processes'],
    ],
    ['east#1', 'serving', '0', '0', '0', '0', '3', 'no', '1'],
    ['east#2', 'unseen', '0', '0', '0', '0', '3', 'no', '0'],
    ['west#1', 'serving', '0', '0', '0', '0', '1', 'no', '1'],
    ['gone#1', 'serving, not configured here', '0', '0', '0', '0', '0', 'no', '1'],
  ])
})

test('the figures of today name the state of a credential as the list does', async () => {
  const { out } = await op(['today'])
  assert.match(out, /^east#1 +serving +0 /m)
  assert.match(out, /^east#2 +unseen +0 /m)
})

test('shows a change first and makes it only after a yes', async () => {
  const refused = await op(['upstreams', 'drain', 'east'], 'n\n')
  assert.deepEqual([refused.code, refused.out.trim()], [1, 'nothing was changed'])
  assert.match(refused.err, /east, 2 credentials, 0 requests under way/)
  assert.match(refused.err, /no new request.*\n.*in use remain: west\n/)
  const silent = await op(['upstreams', 'drain', 'east'])
  assert.deepEqual([silent.code, await word('east')], [1, undefined])
  const agreed = await op(['upstreams', 'drain', 'east'], 'yes\n')
  assert.equal(agreed.code, 0, agreed.err)
  assert.deepEqual(await word('east'), [null, true, me])
})

test('warns when the last upstream in use is drained', async () => {
  const { code, err } = await op(['upstreams', 'drain', 'west', '--yes'])
  assert.equal(code, 0)
  assert.match(err, /NO OTHER IS IN USE/)
  const again = await op(['upstreams', 'drain', 'west', '--yes'])
  assert.deepEqual([again.code, again.out.trim(), again.err], [0, 'west is so already', ''])
})

test('stores undrain and weight independently, and prints one JSON object', async () => {
  const back = await op(['--json', 'upstreams', 'undrain', 'east', '--yes'])
  const { act, ...rest } = JSON.parse(back.out)
  assert.match(act, /^\d+$/, 'the line it left')
  assert.deepEqual(rest, { isDone: true, name: 'east', weight: null, isDrained: false })
  const heavier = await op(['upstreams', 'weight', 'east', '7', '--yes', '--json'])
  assert.equal(JSON.parse(heavier.out).weight, 7)
  assert.match(heavier.err, new RegExp(`last changed by ${me}.*\\n.*becomes 7; now it is 3\\n`))
  assert.deepEqual(await word('east'), [7, false, me])
  const { out } = await op(['upstreams', '--json'])
  const [first] = JSON.parse(out).upstreams
  assert.deepEqual([first.target, first.weight, first.isDrained], ['east#1', 7, false])
})

test('an unknown name or invalid weight changes nothing', async () => {
  const unknown = await op(['upstreams', 'drain', 'north', '--yes'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.err, /no upstream north; there are: east, west\n/)
  const before = await word('west')
  for (const weight of ['1.5', '1000001']) {
    const { code } = await op(['upstreams', 'weight', 'west', weight, '--yes'])
    assert.notEqual(code, 0, weight)
  }
  assert.deepEqual(await word('west'), before)
})

test('adds, rotates, drains and removes a credential, and records each', async () => {
  const added = await op(['upstreams', 'add', 'east', 'spare', 'file:/nowhere/key', '--yes'])
  assert.equal(added.code, 0, added.err)
  assert.match(added.out, /east#spare: added; every process reads file:\/nowhere\/key within five/)
  const rotated = await op(['upstreams', 'rotate', 'east#spare', 'bearer:env:SPARE', '--yes'])
  assert.equal(rotated.code, 0, rotated.err)
  assert.match(rotated.err, /was read from file:\/nowhere\/key\n.*those under way go on/)
  const early = await op(['upstreams', 'remove', 'east#spare', '--yes'])
  assert.equal(early.code, 2)
  assert.match(early.err, /is in use, with 0 requests under way; drain it/)
  const drained = await op(['upstreams', 'drain', 'east#spare', '--yes'])
  assert.equal(drained.code, 0, drained.err)
  // Every second refresh writes what the process cannot read.
  await at.serving.start()
  await at.serving.start()
  const { out } = await op(['upstreams'])
  assert.match(out, /^east#spare +\w+ +0 +0 +0 +0 +7 +yes +1$/m)
  assert.match(out, /^east#spare: 1 processes cannot read it: env:SPARE: the variable is empty/m)
  const removed = await op(['upstreams', 'remove', 'east#spare', '--yes'])
  assert.equal(removed.code, 0, removed.err)
  const { rows } = await at.database.db.query(
    `select command from operator_acts where outcome = 'done' order by id desc limit 4`,
  )
  assert.deepEqual(
    (rows as { command: string }[]).map(({ command }) => command.split(' ')[1]),
    ['remove', 'drain', 'rotate', 'add'],
  )
})

test('the rotation of a credential in the file of the nodes can be taken back', async () => {
  const rotate = ['upstreams', 'rotate', 'east#1', 'env:NEW_KEY', '--yes']
  assert.equal((await op(rotate)).code, 0)
  assert.equal((await op(['upstreams', 'drain', 'east#1', '--yes'])).code, 0)
  const early = await op(['upstreams', 'remove', 'east#1', '--yes'])
  assert.equal(early.code, 2)
  assert.match(early.err, /east#1 is drained; undrain it first/)
  assert.equal((await op(['upstreams', 'undrain', 'east#1', '--yes'])).code, 0)
  const back = await op(['upstreams', 'remove', 'east#1', '--yes'])
  assert.equal(back.code, 0, back.err)
  assert.match(back.err, /was read from env:NEW_KEY\n.*the one that the file of each node names/)
  const lines = await at.serving.overview()
  assert.equal(lines.find(({ target }) => target === 'east#1')?.reference, null)
})

test('a credential is refused with a command, a secret or an unknown name', async () => {
  for (const [args, says] of [
    [['add', 'west', 'x', 'command:/bin/true'], /a command can only stand in the file of a node/],
    [['add', 'west', 'x', 'sk-secret'], /a reference is file:\/path or env:NAME/],
    [['add', 'west', 'x', 'file:key'], /a reference is file:\/path or env:NAME/],
    [['add', 'west', '7', 'env:X'], /a credential's name is a letter/],
    [['add', 'north', 'x', 'env:X'], /no upstream north; there are: east, west/],
    [['rotate', 'west#9', 'env:X'], /no credential west#9; there are: east#1, east#2, west#1/],
    [['remove', 'east#1'], /is in the file of the nodes/],
    [['weight', 'west#1', '3'], /all credentials of west have its weight/],
  ] as const) {
    const { code, err } = await op(['upstreams', ...args, '--yes'])
    assert.equal(code, 2, err)
    assert.match(err, says)
  }
})
