// Sources of settings, the checks of production mode, and whether the example file is up to date.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { describeConfig, type Loaded, loadConfig, passedSocket } from './config.ts'
import { DOTS } from './masked.ts'
import { listSettings, valueAt } from './settings.ts'
import { earlierShopsOf } from './shops.ts'
import { readYaml } from './yaml.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
after(() => rmSync(folder, { recursive: true }))

const example = join(import.meta.dirname, '../../tollgate.example.yaml')
const CANARY = 'canary-0123456789-0123456789-0123456789'
const production = {
  TOLLGATE_MODE: 'production',
  DATABASE_URL: `postgres://gate:${CANARY}@db.example.com/gate`,
  KEYS_TAG_SECRET: `${CANARY}-tag`,
  KEYS_LOOKUP_SECRET: `${CANARY}-lookup`,
  ACCOUNTS_SECRET: `${CANARY}-accounts`,
  OPERATORS_SECRET: `${CANARY}-operators`,
  PAYMENTS_DIGEST_SECRET: `${CANARY}-digests`,
  BRAND_SUPPORT_EMAIL: 'help@example.org',
  BRAND_CABINET_URL: 'https://cabinet.example.org',
  BRAND_REQUISITES: 'Example Ltd',
  BRAND_DOCUMENTS_FILE: '/etc/gate/documents.yaml',
  GATEWAY_PUBLIC_URL: 'https://api.example.org',
  UPSTREAM_URL: 'https://upstream.example.org',
  UPSTREAM_KEY: `${CANARY}-upstream`,
  LEDGER_SPOOL_DIRECTORY: '/var/lib/gate/spool',
  MAIL_SMTP_URL: `smtp://gate:${CANARY}@relay.example.com`,
  MAIL_FROM: 'Gate <letters@example.org>',
  YOOKASSA_URL: 'https://api.example.org/v3',
  YOOKASSA_SHOP_ID: '54401',
  YOOKASSA_SECRET_KEY: `live_${CANARY}`,
}

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

function loaded(options: Parameters<typeof loadConfig>[0]): Loaded {
  const result = loadConfig(options)
  assert.ok('config' in result, inspect(result))
  return result
}

function problems(options: Parameters<typeof loadConfig>[0]): readonly string[] {
  const result = loadConfig(options)
  assert.ok('problems' in result, 'the configuration was accepted')
  return result.problems
}

test('needs neither a file nor environment variables', () => {
  const { config } = loaded({ env: {} })
  assert.equal(config.mode, 'development')
  assert.equal(config.database.url.reveal(), 'postgres://postgres@127.0.0.1:5432/tollgate')
  assert.equal(config.gateway.bodyBytesMax, 33_554_432)
})

test('the example file names every setting, with its default and nothing else', () => {
  const { config } = loaded({ file: example, env: {} })
  const plain = (settings: Loaded['config']) =>
    listSettings().map(({ name, path, isSecret }) => {
      const value = valueAt(settings, path)
      return [name, isSecret ? (value as { reveal(): unknown }).reveal() : value]
    })
  assert.deepEqual(plain(config), plain(loaded({ env: {} }).config))

  const written = readYaml(readFileSync(example, 'utf8')).value as Record<string, unknown>
  const names = Object.entries(written).flatMap(([area, things]) =>
    typeof things === 'object' && things !== null
      ? Object.keys(things).map((thing) => `${area}.${thing}`)
      : [area],
  )
  assert.deepEqual(
    names,
    listSettings().map(({ name }) => name),
  )
})

