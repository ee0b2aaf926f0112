// Credentials that the operator changes while a process serves: added, rotated, drained, removed,
// and what happens to those that cannot be read. A real database, real files, the vendor stand-in.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openUpstreamPeers } from '../../test/stages/upstream-peers.ts'
import { quiet } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { type BookId, newInstanceId } from '../platform/ids.ts'
import { Masked } from '../platform/masked.ts'
import type { Target } from './port.ts'
import { createUpstreams, type Upstreams } from './upstreams.ts'

const at = openUpstreamPeers()

/** The upstreams of one process: one upstream with one configured credential. */
function create(name: string): Upstreams {
  return createUpstreams({
    upstreams: [
      {
        name,
        url: at.vendor.url,
        keys: [new Masked(at.vendor.keys[0] as string)],
        models: [],
        priority: 1,
        weight: 1,
        connections: 16,
        http2: false,
        queueTimeoutMs: 5_000,
        connectTimeoutMs: 5_000,
        keepAliveMs: 5_000,
        connectionMaxAgeMs: 60_000,
        headersTimeoutMs: 5_000,
        streamHeadersTimeoutMs: 5_000,
        idleTimeoutMs: 5_000,
        temperatureMax: 1,
      },
    ],
    db: at.database.db,
    instance: newInstanceId(),
    clock: systemClock,
    log: quiet,
  })
}

/** All targets that a request would try now. */
function targetsOf(upstreams: Upstreams): Target[] {
  const route = upstreams.route('/v1/messages', 7n as BookId, 'any', 1)
  const found: Target[] = []
  for (let one = route.next(); one !== undefined; one = route.next()) found.push(one)
  return found
}

/** Sends a request; resolves when its reply is over. */
async function ask(target: Target): Promise<void> {
  const over = Promise.withResolvers<void>()
  const { outcome } = target.send(
    {
      book: 7n as BookId,
      holder: { onShed: undefined },
      model: 'any',
      path: '/v1/messages',
      headers: ['content-type', 'application/json', 'anthropic-version', '2023-06-01'],
      body: [Buffer.from('{}')],
      isStream: false,
      untilMs: Number.POSITIVE_INFINITY,
    },
    {
      head: () => undefined,
      data: () => undefined,
      end: over.resolve,
      fail: over.reject,
    },
  )
  await over.promise
  outcome.end()
}

test('a credential is added, rotated, drained and removed without a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-upstreams-'))
  const [firstKey = '', secondKey = ''] = at.vendor.keys
  await writeFile(join(folder, 'added'), firstKey)
  await writeFile(join(folder, 'rotated'), secondKey)
  const upstreams = create('live')
  const target = 'live#spare'
  const reference = `file:${join(folder, 'added')}`
  const labels = () => upstreams.credentials().map((one) => one.target)
  try {
    await upstreams.start()
    assert.equal(targetsOf(upstreams).length, 1)
    await upstreams.changeCredential({ target, reference, isDrained: null, by: 'anna' })
    await upstreams.start()
    assert.deepEqual(labels(), ['live#1', target])
    assert.equal(targetsOf(upstreams).length, 2)

    // Rotated: new requests have the new secret, on both paths.
    const rotated = `bearer:file:${join(folder, 'rotated')}`
    await upstreams.changeCredential({ target, reference: rotated, isDrained: null, by: 'anna' })
    await upstreams.start()
    at.vendor.clear()
    for (const one of targetsOf(upstreams)) await ask(one)
    const sent = at.vendor.requests.map(({ rawHeaders }) => rawHeaders.join(' '))
    assert.equal(sent.filter((headers) => headers.includes(`Bearer ${secondKey}`)).length, 1)
    assert.equal(upstreams.withoutSecrets(`${firstKey} ${secondKey}`, {}), '*** ***')

    await upstreams.changeCredential({ target, reference: null, isDrained: true, by: 'boris' })
    await upstreams.start()
    assert.equal(targetsOf(upstreams).length, 1)
    const line = (await upstreams.overview()).find((one) => one.target === target)
    assert.deepEqual(
      [line?.isDrained, line?.isAdded, line?.reference, line?.changedBy],
      [true, true, rotated, 'boris'],
    )

    await upstreams.removeCredential(target)
    await upstreams.start()
    assert.deepEqual(labels(), ['live#1'])
  } finally {
    await upstreams.close()
    await rm(folder, { recursive: true, force: true })
  }
})

test('a reference that cannot be read here is reported, and everything else works', async () => {
  const upstreams = create('partly')
  const target = 'partly#lost'
  await upstreams.changeCredential({
    target,
    reference: 'file:/nowhere/key',
    isDrained: null,
    by: 'anna',
  })
  try {
    // What processes cannot read is written at every second refresh.
    await upstreams.start()
    await upstreams.start()
    assert.equal(targetsOf(upstreams).length, 1)
    const line = (await upstreams.overview()).find((one) => one.target === target)
    const problem = 'file:/nowhere/key: the file cannot be read: ENOENT'
    assert.deepEqual(line?.problems, [{ problem, processes: 1 }])
    const credential = upstreams.credentials().find((one) => one.target === target)
    assert.equal(credential?.isUsable, false)
  } finally {
    await upstreams.removeCredential(target)
    await upstreams.close()
  }
})

test('a rotation does not bring back what the file no longer lists', async () => {
  const upstreams = create('shorter')
  const change = { target: 'shorter#2', reference: 'env:PATH', isDrained: null, by: 'anna' }
  await upstreams.changeCredential(change)
  await upstreams.start()
  assert.deepEqual(
    upstreams.credentials().map((one) => one.target),
    ['shorter#1'],
  )
  await upstreams.close()
})

test('the database stores no command and no secret', async () => {
  const upstreams = create('strict')
  for (const reference of ['command:/bin/true', 'bearer:command:/bin/true', 'sk-a-secret']) {
    const change = { target: 'strict#x', reference, isDrained: null, by: 'anna' }
    await assert.rejects(upstreams.changeCredential(change), /reference_is_a_variable_or_file/)
  }
  await upstreams.close()
})

test('a command in the database is not run, also without the constraint against it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-upstreams-'))
  const upstreams = create('guarded')
  await at.database.db.query(
    `alter table upstream_credentials
       drop constraint upstream_credentials_reference_is_a_variable_or_file`,
  )
  for (const name of ['1', 'x']) {
    const reference = `command:/bin/touch ${join(folder, name)}`
    const target = `guarded#${name}`
    await upstreams.changeCredential({ target, reference, isDrained: null, by: 'anna' })
  }
  try {
    await upstreams.start()
    assert.deepEqual(await readdir(folder), [])
    assert.deepEqual(
      upstreams.credentials().map((one) => one.target),
      ['guarded#1'],
    )
  } finally {
    await upstreams.close()
    await rm(folder, { recursive: true, force: true })
  }
})
