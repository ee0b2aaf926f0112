// The files that we ship for deployment give each program its own database role and secrets, and no
// other: above all, the gateway has nothing of payments, accounts and e-mail.
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../src/platform/config.ts'
import { newInstanceId } from '../../src/platform/ids.ts'
import { isReadBy, PROGRAMS, type Program } from '../../src/platform/programs.ts'
import { listSettings } from '../../src/platform/settings.ts'
import {
  at,
  COMPOSED,
  compose,
  manifest,
  read,
  root,
  type Tree,
  UNITS,
  unitFile,
} from '../support/deploy-files.ts'
import { readDockerfile, readEnvironment } from '../support/dockerfile.ts'
import { createTestDatabase, onServer } from '../support/harness.ts'
import { runToEnd } from '../support/run-to-end.ts'

const OWN_SECRETS: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://tollgate_role:password@database/tollgate',
  DATABASE_KEEPER_URL: 'postgres://tollgate_keeper:password@database/tollgate',
  MAIL_SMTP_URL: 'smtp://letters:password@relay.your-company.example',
  YOOKASSA_SECRET_KEY: 'live_key',
}

/** The names of the secrets that a shipped file gives to a program. */
const givenSecrets: Readonly<Record<string, (program: Program) => string[]>> = {
  compose(program) {
    const service = at(compose, 'services', COMPOSED[program]) as Tree
    const environment = service.environment as Record<string, string>
    const files = Object.entries(environment).filter(([, path]) => path.startsWith('/run/secrets/'))
    // A container sees each secret that is mounted, whether a variable names it or not.
    assert.deepEqual(
      files.map(([, path]) => basename(path)).sort(),
      (service.secrets as string[]).toSorted(),
      program,
    )
    return files.map(([name]) => name)
  },
  systemd(program) {
    if (program === 'op') {
      const text = read('deploy/systemd/tollgate-op')
      return [...text.matchAll(/^export (\w+_FILE)=\$secrets/gm)].map(([, name]) => name as string)
    }
    const text = read(unitFile(UNITS[program]))
    const named = [...text.matchAll(/^Environment=(\w+_FILE)=%d\/(\S+)$/gm)]
    const loaded = [...text.matchAll(/^LoadCredential=([^:]+):/gm)].map(([, name]) => name)
    assert.deepEqual(named.map(([, , name]) => name).sort(), loaded.sort(), program)
    return named.map(([, name]) => name as string)
  },
  Kubernetes(program) {
    const name = `tollgate-${UNITS[program]}`
    const kind = { migrate: 'Job', op: 'Deployment' }[program as string] ?? 'StatefulSet'
    const pod = at(manifest(kind, UNITS[program]), 'spec', 'template', 'spec')
    const from = at(pod, 'containers', 0, 'envFrom') as Tree[]
    const secrets = from.flatMap((one) => at(one, 'secretRef', 'name') ?? [])
    assert.deepEqual(secrets, [name], 'a program has one Secret, its own')
    const comment = read('deploy/kubernetes/settings.yaml').replaceAll(/,\n# +/g, ', ')
    return (new RegExp(`^# +${name}: (.+)$`, 'm').exec(comment)?.[1] ?? '').split(', ')
  },
}

test('shipped files give each program the secrets that it needs, and no other', () => {
  const settings = listSettings()
  for (const [kind, given] of Object.entries(givenSecrets)) {
    for (const program of PROGRAMS) {
      const names = given(program).map((name) => name.replace(/_FILE$/, ''))
      const own = settings.filter((one) => one.isSecret && isReadBy(program, one))
      const foreign = names.filter((name) => !own.some(({ env }) => env === name))
      assert.deepEqual(foreign, [], `${kind} gives ${program} what is not its own`)
      const needed = own.filter(isRequiredSecret).map(({ env }) => env)
      if (program === 'work') needed.push('DATABASE_KEEPER_URL')
      assert.deepEqual(names.toSorted(), needed.toSorted(), `${kind}: ${program}`)
    }
  }
})

test('a program has the database address of its own role, and no other', () => {
  for (const program of PROGRAMS) {
    const own = { op: 'operator', console: 'operator' }[program as string] ?? UNITS[program]
    const expected = program === 'work' ? ['keeper', own] : [own]
    const service = at(compose, 'services', COMPOSED[program])
    const mounted = (at(service, 'secrets') as string[]).filter((one) => /database/.test(one))
    assert.deepEqual(mounted.sort(), expected.map((one) => `${one}_database_url`).sort(), program)
    const file = program === 'op' ? 'deploy/systemd/tollgate-op' : unitFile(UNITS[program])
    const named = [...read(file).matchAll(/\/(\w+)-database-url$/gm)]
    assert.deepEqual(named.map(([, role]) => role).sort(), expected.toSorted(), file)
    const roles = at(service, 'environment', 'DATABASE_ROLES')
    assert.equal(roles, 'separate', program)
    assert.match(read(file), /\bDATABASE_ROLES=separate$/m)
  }
  assert.equal(at(manifest('ConfigMap', 'tollgate'), 'data', 'DATABASE_ROLES'), 'separate')
})

test('each unit has a user of its own, who cannot read the credentials of another', () => {
  const units = globSync('deploy/systemd/*.service', { cwd: root }).map(read)
  const users = units.map((text) => /^User=(.+)$/m.exec(text)?.[1])
  assert.equal(new Set(users).size, units.length)
})

test('the shipped files start in production once the owner’s values are filled in', () => {
  const ownSecret = (name: string) => OWN_SECRETS[name] ?? `a-secret-of-the-owner-for-${name}-long`
  const image = readEnvironment(
    readDockerfile(read('deploy/docker/Dockerfile')).at(-1)?.steps ?? [],
  )
  const settings = at(manifest('ConfigMap', 'tollgate'), 'data') as Record<string, string>
  const { BRAND_DOCUMENTS_FILE: _, CATALOGUE_FILE: __, ...written } = settings
  for (const program of PROGRAMS) {
    const secretsIn = (kind: string) =>
      Object.fromEntries(
        (givenSecrets[kind]?.(program) ?? [])
          .map((name) => name.replace(/_FILE$/, ''))
          .map((name) => [name, ownSecret(name)]),
      )
    const inCompose = at(compose, 'services', COMPOSED[program], 'environment')
    const handedOver = Object.entries(inCompose as Record<string, string>).filter(
      ([name, value]) => name !== 'TOLLGATE_CONFIG' && !value.startsWith('/run/secrets/'),
    )
    const started = {
      Kubernetes: { ...image, ...settings, ...secretsIn('Kubernetes') },
      // Beside what compose.yaml hands over, its owner writes tollgate.yaml.
      compose: {
        ...{ ...image, ...written, ...Object.fromEntries(handedOver) },
        ...secretsIn('compose'),
      },
    }
    for (const [name, env] of Object.entries(started)) {
      const result = loadConfig({ env, program })
      assert.deepEqual('problems' in result ? result.problems : [], [], `${name} ${program}`)
      assert.ok('config' in result && result.config.catalogue.file.startsWith('/etc/'), name)
    }
  }
})

/** Runs the script of the service `roles`; undefined when psql is not installed. */
async function runRolesScript(env: Readonly<Record<string, string>>) {
  const ended = await runToEnd('bash', ['deploy/docker/roles.sh'], { env })
  return /psql: command not found/.test(ended.err) ? undefined : ended
}

test('the script of compose makes ordinary roles, and the owner of the database', async (t) => {
  const database = await createTestDatabase()
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-roles-'))
  const suffix = `${process.pid}_${newInstanceId().toString(36)}`
  const programs = ['migrate', 'keeper', 'gateway', 'cabinet', 'worker', 'operator']
  const server = new URL(database.url)
  const write = (name: string, text: string) => writeFile(join(directory, name), `${text}\n`)
  await write('database_password', 'unused')
  for (const one of programs) {
    const address = `tollgate_test_${one}_${suffix}:password-${one}@database/tollgate`
    await write(`${one}_database_url`, `postgres://${address}`)
  }
  const env = {
    SECRETS_DIRECTORY: directory,
    ...{ PGHOST: server.hostname, PGPORT: server.port || '5432' },
    ...{ PGUSER: server.username, PGDATABASE: database.name },
  }
  const roles = async () => {
    const { rows } = await database.db.query(
      `select rolname as name, rolcanlogin as "canLogin", rolsuper or rolcreaterole or rolcreatedb
         or rolreplication or rolbypassrls as "isSpecial"
       from pg_roles where rolname like $1 order by rolname`,
      [`tollgate_test_%_${suffix}`],
    )
    return rows as { name: string; canLogin: boolean; isSpecial: boolean }[]
  }
  try {
    for (const run of ['first', 'second']) {
      const ended = await runRolesScript(env)
      if (ended === undefined) return t.skip('psql is not installed')
      assert.equal(ended.code, 0, `${run}: ${ended.err}`)
      const made = await roles()
      assert.equal(made.length, programs.length)
      for (const one of made) assert.deepEqual([one.canLogin, one.isSpecial], [true, false])
    }
    const { rows } = await database.db.query(
      `select pg_get_userbyid(datdba) as owner,
         pg_has_role(datdba, $1::text, 'member') as "isKeeper"
       from pg_database where datname = current_database()`,
      [`tollgate_test_keeper_${suffix}`],
    )
    assert.deepEqual(rows, [{ owner: `tollgate_test_migrate_${suffix}`, isKeeper: true }])

    await write('gateway_database_url', 'postgres://tollgate_gateway@database/tollgate')
    const refused = await runRolesScript(env)
    assert.equal(refused?.code, 1)
    assert.match(refused?.err ?? '', /^gateway_database_url: expected postgres:\/\/role:password@/)
  } finally {
    const made = await roles()
    await database.drop()
    for (const { name } of made) await onServer((client) => client.query(`drop role ${name}`))
    await rm(directory, { recursive: true, force: true })
  }
})

/** Production refuses the development value of these; others may stay `none`. */
const isRequiredSecret = (one: { isSecret?: boolean; isDevelopmentOnly?: boolean }) =>
  one.isSecret === true && one.isDevelopmentOnly === true
