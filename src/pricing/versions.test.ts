// Tests of catalogue versions on a real PostgreSQL, with the pricing of two processes.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { systemClock } from '../platform/clock.ts'
import { createLog } from '../platform/log.ts'
import { type Catalogue, createPricing } from './pricing.ts'

const root = join(import.meta.dirname, '../..')
const migration = readFileSync(join(root, 'migrations/0006-catalogue.sql'), 'utf8')
// The table is that of the migration, the functions are the current ones.
const functions = readFileSync(join(root, 'src/pricing/sql/catalogue.sql'), 'utf8')
const exampleText = readFileSync(join(root, 'catalogue.example.yaml'), 'utf8')
const server = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const name = `tollgate_pricing_${randomBytes(6).toString('hex')}`
const admin = new pg.Client({ connectionString: server })
const db = new pg.Pool({ connectionString: urlOf(name), max: 6 })

function urlOf(database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

const who = { by: 'olga', note: 'spring prices' }

// Dropping the database ends connections that are still open.
db.on('error', () => undefined)

before(async () => {
  await admin.connect()
  await admin.query(`create database ${name}`)
})

beforeEach(async () => {
  await db.query('drop table if exists catalogue_versions cascade')
  await db.query(
    'drop function if exists catalogue_versions_refuse_change, catalogue_versions_notify',
  )
  await db.query(migration)
  await db.query(functions)
})

after(async () => {
  await db.end()
  await admin.query(`drop database if exists ${name} with (force)`)
  await admin.end()
})

function pricing({ heard = (_line: string) => {}, database = db } = {}) {
  const log = createLog({ level: 'info', destination: { write: heard } })
  return createPricing({ db: database, log, clock: systemClock, pollMs: 1_000 })
}

function catalogue(coefficient = '5'): Catalogue {
  const text = exampleText.replace('coefficient: 5', `coefficient: ${coefficient}`)
  const read = pricing().parse(text)
  assert.ok('catalogue' in read)
  return read.catalogue
}

const largeCoefficient = (from: Catalogue) => from.models[0]?.price.coefficient

test('loads a version that another process applied, without a restart', async () => {
  const [here, there] = [pricing(), pricing()]
  assert.deepEqual(await here.apply(catalogue('5'), who), { version: 1, isNew: true })
  await there.start()
  const running = there.current()
  assert.deepEqual(await here.apply(catalogue('6.5'), who), { version: 2, isNew: true })
  assert.equal(largeCoefficient(here.current()), 6_500_000n)
  assert.equal(there.current(), running)

  await there.refresh()
  there.stop()
  assert.equal(there.current().version, 2)
  assert.equal(largeCoefficient(there.current()), 6_500_000n)
  assert.equal(there.current().modelById.get('model-large'), there.current().models[0])
  assert.equal(there.current().packById.get('pack-35m')?.priceKopecks, 130_000n)
  // A request that started before keeps its prices.
  assert.equal(running.version, 1)
  assert.equal(largeCoefficient(running), 5_000_000n)
})

test('loads a new version at a poll', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const logged = Promise.withResolvers<void>()
  const there = pricing({
    heard: (line) => {
      if (line.includes('"catalogueVersion":1')) logged.resolve()
    },
  })
  assert.equal(await there.start(), undefined)
  await pricing().apply(catalogue(), who)
  t.mock.timers.tick(1_000)
  await logged.promise
  there.stop()
  assert.equal(there.current().version, 1)
})

test('notifies the channel catalogue with the version of an insert', async (t) => {
  const listener = new pg.Client({ connectionString: urlOf(name) })
  t.after(() => listener.end())
  await listener.connect()
  await listener.query('listen catalogue')
  const heard = new Promise((resolve) => listener.once('notification', resolve))
  await pricing().apply(catalogue(), who)
  assert.equal(((await heard) as pg.Notification).payload, '1')
})

test('writes nothing when the current catalogue is applied again', async () => {
  const here = pricing()
  await here.apply(catalogue(), who)
  assert.deepEqual(await here.apply(here.current(), who), { version: 1, isNew: false })
  assert.deepEqual(await pricing().apply(catalogue(), who), { version: 1, isNew: false })
  assert.equal((await here.history()).length, 1)
})

test('stores a return to earlier prices as a new version', async () => {
  const here = pricing()
  for (const coefficient of ['5', '6', '5']) await here.apply(catalogue(coefficient), who)
  assert.equal(here.current().version, 3)
  assert.equal(largeCoefficient(here.current()), 5_000_000n)
})

