// A credential and its secret: files that change, commands that run again before a token expires,
// and what stays in use when they fail. Real files, variables and programs; the clock is manual.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createLog } from '../platform/log.ts'
import { Masked } from '../platform/masked.ts'
import { createCredential, isStorableReference, referenceProblem } from './credential.ts'

const at = { folder: '' }
before(async () => {
  at.folder = await mkdtemp(join(tmpdir(), 'tollgate-credential-'))
})
after(() => rm(at.folder, { recursive: true, force: true }))

function create(source: Masked<string> | string) {
  const clock = { ms: Date.parse('2026-11-17T00:00:00Z') }
  const lines: string[] = []
  const credential = createCredential({
    label: 'main#1',
    source,
    clock: { nowMs: () => clock.ms, spanMs: () => clock.ms },
    log: createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
  })
  return { ...credential, clock, lines }
}

const place = (name: string) => join(at.folder, name)

/** A program that prints the file `name.out` and ends with the code in `name.code`. */
async function program(name: string, output: object | string, code = 0): Promise<string> {
  await writeFile(
    place(`${name}.out`),
    typeof output === 'string' ? output : JSON.stringify(output),
  )
  await writeFile(
    place(name),
    `#!/bin/sh\necho run >> ${place(name)}.runs\ncat ${place(name)}.out\nexit ${code}\n`,
  )
  await chmod(place(name), 0o755)
  return `bearer:command:${place(name)}`
}

test('a secret of the settings is used at once, as x-api-key', () => {
  const credential = create(new Masked('sk-one'))
  assert.ok(credential.isUsable())
  assert.deepEqual(credential.header(), ['x-api-key', 'sk-one'])
})

test('a changed file is used, and the secret before still counts as one', async () => {
  await writeFile(place('key'), 'sk-one\n')
  const credential = create(`file:${place('key')}`)
  assert.ok(!credential.isUsable(), 'not before it is read')
  await credential.refresh()
  assert.deepEqual(credential.header(), ['x-api-key', 'sk-one'])
  await writeFile(place('key'), 'sk-second\n')
  await credential.refresh()
  assert.deepEqual(credential.header(), ['x-api-key', 'sk-second'])
  assert.deepEqual(credential.secrets(), ['sk-second', 'sk-one'])
})

test('a file that comes back unchanged has no problem any more', async () => {
  await writeFile(place('back'), 'sk-back')
  const credential = create(`file:${place('back')}`)
  await credential.refresh()
  await rename(place('back'), place('away'))
  await credential.refresh()
  assert.match(credential.problem() ?? '', /ENOENT/)
  await rename(place('away'), place('back'))
  await credential.refresh()
  assert.equal(credential.problem(), undefined)
})

test('a file that is lost or empty leaves its secret in use, and is logged once', async () => {
  await writeFile(place('lost'), 'sk-lost')
  const credential = create(`bearer:file:${place('lost')}`)
  await credential.refresh()
  await rm(place('lost'))
  for (let i = 0; i < 3; i += 1) await credential.refresh()
  assert.ok(credential.isUsable())
  assert.deepEqual(credential.header(), ['authorization', 'Bearer sk-lost'])
  assert.match(credential.problem() ?? '', /the file cannot be read: ENOENT/)
  assert.equal(credential.failures(), 3)
  assert.equal(credential.lines.length, 1)
  await writeFile(place('lost'), ' \n')
  await credential.refresh()
  assert.match(credential.problem() ?? '', /it contains no credential/)
  await writeFile(place('lost'), 'sk-found')
  await credential.refresh()
  assert.equal(credential.problem(), undefined)
  assert.deepEqual(credential.header(), ['authorization', 'Bearer sk-found'])
})

test('a token of a file is not used after its expiry', async () => {
  const credential = create(`bearer:file:${place('token.json')}`)
  const expires_at = new Date(credential.clock.ms + 60_000).toISOString()
  await writeFile(place('token.json'), JSON.stringify({ token: 'short', expires_at }))
  await credential.refresh()
  assert.ok(credential.isUsable())
  credential.clock.ms += 60_000
  await credential.refresh()
  assert.ok(!credential.isUsable())
  assert.equal(credential.problem(), 'its token has expired')
})

test('a command runs again before its token expires, and not earlier', async () => {
  const reference = await program('renew', { access_token: 'one', expires_in: 3_600 })
  const credential = create(reference)
  const runs = async () => readFile(`${place('renew')}.runs`, 'utf8')
  await credential.refresh()
  credential.clock.ms += 3_299_000
  await credential.refresh()
  assert.equal((await runs()).length, 'run\n'.length)
  await program('renew', { access_token: 'two', expires_in: 3_600 })
  credential.clock.ms += 1_000
  await credential.refresh()
  assert.deepEqual(credential.header(), ['authorization', 'Bearer two'])
})

