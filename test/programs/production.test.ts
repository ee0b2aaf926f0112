// What production refuses at its start, asked of real processes on a database that was only
// migrated: prices of the example, no seller, no legal pages, lines without TLS.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { writeDocuments } from '../stages/cabinet.ts'
import { startServed } from '../stages/served/served.ts'
import { createTestDatabase, keySettings, type TestDatabase } from '../support/harness.ts'

const root = join(import.meta.dirname, '../..')
/** A refusal takes two seconds; beside a build on two cores, ten times that. */
const REFUSAL_MS_MAX = 30_000
const place = { database: undefined as unknown as TestDatabase, directory: '', documents: '' }

before(async () => {
  place.database = await createTestDatabase()
  place.directory = await mkdtemp(join(tmpdir(), 'tollgate-production-'))
  place.documents = await writeDocuments(place.directory)
})
after(async () => {
  await place.database.drop()
  await rm(place.directory, { recursive: true, force: true })
})

type Environment = Readonly<Record<string, string>>

/** All that production asked for before; an empty value counts as absent. */
function environment(more: Environment): Environment {
  return {
    PATH: process.env.PATH ?? '',
    TOLLGATE_MODE: 'production',
    DATABASE_URL: place.database.url,
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
    ACCOUNTS_SECRET: 'a secret of the accounts of more than 32 bytes',
    BRAND_SUPPORT_EMAIL: 'help@example.org',
    BRAND_CABINET_URL: 'https://cabinet.example.org',
    BRAND_REQUISITES: 'Example Ltd',
    BRAND_DOCUMENTS_FILE: place.documents,
    GATEWAY_PUBLIC_URL: 'https://api.example.org',
    UPSTREAM_URL: 'https://upstream.example.org',
    UPSTREAM_KEY: 'our credential',
    LEDGER_SPOOL_DIRECTORY: join(place.directory, 'spool'),
    MAIL_SMTP_URL: 'smtp://relay.example.org',
    MAIL_FROM: 'Gate <letters@example.org>',
    YOOKASSA_URL: 'https://api.example.org/v3',
    YOOKASSA_SHOP_ID: '54401',
    YOOKASSA_SECRET_KEY: 'live_key',
    GATEWAY_PORT: '0',
    GATEWAY_PROCESSES: '1',
    CABINET_PORT: '0',
    METRICS_PORT: '0',
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
    ...more,
  }
}

/** A command that ends by itself; one that serves instead is ended, and has no code. */
function run(args: readonly string[], more: Environment = {}) {
  const options = { cwd: root, env: environment(more), timeout: REFUSAL_MS_MAX }
  return new Promise<{ code: unknown; said: string }>((resolve) => {
    execFile(process.execPath, ['src/main.ts', ...args], options, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, said: `${out}${err}` }),
    )
  })
}

async function assertServes(more: Environment): Promise<void> {
  const served = await startServed('cabinet', environment(more), /"serving the cabinet"/)
  await served.stop()
}

const example = join(root, 'catalogue.example.yaml')
const copy = () => join(place.directory, 'copy.yaml')
const own = () => join(place.directory, 'catalogue.yaml')
const versions = async () =>
  (await place.database.db.query('select version from catalogue_versions')).rows.length

test('no role starts an empty shop with the prices of the example', async () => {
  for (const role of ['cabinet', 'work', 'serve']) {
    const ended = await run([role])
    assert.match(ended.said, /^catalogue\.file: .*, or set allow\.exampleCatalogue$/m, role)
    assert.equal(ended.code, 2, role)
    assert.doesNotMatch(ended.said, /^ +at |a process died/m, role)
  }
  assert.equal(await versions(), 0)
})

test('the prices of the example are refused under every name, and with new titles', async () => {
  const text = await readFile(example, 'utf8')
  const titled = text.replaceAll('displayName: ', 'displayName: My ').replaceAll(/ *#.*\n/g, '')
  await writeFile(copy(), titled.replaceAll('million credits', 'million'))
  for (const file of ['./catalogue.example.yaml', example, copy()]) {
    const ended = await run(['cabinet'], { CATALOGUE_FILE: file })
    assert.match(ended.said, /^catalogue\.file: .*priceKopecks.*, or set allow\.example/m, file)
    assert.equal(ended.code, 2, file)
  }
  const absent = await run(['cabinet'], { CATALOGUE_FILE: join(place.directory, 'absent.yaml') })
  assert.match(absent.said, /absent\.yaml: cannot be read: ENOENT$/m)
  assert.equal(absent.code, 2)
  assert.equal(await versions(), 0)
})

test('a shop starts with its own prices, with those in force, and where it is meant', async () => {
  const text = await readFile(example, 'utf8')
  await writeFile(own(), text.replace('priceKopecks: 130000', 'priceKopecks: 140000'))
  await assertServes({ CATALOGUE_FILE: own() })
  assert.equal(await versions(), 1)
  await assertServes({})
  const { database } = place
  try {
    place.database = await createTestDatabase()
    await assertServes({ ALLOW_EXAMPLE_CATALOGUE: 'true' })
    await place.database.drop()
    place.database = await createTestDatabase()
    const applied = await run(['op', 'catalogue', 'apply', own(), '--yes'])
    assert.equal(applied.code, 0, applied.said)
    await assertServes({})
  } finally {
    await place.database.drop()
    place.database = database
  }
})

test('everything that is missing is said at once, by every command', async () => {
  const missing = {
    BRAND_REQUISITES: '',
    BRAND_DOCUMENTS_FILE: '',
    UPSTREAM_URL: 'http://upstream.example.org',
    MAIL_SMTP_URL: 'smtp://relay.example.org?starttls=never',
  }
  for (const command of [['config', 'check'], ['migrate'], ['serve'], ['work'], ['cabinet']]) {
    const { code, said } = await run(command, missing)
    assert.equal(code, 2, command.join(' '))
    const names = said.split('\n').map((line) => /^[\w.]+/.exec(line)?.[0])
    const expected = ['brand.requisites', 'brand.documentsFile', 'mail.smtpUrl', 'upstream.url']
    assert.deepEqual(names.filter(Boolean).toSorted(), expected.toSorted(), said)
  }
})

test('a file that lists no legal pages is none, and takes the same flag', async () => {
  const file = join(place.directory, 'empty.yaml')
  await writeFile(file, 'documents: []\n')
  const without = { BRAND_DOCUMENTS_FILE: file, CATALOGUE_FILE: own() }
  const { code, said } = await run(['cabinet'], without)
  assert.match(said, /^brand\.documentsFile: .*empty\.yaml .*, or set allow\.noDocuments$/m)
  assert.equal(code, 2, said)
  await assertServes({ ...without, ALLOW_NO_DOCUMENTS: 'true' })
})

test('a list of upstreams is held to the same rule', async () => {
  const file = join(place.directory, 'upstreams.yaml')
  const line = (name: string, url: string) => `  - { name: ${name}, url: "${url}", keys: [env:K] }`
  const urls = { far: 'http://10.0.0.7:8090', near: 'http://127.0.0.1:8090', safe: 'https://x.org' }
  const lines = Object.entries(urls).map(([name, url]) => line(name, url))
  await writeFile(file, `upstreams:\n${lines.join('\n')}\n`)
  const listed = { UPSTREAM_FILE: file, K: 'our credential', CATALOGUE_FILE: own() }
  const { code, said } = await run(['cabinet'], listed)
  assert.equal(code, 2, said)
  assert.match(said, /upstreams\.yaml: far .*, or set allow\.plainUpstreams$/m)
  await assertServes({ ...listed, ALLOW_PLAIN_UPSTREAMS: 'true' })
})