test('stores the same catalogue once when four processes start together', async () => {
  // All four reach the insert, then go on at the same moment; of 200 times 12 failed before.
  await db.query(`create or replace function wait_at_gate() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
    create trigger wait_at_gate before insert on catalogue_versions for each row
      execute function wait_at_gate()`)
  const gate = await db.connect()
  for (let round = 0; round < 80; round++) {
    await gate.query(`alter table catalogue_versions disable trigger all;
      delete from catalogue_versions; alter table catalogue_versions enable trigger all`)
    await gate.query('select pg_advisory_lock(1)')
    const applied = Array.from({ length: 4 }, () => pricing().apply(catalogue(), who))
    await setTimeout(15)
    await gate.query('select pg_advisory_unlock(1)')
    const answers = await Promise.all(applied)
    assert.deepEqual(
      answers.map(({ version }) => version),
      [1, 1, 1, 1],
    )
    assert.equal(answers.filter(({ isNew }) => isNew).length, 1)
  }
  gate.release()
})

test('gives two operators who apply different prices at once different versions', async () => {
  const answers = await Promise.all([
    pricing().apply(catalogue('6'), who),
    pricing().apply(catalogue('7'), who),
  ])
  assert.deepEqual(answers.map(({ version }) => version).sort(), [1, 2])
})

test('lists who applied which version and when, and reads any version', async () => {
  const here = pricing()
  await here.apply(catalogue('5'), who)
  await here.apply(catalogue('6'), { by: 'ivan', note: '' })
  const [newest, oldest] = await here.history()
  assert.deepEqual([newest?.version, newest?.appliedBy], [2, 'ivan'])
  assert.deepEqual([oldest?.version, oldest?.appliedBy, oldest?.note], [1, 'olga', who.note])
  assert.match(oldest?.appliedAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const [first, second] = [await here.version(1), await here.version(2)]
  assert.ok(first && second)
  assert.deepEqual(here.diff(first, second), ['model model-large: coefficient 5 → 6'])
  assert.equal(await here.version(3), undefined)
})

test('refuses to change or remove a version in the table, or a wrong digest', async () => {
  await pricing().apply(catalogue(), who)
  const refused = { code: '23001' }
  await assert.rejects(db.query("update catalogue_versions set note = 'x'"), refused)
  await assert.rejects(db.query('delete from catalogue_versions'), refused)
  await assert.rejects(db.query('truncate catalogue_versions'), refused)
  const insert = 'insert into catalogue_versions (version, applied_by, note, body, digest)'
  await assert.rejects(db.query(`${insert} values (2, 'x', '', 'models: []', 'wrong')`), {
    constraint: 'catalogue_versions_match_their_digest',
  })
})

test('keeps its prices when a newer version cannot be read, and logs one error', async () => {
  const lines: string[] = []
  const here = pricing({ heard: (line) => void lines.push(line) })
  await here.apply(catalogue(), who)
  await db.query(
    `insert into catalogue_versions (version, applied_by, note, body, digest)
     select 2, 'newer program', '', body, encode(sha256(convert_to(body, 'UTF8')), 'hex')
       from (values ('models: {}')) as newer (body)`,
  )
  await here.refresh()
  await here.refresh()
  assert.equal(here.current().version, 1)
  assert.equal(lines.filter((line) => line.includes('"level":"error"')).length, 1)
  await assert.rejects(pricing().start(), /catalogue 2 cannot be read/)
})

test('keeps its prices while the database is unavailable', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const database = new pg.Pool({ connectionString: urlOf(name), max: 1 })
  const logged = Promise.withResolvers<void>()
  const here = pricing({
    database,
    heard: (line) => {
      if (line.includes('"level":"warn"')) logged.resolve()
    },
  })
  await here.apply(catalogue(), who)
  await here.start()
  await database.end()
  t.mock.timers.tick(1_000)
  await logged.promise
  here.stop()
  assert.equal(here.current().version, 1)
  assert.ok(here.staleMs() >= 0 && here.staleMs() < 60_000)
})

test('throws when prices are read before any catalogue is applied', async () => {
  const here = pricing()
  assert.equal(here.staleMs(), Infinity)
  assert.equal(await here.start(), undefined)
  here.stop()
  assert.throws(() => here.current(), /no catalogue has been applied/)
})