test('when a command fails, its token stays until it expires; no output is logged', async () => {
  const reference = await program('fails', { token: 'tok-secret', expires_in: 100 })
  const credential = create(reference)
  await credential.refresh()
  await program('fails', 'tok-printed', 3)
  credential.clock.ms += 90_000
  await credential.refresh()
  assert.ok(credential.isUsable())
  assert.match(credential.problem() ?? '', /the command ended with 3$/)
  // The next attempt comes ten seconds later.
  await program('fails', { token: 'never read', expires_in: 100 })
  credential.clock.ms += 9_999
  await credential.refresh()
  assert.deepEqual(credential.header(), ['authorization', 'Bearer tok-secret'])
  credential.clock.ms += 1
  assert.ok(!credential.isUsable(), 'expired')
  await program('fails', '{"token": "tok-broken"')
  await credential.refresh()
  assert.match(credential.problem() ?? '', /not valid JSON/)
  assert.equal(credential.lines.length, 2)
  assert.doesNotMatch(credential.lines.join(), /tok-/)
})

test('a command that hangs or prints too much is ended', { timeout: 30_000 }, async () => {
  await writeFile(place('hang'), '#!/bin/sh\nsleep 60\n')
  await writeFile(place('flood'), '#!/bin/sh\nyes\n')
  for (const name of ['hang', 'flood']) await chmod(place(name), 0o755)
  const flood = create(`command:${place('flood')}`)
  await flood.refresh()
  assert.match(flood.problem() ?? '', /the command ended with ERR_CHILD_PROCESS_STDIO_MAXBUFFER/)
  const hang = create(`command:${place('hang')}`)
  const fromMs = performance.now()
  await hang.refresh()
  assert.ok(performance.now() - fromMs < 20_000)
  assert.match(hang.problem() ?? '', /the command ended with SIGKILL/)
})

test('a rotated credential keeps the old secret until the new one is read', async () => {
  await writeFile(place('old'), 'sk-old')
  const credential = create(`file:${place('old')}`)
  await credential.refresh()
  credential.rotate(`bearer:file:${place('new')}`)
  await credential.refresh()
  assert.deepEqual(credential.header(), ['x-api-key', 'sk-old'])
  assert.match(credential.problem() ?? '', /ENOENT/)
  await writeFile(place('new'), 'tok-new')
  await credential.refresh()
  assert.deepEqual(credential.header(), ['authorization', 'Bearer tok-new'])
  assert.equal(credential.problem(), undefined)
})

test('what could end a header is not a credential', async () => {
  await writeFile(place('bad'), 'sk-one\r\nx-other: 1')
  const credential = create(`file:${place('bad')}`)
  await credential.refresh()
  assert.ok(!credential.isUsable())
  assert.match(credential.problem() ?? '', /it contains no credential/)
})

test('a pipe, a device, a folder or a large file is refused', { timeout: 10_000 }, async () => {
  execFileSync('mkfifo', [place('pipe')])
  await writeFile(place('large'), 'x'.repeat(65_537))
  for (const [path, expected] of [
    [place('pipe'), /it is not a regular file$/],
    ['/dev/zero', /it is not a regular file$/],
    [at.folder, /it is not a regular file$/],
    [place('large'), /it has more than 65536 bytes$/],
  ] as const) {
    assert.match(referenceProblem(`bearer:file:${path}`) ?? '', /is empty, absent or not a regular/)
    const credential = create(`file:${path}`)
    await credential.refresh()
    assert.ok(!credential.isUsable())
    assert.match(credential.problem() ?? '', expected)
  }
})

test('before the start, what could end a header is found, and no command is run', async () => {
  await writeFile(place('ended'), 'sk-one\r\nx-other: 1\n')
  await writeFile(place('good'), 'sk-one\n')
  await writeFile(place('json'), '{"token": "sk-one", "expires_in": 60}\n')
  assert.match(referenceProblem(`file:${place('ended')}`) ?? '', /characters that no header/)
  assert.match(referenceProblem('env:TOLLGATE_NO_SUCH_VARIABLE') ?? '', /is empty, absent/)
  for (const name of ['good', 'json']) {
    assert.equal(referenceProblem(`bearer:file:${place(name)}`), undefined)
  }
  assert.equal(referenceProblem('command:/no/such/program'), undefined)
})

test('only a variable or an absolute path can be stored in the database', () => {
  for (const good of ['env:KEY_2', 'file:/run/keys/a b', 'bearer:file:/k', 'bearer:env:_K']) {
    assert.ok(isStorableReference(good), good)
  }
  const bad = ['command:/bin/true', 'bearer:command:/bin/true', 'bearer:bearer:env:K', 'env:', 'k']
  for (const one of [
    ...bad,
    'file:key',
    'file:../key',
    'env:A B',
    'env:K\ncommand:/x',
    'file:/a\n',
  ]) {
    assert.ok(!isStorableReference(one), one)
  }
})

test('an absent variable is a problem', async () => {
  const credential = create('env:TOLLGATE_NO_SUCH_VARIABLE')
  await credential.refresh()
  assert.match(credential.problem() ?? '', /the variable is empty or absent/)
})
