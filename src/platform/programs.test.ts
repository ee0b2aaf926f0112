// Each program reads its own secrets only: production demands no others, the gateway refuses them,
// and secret files that every user can read are refused.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { describeConfig, loadConfig } from './config.ts'
import { Masked } from './masked.ts'
import { isReadBy, PROGRAMS, type Program, SECRETS } from './programs.ts'
import { listSettings, valueAt } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-programs-'))
after(() => rmSync(folder, { recursive: true }))

const LONG = '0123456789-0123456789-0123456789'
/** What is not secret, and the same for all programs. */
const shared = {
  TOLLGATE_MODE: 'production',
  BRAND_SUPPORT_EMAIL: 'help@example.org',
  BRAND_CABINET_URL: 'https://cabinet.example.org',
  BRAND_REQUISITES: 'Example Ltd',
  BRAND_DOCUMENTS_FILE: '/etc/gate/documents.yaml',
  GATEWAY_PUBLIC_URL: 'https://api.example.org',
  UPSTREAM_URL: 'https://upstream.example.org',
  LEDGER_SPOOL_DIRECTORY: '/var/lib/gate/spool',
  MAIL_FROM: 'Gate <letters@example.org>',
  YOOKASSA_URL: 'https://api.example.org/v3',
  YOOKASSA_SHOP_ID: '54401',
}
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://gate:password@db.example.com/gate',
  DATABASE_KEEPER_URL: 'postgres://keeper:password@db.example.com/gate',
  KEYS_TAG_SECRET: `${LONG}-tag`,
  KEYS_LOOKUP_SECRET: `${LONG}-lookup`,
  ACCOUNTS_SECRET: `${LONG}-accounts`,
  OPERATORS_SECRET: `${LONG}-operators`,
  PAYMENTS_DIGEST_SECRET: `${LONG}-digests`,
  UPSTREAM_KEY: `${LONG}-upstream`,
  MAIL_SMTP_URL: 'smtp://gate:password@relay.example.com',
  YOOKASSA_SECRET_KEY: `live_${LONG}`,
}
const settings = listSettings().filter(({ isSecret }) => isSecret)
const ownOf = (program: Program) =>
  Object.fromEntries(
    settings
      .filter((one) => isReadBy(program, one) && secrets[one.env] !== undefined)
      .map(({ env }) => [env, secrets[env] ?? '']),
  )

function problems(options: Parameters<typeof loadConfig>[0]): readonly string[] {
  const result = loadConfig(options)
  return 'problems' in result ? result.problems : []
}

function load(options: Parameters<typeof loadConfig>[0]) {
  const result = loadConfig(options)
  assert.ok('config' in result, inspect(result))
  return result
}

test('every secret in the table is a setting, and every secret has a program', () => {
  const names = settings.map(({ name }) => name)
  const listed = new Set(PROGRAMS.flatMap((program) => SECRETS[program]))
  assert.deepEqual([...listed].sort(), names.sort())
})

test('in production each program starts with its own secrets, and with none missing', () => {
  for (const program of PROGRAMS) {
    const own = ownOf(program)
    assert.deepEqual(problems({ env: { ...shared, ...own }, program }), [], program)
    for (const missing of Object.keys(own).filter((name) => name !== 'DATABASE_KEEPER_URL')) {
      const [found, ...more] = problems({ env: { ...shared, ...own, [missing]: '' }, program })
      assert.match(found ?? '', /is the development default, which production refuses/, missing)
      assert.deepEqual(more, [], `${program} without ${missing}`)
    }
  }
})

test('the table in docs/security.md is the same', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')
  for (const program of PROGRAMS) {
    const row = new RegExp(`^\\| \`${program}\` \\|[^|]+\\|([^|]+)\\|$`, 'm').exec(text)?.[1]
    const names = [...(row ?? '').matchAll(/`([\w.]+)`/g)].map(([, name]) => name)
    assert.deepEqual(names.toSorted(), SECRETS[program].toSorted(), program)
  }
})

test('the gateway has no secret of payments, accounts or e-mail', () => {
  const foreign = SECRETS.serve.filter((name) => /^(?:payments|yookassa|accounts|mail)/.test(name))
  assert.deepEqual(foreign, [])
  assert.deepEqual(SECRETS.migrate, ['database.url', 'database.directUrl'])
})

test('a program never sees the secrets of others, nor the defaults of their keys', () => {
  const env = { ...secrets, TOLLGATE_MODE: 'development' }
  for (const program of PROGRAMS) {
    const { config } = load({ env, program })
    for (const setting of settings.filter((one) => !isReadBy(program, one))) {
      const value = valueAt(config, setting.path)
      assert.ok(value instanceof Masked)
      assert.notEqual(value.reveal(), secrets[setting.env], `${program} ${setting.name}`)
      const isKey = (setting.bytesMin ?? 0) >= 32
      if (isKey) assert.notEqual(value.reveal(), setting.fallback, `${program} ${setting.name}`)
    }
  }
})

