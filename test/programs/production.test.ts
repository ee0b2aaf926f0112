// What production refuses at its start, tested with real processes on an empty migrated database:
// the example's prices, no seller, no legal pages, connections without TLS.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { writeDocuments } from '../stages/cabinet.ts'
import { startServed } from '../stages/served/served.ts'
import { createTestDatabase, keySettings, type TestDatabase } from '../support/harness.ts'
import { runProgram } from '../support/run-to-end.ts'

const root = join(import.meta.dirname, '../..')
/** A refusal takes two seconds; while a build runs on the same two cores, ten times that. */
const REFUSAL_MS_MAX = 30_000
const setup = { database: undefined as unknown as TestDatabase, directory: '', documents: '' }

before(async () => {
  setup.database = await createTestDatabase()
  setup.directory = await mkdtemp(join(tmpdir(), 'tollgate-production-'))
  setup.documents = await writeDocuments(setup.directory)
})
after(async () => {
  await setup.database.drop()
  await rm(setup.directory, { recursive: true, force: true })
})

type Environment = Readonly<Record<string, string>>

/** Of the secrets below, those that the gateway must not have. */
const NOT_OF_SERVE = [
  ...['ACCOUNTS_SECRET', 'OPERATORS_SECRET', 'PAYMENTS_DIGEST_SECRET', 'YOOKASSA_SECRET_KEY'],
]

/** Every setting that production requires, except prices; an empty value counts as absent. */
function environment(more: Environment, command = ''): Environment {
  const without = command === 'serve' ? NOT_OF_SERVE.map((name) => [name, '']) : []
  return {
    PATH: process.env.PATH ?? '',
    TOLLGATE_MODE: 'production',
    DATABASE_URL: setup.database.url,
    KEYS_TAG_SECRET: keySettings.tagSecret.reveal(),
    KEYS_LOOKUP_SECRET: keySettings.lookupSecret.reveal(),
    ACCOUNTS_SECRET: 'a secret of the accounts of more than 32 bytes',
    OPERATORS_SECRET: 'a secret of the operators of more than 32 bytes',
    PAYMENTS_DIGEST_SECRET: 'a secret of the digests of more than 32 bytes',
    BRAND_SUPPORT_EMAIL: 'help@example.org',
    BRAND_CABINET_URL: 'https://cabinet.example.org',
    BRAND_REQUISITES: 'Example Ltd',
    BRAND_DOCUMENTS_FILE: setup.documents,
    GATEWAY_PUBLIC_URL: 'https://api.example.org',
    UPSTREAM_URL: 'https://upstream.example.org',
    UPSTREAM_KEY: 'our-credential',
    LEDGER_SPOOL_DIRECTORY: join(setup.directory, 'spool'),
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
    ...Object.fromEntries(without),
    ...more,
  }
}

/** Runs a command until it exits. One that serves instead is killed, and has no exit code. */
async function run(args: readonly string[], more: Environment = {}) {
  const given = { env: environment(more, args[0]), limitMs: REFUSAL_MS_MAX }
  const { code, out, err } = await runProgram(args, given)
  return { code, output: `${out}${err}` }
}

async function assertServes(more: Environment): Promise<void> {
  const served = await startServed('cabinet', environment(more), /"serving the cabinet"/)
  await served.stop()
}

const example = join(root, 'catalogue.example.yaml')
const copy = () => join(setup.directory, 'copy.yaml')
const own = () => join(setup.directory, 'catalogue.yaml')
const versions = async () =>
  (await setup.database.db.query('select version from catalogue_versions')).rows.length

test('no role starts on an empty database with the prices of the example', async () => {
  for (const role of ['cabinet', 'work', 'serve']) {
    const ended = await run([role])
    assert.match(ended.output, /^catalogue\.file: .*, or set allow\.exampleCatalogue$/m, role)
    assert.equal(ended.code, 2, role)
    assert.doesNotMatch(ended.output, /^ +at |a process died/m, role)
  }
  assert.equal(await versions(), 0)
})