test('the example file gives a reason for every setting and marks what production refuses', () => {
  const text = readFileSync(example, 'utf8')
  const lines = text.split('\n')
  const { lineAt } = readYaml(text)
  for (const { name, path, isDevelopmentOnly } of listSettings()) {
    const above = lines.slice(0, lineAt(path) - 1)
    const comment = above.slice(above.findLastIndex((line) => !/^\s*#/.test(line)) + 1).join('\n')
    assert.match(comment, /\w{2,}/, `${name} has no reason`)
    assert.equal(/^ *# \[development\]/.test(comment), isDevelopmentOnly === true, name)
  }
})

test('every setting has one environment name of its own', () => {
  const names = listSettings().flatMap(({ env, aliases = [], isSecret }) => [
    env,
    ...aliases,
    ...(isSecret ? [`${env}_FILE`] : []),
  ])
  assert.equal(new Set(names).size, names.length)
  for (const expected of ['DATABASE_URL', 'PORT', 'LOG_LEVEL', 'LEDGER_SPOOL_AFTER_MS']) {
    assert.ok(names.includes(expected), expected)
  }
})

test('the environment overrides the file, the file overrides the default', () => {
  const file = write('levels.yaml', 'log: { level: warn }\ngateway: { port: 1111, host: "::1" }\n')
  const result = loaded({ file, env: { GATEWAY_PORT: '2222', PORT: '3333', LOG_PRETTY: 'true' } })
  assert.equal(result.config.gateway.port, 2222)
  assert.equal(result.config.gateway.host, '::1')
  assert.equal(result.config.log.level, 'warn')
  assert.equal(result.config.log.pretty, true)
  assert.equal(loaded({ file, env: { PORT: '3333' } }).config.gateway.port, 3333)
  assert.equal(loaded({ env: { TOLLGATE_CONFIG: file } }).config.gateway.port, 1111)

  const described = describeConfig(result)
  assert.match(described, /^gateway\.port +2222 +environment \(GATEWAY_PORT\)$/m)
  assert.match(described, /^log\.level +warn +file \(.*levels\.yaml line 1\)$/m)
  assert.match(described, /^metrics\.port +9090 +default \(METRICS_PORT\)$/m)
})

test('an empty environment variable and a commented-out area count as absent', () => {
  const file = write('empty.yaml', 'gateway:\n#  port: 1\n')
  assert.equal(loaded({ file, env: { GATEWAY_PORT: '', PORT: '' } }).config.gateway.port, 8080)
})

test('a secret file gives its trimmed content, and a secret named twice is refused', () => {
  const secret = write('database-url', `  postgres://u:${CANARY}@h/d\n`)
  const result = loaded({ env: { DATABASE_URL_FILE: secret } })
  assert.equal(result.config.database.url.reveal(), `postgres://u:${CANARY}@h/d`)
  assert.equal(result.origins.get('database.url')?.source, 'secret file')
  assert.match(
    problems({ env: { DATABASE_URL_FILE: secret, DATABASE_URL: 'postgres://h/d' } }).join(),
    /both DATABASE_URL and DATABASE_URL_FILE are set/,
  )
  assert.match(
    problems({ env: { DATABASE_URL_FILE: join(folder, 'none') } }).join(),
    /named by DATABASE_URL_FILE, it cannot be read: ENOENT/,
  )
})

test('reports all problems at once, each with its position', () => {
  const file = write(
    'wrong.yaml',
    [
      'ledger:',
      '  holdSeconds: 10',
      '  spoolAfterMS: 5',
      'gatewy: {}',
      'vendor:',
      '  slug: No Good',
      'cell: 4096',
    ].join('\n'),
  )
  const found = problems({ file, env: { PORT: 'eighty', METRICS_PROT: '1', LOG_PRETTY: 'yes' } })
  const expected = [
    /^METRICS_PROT in the environment: .* METRICS_PORT$/,
    /^cell \(.*wrong\.yaml line 7\): Too big/,
    /^vendor\.slug \(.* line 6\): expected 2-20/,
    /^log\.pretty \(LOG_PRETTY\): expected boolean/,
    /^gateway\.port \(PORT\): expected number/,
    /^ledger\.spoolAfterMS \(.* line 3\): no such name; .* spoolAfterMs$/,
    /^gatewy \(.* line 4\): no such name; .* gateway$/,
    /^ledger\.holdSeconds \(.* line 2\): must exceed ledger\.requestSecondsMax, which is 3600$/,
  ]
  for (const pattern of expected) {
    assert.equal(
      found.filter((each) => pattern.test(each)).length,
      1,
      `${pattern} in ${inspect(found)}`,
    )
  }
  assert.equal(found.length, expected.length, inspect(found))
})

test('refuses a file that is named but missing, broken or not a map', () => {
  assert.match(problems({ file: join(folder, 'nowhere.yaml'), env: {} }).join(), /ENOENT/)
  assert.match(
    problems({ file: write('twice.yaml', 'cell: 1\ncell: 2\n'), env: {} }).join(),
    /twice\.yaml line 2: Map keys must be unique/,
  )
  assert.match(problems({ file: write('list.yaml', '- 1\n'), env: {} }).join(), /expected areas/)
  assert.match(
    problems({ file: write('flat.yaml', 'ledger: 5\n'), env: {} }).join(),
    /ledger .*expected object/,
  )
})

test('production refuses every development default and names each', () => {
  const found = problems({ env: { TOLLGATE_MODE: 'production' } })
  const refused = listSettings().filter(({ isDevelopmentOnly }) => isDevelopmentOnly)
  assert.ok(refused.length >= 7)
  assert.deepEqual(
    found.map((each) => each.split(':')[0]),
    refused.map(({ name }) => name),
  )
})

test('production refuses a development default that was written out by hand', () => {
  const { DATABASE_URL: _, ...rest } = production
  const DATABASE_URL = 'postgres://postgres@127.0.0.1:5432/tollgate'
  const found = problems({ env: { ...rest, DATABASE_URL } })
  assert.equal(found.length, 1)
  assert.match(found[0] ?? '', /^database\.url \(DATABASE_URL\): is the development default/)
})

test('a wrong setting does not hide other problems of production', () => {
  const other = { BRAND_REQUISITES: 'none' }
  // Every value violates its own rule, so that zod leaves it unparsed.
  for (const [env, text] of [
    ['MAIL_SMTP_URL', 'mail.example.org:587'],
    ['MAIL_SMTP_URL', 'smtp://relay.example.org?STARTTLS=never'],
    ['DATABASE_URL', 'db.example.org'],
    ['UPSTREAM_URL', 'upstream.example.org'],
    ['YOOKASSA_URL', 'https://api.example.org/v3/'],
    ['BRAND_CABINET_URL', 'cabinet.example.org'],
    ['GATEWAY_PUBLIC_URL', 'http://api.example.org/'],
    ['CABINET_TRUSTED_PROXIES', 'the edge'],
    ['LEDGER_HOLD_SECONDS', '1'],
  ] as const) {
    const found = problems({ env: { ...production, ...other, [env]: text } })
    const name = listSettings().find((one) => one.env === env)?.name
    const names = found.map((each) => each.split(' ')[0])
    assert.deepEqual(names.toSorted(), [name, 'brand.requisites'].toSorted(), text)
  }
  for (const { env, path, name } of listSettings().filter(({ isSecret }) => isSecret)) {
    const [area, thing] = path.map(String)
    const file = write('empty.yaml', `${area}:\n  ${thing}: ""\n`)
    const found = problems({ file, env: { ...production, ...other, [env]: '' } })
    const names = new Set(found.map((each) => each.split(' ')[0]))
    assert.deepEqual([...names].toSorted(), [name, 'brand.requisites'].toSorted())
  }
})

test('production refuses public URLs without TLS beyond the loopback', () => {
  for (const [env, name] of [
    ['BRAND_CABINET_URL', 'brand.cabinetUrl'],
    ['GATEWAY_PUBLIC_URL', 'gateway.publicUrl'],
  ] as const) {
    for (const host of ['example.org', '127.example.org', '127.0.0.1@example.org', '127.0.0.256']) {
      const [found, ...more] = problems({ env: { ...production, [env]: `http://${host}` } })
      assert.match(found ?? '', new RegExp(`^${name} .*must be https`), host)
      assert.deepEqual(more, [])
    }
    for (const host of ['127.0.0.1:9', 'localhost:9', '[::1]:9']) {
      loaded({ env: { ...production, [env]: `http://${host}` } })
    }
  }
})

test('production needs a seller and legal pages, unless allow permits their absence', () => {
  for (const [env, name, flag] of [
    ['BRAND_REQUISITES', 'brand.requisites', 'noSeller'],
    ['BRAND_DOCUMENTS_FILE', 'brand.documentsFile', 'noDocuments'],
  ] as const) {
    for (const text of ['none', 'None', ' none ', ' ', '|', ' | \n|']) {
      const without = { ...production, [env]: text }
      const [found, ...more] = problems({ env: without })
      assert.match(found ?? '', new RegExp(`^${name} .* production refuses; .*allow\\.${flag}$`))
      assert.deepEqual(more, [])
      const { config } = loaded({ env: { ...without, [envNameOf(flag)]: 'true' } })
      assert.equal(valueAt(config, name.split('.')), 'none')
    }
  }
})

test('production does not check the single upstream when a file lists several', () => {
  const { UPSTREAM_URL: _, UPSTREAM_KEY: __, ...without } = production
  const names = problems({ env: without }).map((each) => each.split(':')[0])
  assert.deepEqual(names, ['upstream.url', 'upstream.key'])
  loaded({ env: { ...without, UPSTREAM_FILE: '/etc/gate/upstreams.yaml' } })
})

test('production refuses connections without TLS beyond the loopback, unless allowed', () => {
  const upstream = (host: string) => ({ UPSTREAM_URL: `http://${host}` })
  const relay = (host: string) => ({ MAIL_SMTP_URL: `smtp://${host}?starttls=never` })
  const bill = (host: string) => ({ VENDOR_BILL_URL: `http://${host}`, VENDOR_BILL_KEY: 'k' })
  for (const host of ['127.0.0.1:9', '127.8.9.10', 'localhost:9', '[::1]:9']) {
    loaded({ env: { ...production, ...upstream(host), ...relay(host), ...bill(host) } })
  }
  const cases = [
    [upstream, 'upstream.url', 'plainUpstreams'],
    [relay, 'mail.smtpUrl', 'plainMail'],
  ] as const
  for (const [of, name, flag] of cases) {
    for (const host of ['10.0.0.1', '127.example.org', '127.999.0.1', 'localhost.x.org', '[::2]']) {
      const plain = { ...production, ...of(host) }
      const [found, ...more] = problems({ env: plain })
      assert.match(found ?? '', new RegExp(`^${name} .*loopback.*allow\\.${flag}$`), host)
      assert.deepEqual(more, [])
      loaded({ env: { ...plain, [envNameOf(flag)]: 'true' } })
    }
  }
  const plainBill = { ...production, ...bill('10.0.0.1') }
  assert.match(problems({ env: plainBill })[0] ?? '', /^vendorBill\.url .*loopback/)
  loaded({ env: { ...plainBill, [envNameOf('plainUpstreams')]: 'true' } })
  const optional = { MAIL_SMTP_URL: 'smtp://relay.example.org?starttls=optional' }
  assert.match(problems({ env: { ...production, ...optional } }).join(), /^mail\.smtpUrl/)
  loaded({ env: { ...production, MAIL_SMTP_URL: 'smtps://relay.example.org' } })
})

function envNameOf(flag: string): string {
  return listSettings().find(({ name }) => name === `allow.${flag}`)?.env ?? flag
}

test('production refuses a key secret under 32 bytes, development does not', () => {
  const KEYS_TAG_SECRET = 'x'.repeat(31)
  assert.match(
    problems({ env: { ...production, KEYS_TAG_SECRET } }).join(),
    /shorter than 32 bytes/,
  )
  assert.equal(loaded({ env: { KEYS_TAG_SECRET } }).config.keys.tagSecret.reveal(), KEYS_TAG_SECRET)
  loaded({ env: { ...production, KEYS_TAG_SECRET: 'x'.repeat(32) } })
})

test('a key that no header may have is refused; a line break at the end of a file is not', () => {
  for (const key of [
    `sk-${CANARY}\nx: 1`,
    `sk-${CANARY}\n`,
    `sk ${CANARY}`,
    `sk-é${CANARY}`,
    '\0',
  ]) {
    const found = problems({ env: { UPSTREAM_KEY: key, VENDOR_BILL_KEY: key } }).join('\n')
    assert.match(found, /^upstream\.key \(UPSTREAM_KEY\): expected visible ASCII/m)
    assert.match(found, /^vendorBill\.key \(VENDOR_BILL_KEY\): expected visible ASCII/m)
    assert.equal(found.includes(CANARY), false)
  }
  const file = write('upstream-key', `sk-${CANARY}\n`)
  const { config } = loaded({ env: { UPSTREAM_KEY_FILE: file } })
  assert.equal(config.upstream.key.reveal(), `sk-${CANARY}`)
  const broken = write('broken-key', `sk-${CANARY}\nsk-other\n`)
  assert.match(problems({ env: { UPSTREAM_KEY_FILE: broken } }).join(), /^upstream\.key/)
})

test('secrets never appear in a description, a problem or a printed configuration', () => {
  const result = loaded({ env: production })
  const printed = [
    describeConfig(result),
    inspect(result, { depth: 9 }),
    JSON.stringify(result),
    ...problems({ env: { ...production, DATABASE_URL: CANARY, KEYS_TAG_SECRET: 'canary' } }),
  ].join('\n')
  assert.equal(printed.includes('canary'), false)
  assert.ok(printed.includes(DOTS))
})

test('a socket that systemd passed is for the process that it names', () => {
  assert.equal(passedSocket({ LISTEN_FDS: '1', LISTEN_PID: '7' }, 7), 3)
  assert.equal(passedSocket({ LISTEN_FDS: '1', LISTEN_PID: '7' }, 8), undefined)
  assert.equal(passedSocket({ LISTEN_FDS: '0', LISTEN_PID: '7' }, 7), undefined)
  assert.equal(passedSocket({}, 7), undefined)
})

test('the configuration cannot be changed after it is read', () => {
  const { config } = loaded({ env: {} })
  assert.throws(() => Object.assign(config, { cell: 5 }), TypeError)
  assert.throws(() => Object.assign(config.gateway, { port: 5 }), TypeError)
})

test('a call to the provider ends before another worker claims its order', () => {
  const found = (change: object) => problems({ env: { ...production, ...change } }).join('\n')
  assert.match(found({ YOOKASSA_POST_TIMEOUT_MS: '36000' }), /yookassa\.postTimeoutMs/)
  assert.match(found({ YOOKASSA_GET_TIMEOUT_MS: '36000' }), /yookassa\.getTimeoutMs/)
  const longest = { ...production, YOOKASSA_POST_TIMEOUT_MS: '35000' }
  assert.equal(loaded({ env: longest }).config.yookassa.postTimeoutMs, 35_000)
})

test('production takes payments only over https, and no test money for real credits', () => {
  const found = (change: object) => problems({ env: { ...production, ...change } }).join('\n')
  assert.match(found({ YOOKASSA_URL: 'http://api.example.org/v3' }), /yookassa\.url.*https/)
  assert.match(found({ YOOKASSA_SECRET_KEY: 'test_abc' }), /yookassa\.secretKey.*test shop/)
  assert.match(found({ YOOKASSA_EARLIER_SHOPS: '7:test_abc' }), /yookassa\.earlierShops.*test shop/)
  const staging = { YOOKASSA_SECRET_KEY: 'test_abc', PAYMENTS_MONEY: 'test' }
  assert.equal(loaded({ env: { ...production, ...staging } }).config.payments.money, 'test')
})

test('earlier shops have their own keys, are never printed, and are named once', () => {
  const { config } = loaded({ env: { YOOKASSA_EARLIER_SHOPS: '7:live_one, 8:live_two' } })
  const shops = earlierShopsOf(config.yookassa.earlierShops)
  assert.deepEqual(
    shops.map(({ shopId, secretKey }) => [shopId, secretKey.reveal()]),
    [
      ['7', 'live_one'],
      ['8', 'live_two'],
    ],
  )
  assert.doesNotMatch(inspect(config), /live_/)
  const problem = (env: Record<string, string>) => problems({ env }).join('\n')
  assert.match(problem({ YOOKASSA_EARLIER_SHOPS: '100500:live_one' }), /earlierShops.*twice/)
  assert.match(problem({ YOOKASSA_EARLIER_SHOPS: '7:live_one,7:live_two' }), /earlierShops.*twice/)
  assert.match(problem({ YOOKASSA_EARLIER_SHOPS: 'live_one' }), /earlierShops.*expected none/)
})