test('in production the gateway refuses each secret that is not its own', () => {
  const own = { ...shared, ...ownOf('serve') }
  for (const env of ['ACCOUNTS_SECRET', 'PAYMENTS_DIGEST_SECRET', 'YOOKASSA_SECRET_KEY']) {
    for (const given of [{ [env]: secrets[env] }, { [`${env}_FILE`]: '/nowhere' }]) {
      const [found, ...more] = problems({ env: { ...own, ...given }, program: 'serve' })
      const where = Object.keys(given)[0]
      assert.match(found ?? '', new RegExp(`\\(${where}\\): serve faces the internet .* remove it`))
      assert.deepEqual(more, [])
    }
  }
  const smtp = (MAIL_SMTP_URL: string) =>
    problems({ env: { ...own, MAIL_SMTP_URL }, program: 'serve' })
  assert.match(smtp(secrets.MAIL_SMTP_URL ?? '').join(), /^mail\.smtpUrl .* remove it/)
  assert.deepEqual(smtp('smtp://relay.example.com'), [], 'an address without a password')
})

test('the gateway refuses foreign secrets of the settings file, unless allow permits them', () => {
  const file = join(folder, 'shared.yaml')
  writeFileSync(file, `accounts: { secret: "${secrets.ACCOUNTS_SECRET}" }\n`)
  const env = { ...shared, ...ownOf('serve') }
  const [found] = problems({ file, env, program: 'serve' })
  assert.match(found ?? '', /^accounts\.secret \(.*shared\.yaml line 1\): serve .*sharedSecrets$/)
  const { config } = load({ file, env: { ...env, ALLOW_SHARED_SECRETS: 'true' }, program: 'serve' })
  assert.notEqual(config.accounts.secret.reveal(), secrets.ACCOUNTS_SECRET)
  assert.deepEqual(problems({ file, env: { ...env, TOLLGATE_MODE: '' }, program: 'serve' }), [])
  for (const program of ['cabinet', 'work', 'op', 'migrate'] as const) {
    const others = { ...shared, ...secrets }
    assert.deepEqual(problems({ env: others, program }), [], `${program} ignores them`)
  }
})

test('a vendor bill’s address without its key is a problem of those who read the key', () => {
  const env = { VENDOR_BILL_URL: 'https://bill.example.com' }
  assert.deepEqual(problems({ env, program: 'serve' }), [])
  assert.match(problems({ env, program: 'work' }).join(), /vendorBill\.key: goes together/)
})

test('work needs the keeper’s address when roles are separate', () => {
  const env = { DATABASE_ROLES: 'separate' }
  assert.match(problems({ env, program: 'work' }).join(), /^database\.keeperUrl.* needed by work/)
  const keeper = { DATABASE_KEEPER_URL: 'postgres://keeper@db/gate' }
  assert.deepEqual(problems({ env: { ...env, ...keeper }, program: 'work' }), [])
  assert.deepEqual(problems({ env, program: 'serve' }), [])
})

test('config check says in one sentence that all programs share one role', () => {
  const text = (env: Record<string, string>) => describeConfig(load({ env }))
  assert.match(text({ DATABASE_ROLES: 'one' }), /^database\.roles is one: all programs share one/m)
  assert.doesNotMatch(text({ DATABASE_ROLES: 'separate' }), /all programs share/)
})

test('refuses a secret file that every user of the machine can read', () => {
  const path = join(folder, 'tag')
  writeFileSync(path, secrets.KEYS_TAG_SECRET ?? '')
  const found = (named = path) => problems({ env: { KEYS_TAG_SECRET_FILE: named } })
  for (const mode of [0o644, 0o604, 0o602, 0o601]) {
    chmodSync(path, mode)
    const octal = mode.toString(8)
    assert.deepEqual(found(), [
      `${path}: named by KEYS_TAG_SECRET_FILE, it has mode ${octal}, so every user of this ` +
        `machine has access to it: chmod 640 ${path}`,
    ])
  }
  for (const mode of [0o400, 0o440, 0o600, 0o640, 0o660]) {
    chmodSync(path, mode)
    assert.deepEqual(found(), [], mode.toString(8))
  }
  // Kubernetes mounts a secret as a link to a file; the link itself has all rights.
  const link = join(folder, 'link')
  symlinkSync(path, link)
  assert.deepEqual(found(link), [])
  chmodSync(path, 0o644)
  assert.equal(found(link).length, 1)
})