test('refuses the prices of the example under every file name, and with new titles', async () => {
  const text = await readFile(example, 'utf8')
  const titled = text.replaceAll('Large', 'Vast').replaceAll(/ *#.*\n/g, '')
  await writeFile(copy(), titled.replaceAll('million credits', 'million'))
  for (const file of ['./catalogue.example.yaml', example, copy()]) {
    const ended = await run(['cabinet'], { CATALOGUE_FILE: file })
    assert.match(ended.output, /^catalogue\.file: .*priceKopecks.*, or set allow\.example/m, file)
    assert.equal(ended.code, 2, file)
  }
  const absent = await run(['cabinet'], { CATALOGUE_FILE: join(setup.directory, 'absent.yaml') })
  assert.match(absent.output, /absent\.yaml: cannot be read: ENOENT$/m)
  assert.equal(absent.code, 2)
  assert.equal(await versions(), 0)
})

test('does not start to sell below the costs in the vendor price list', async () => {
  const text = await readFile(example, 'utf8')
  await writeFile(copy(), text.replace('priceKopecks: 130000', 'priceKopecks: 140000'))
  const vendor = { CATALOGUE_VENDOR_PRICES_FILE: join(root, 'vendor-prices.example.yaml') }
  const ended = await run(['cabinet'], { CATALOGUE_FILE: copy(), ...vendor })
  assert.match(ended.output, /^catalogue\.file: .* sells input of model-large below cost; see op /m)
  assert.equal(ended.code, 2)
  assert.equal(await versions(), 0)
})

test('starts with prices in a file, prices in the database, or the allow flag', async () => {
  const text = await readFile(example, 'utf8')
  await writeFile(own(), text.replace('priceKopecks: 130000', 'priceKopecks: 140000'))
  await assertServes({ CATALOGUE_FILE: own() })
  assert.equal(await versions(), 1)
  await assertServes({})
  const { database } = setup
  try {
    setup.database = await createTestDatabase()
    await assertServes({ ALLOW_EXAMPLE_CATALOGUE: 'true' })
    await setup.database.drop()
    setup.database = await createTestDatabase()
    const applied = await run(['op', 'catalogue', 'apply', own(), '--yes'])
    assert.equal(applied.code, 0, applied.output)
    await assertServes({})
  } finally {
    await setup.database.drop()
    setup.database = database
  }
})

test('every command reports all missing settings at once', async () => {
  const missing = {
    BRAND_REQUISITES: '',
    BRAND_DOCUMENTS_FILE: '',
    UPSTREAM_URL: 'http://upstream.example.org',
    MAIL_SMTP_URL: 'smtp://relay.example.org?starttls=never',
  }
  for (const command of [['config', 'check'], ['migrate'], ['serve'], ['work'], ['cabinet']]) {
    const { code, output } = await run(command, missing)
    assert.equal(code, 2, command.join(' '))
    const names = output.split('\n').map((line) => /^[\w.]+/.exec(line)?.[0])
    // The address of the relay is a secret of those who send e-mails.
    const mail = ['config', 'work'].includes(command[0] ?? '') ? ['mail.smtpUrl'] : []
    const expected = ['brand.requisites', 'brand.documentsFile', 'upstream.url', ...mail]
    assert.deepEqual(names.filter(Boolean).toSorted(), expected.toSorted(), output)
  }
})

test('the gateway refuses to start with the secrets of other programs', async () => {
  const given = Object.fromEntries(NOT_OF_SERVE.map((name) => [name, environment({})[name] ?? '']))
  const { code, output } = await run(['serve'], given)
  assert.equal(code, 2, output)
  for (const name of NOT_OF_SERVE) {
    assert.match(output, new RegExp(`\\(${name}\\): serve faces the internet .* remove it`))
  }
})

test('refuses a file without legal pages unless allow.noDocuments is set', async () => {
  const file = join(setup.directory, 'empty.yaml')
  await writeFile(file, 'documents: []\n')
  const without = { BRAND_DOCUMENTS_FILE: file, CATALOGUE_FILE: own() }
  const { code, output } = await run(['cabinet'], without)
  assert.match(output, /^brand\.documentsFile: .*empty\.yaml .*, or set allow\.noDocuments$/m)
  assert.equal(code, 2, output)
  await assertServes({ ...without, ALLOW_NO_DOCUMENTS: 'true' })
})

test('refuses upstreams without TLS in the upstreams file too', async () => {
  const file = join(setup.directory, 'upstreams.yaml')
  const line = (name: string, url: string) => `  - { name: ${name}, url: "${url}", keys: [env:K] }`
  const urls = { far: 'http://10.0.0.7:8090', near: 'http://127.0.0.1:8090', safe: 'https://x.org' }
  const lines = Object.entries(urls).map(([name, url]) => line(name, url))
  await writeFile(file, `upstreams:\n${lines.join('\n')}\n`)
  const listed = { UPSTREAM_FILE: file, K: 'our-credential', CATALOGUE_FILE: own() }
  const { code, output } = await run(['cabinet'], listed)
  assert.equal(code, 2, output)
  assert.match(output, /upstreams\.yaml: far .*, or set allow\.plainUpstreams$/m)
  await assertServes({ ...listed, ALLOW_PLAIN_UPSTREAMS: 'true' })
})
