// Runs the commands as people type them: through npm, against a real database.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { credits } from '../../src/units/credits.ts'
import { startMailbox } from '../../stand-ins/mailbox/mailbox.ts'
import { onRoles } from '../../tools/program-roles.ts'
import { until } from '../stages/mail.ts'
import { createTestDatabase, createTestLedger, type TestDatabase } from '../support/harness.ts'
import { createLimitedDbUser } from '../support/limited-db-user.ts'
import { runToEnd } from '../support/run-to-end.ts'

const root = join(import.meta.dirname, '../..')
const place: { database?: TestDatabase; directory?: string } = {}

before(async () => {
  place.database = await createTestDatabase()
  place.directory = await mkdtemp(join(tmpdir(), 'tollgate-commands-'))
})
after(async () => {
  await place.database?.drop()
  await rm(place.directory ?? '', { recursive: true, force: true })
})

function environment(command: string, extra: Record<string, string> = {}) {
  return onRoles(command, {
    PATH: process.env.PATH ?? '',
    DATABASE_URL: place.database?.url ?? '',
    LEDGER_SPOOL_DIRECTORY: join(place.directory ?? '', 'spool'),
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
    ...extra,
  })
}

type User = { readonly uid?: number; readonly gid?: number }

function run(args: string[], extra: Record<string, string> = {}, input = '', user: User = {}) {
  const program = [join(root, 'tools/node.mjs'), 'src/main.ts', ...args]
  return runToEnd(process.execPath, program, {
    ...{ env: environment(args[0] ?? '', extra), input, ...user },
  })
}

test('config check prints every setting with its source, and no secret', async () => {
  const secret = join(place.directory ?? '', 'tag')
  await writeFile(secret, 'a tag secret of more than thirty-two bytes\n', { mode: 0o600 })
  const { code, out } = await run(['config', 'check'], {
    KEYS_TAG_SECRET_FILE: secret,
    PORT: '8099',
  })
  assert.equal(code, 0)
  assert.match(out, /gateway\.port\s.*8099/)
  assert.match(out, /secret file/)
  assert.doesNotMatch(out, /thirty-two/)
})

test('config check reports all mistakes at once', async () => {
  const { code, err } = await run(['config', 'check'], {
    TOLLGATE_MODE: 'production',
    GATEWAY_PORT: 'eighty',
  })
  assert.equal(code, 2)
  assert.match(err, /gateway\.port/)
  assert.match(err, /keys\.tagSecret/)
  assert.match(err, /keys\.lookupSecret/)
})

test('migrate brings a database up to date, and does nothing the second time', async () => {
  const { code, out, err } = await run(['migrate'])
  assert.equal(code, 0, err)
  assert.match(out, /nothing to apply/)
})

test('op audit passes on a correct ledger and reports a wrong one', async () => {
  const { db, url } = place.database as TestDatabase
  const ledger = await createTestLedger(url)
  const book = await ledger.createBook(db)
  await db.transaction((tx) =>
    ledger.credit(tx, {
      book,
      kind: 'promo',
      ref: 'one',
      amount: credits(5),
      contra: 'promo',
      note: '',
    }),
  )
  await ledger.end()
  const clean = await run(['op', 'audit'])
  assert.equal(clean.code, 0)
  assert.deepEqual(clean.out.trim().split('\n'), [
    'the ledger ties out',
    'operators’ acts: 0, as they were recorded; the copy was not read: there is none',
    'the quarantine is empty',
    'no spool is out of reach',
  ])
  await db.query('update books set available = available + 1 where id = $1', [book])
  const broken = await run(['op', '--json', 'audit'])
  assert.equal(broken.code, 1)
  const rules = JSON.parse(broken.out).findings.map((one: { rule: string }) => one.rule)
  assert.ok(rules.includes('book_balance'), String(rules))
  await db.query('update books set available = available - 1 where id = $1', [book])
  await db.query(`select ledger_credit($1, 'purchase', 'forged', 1, 'clearing', '')`, [book])
  const forged = await run(['op', 'audit'])
  assert.equal(forged.code, 1)
  assert.match(forged.out, /^posting_without_order {2}forged {2}book/m)
})

test('op import-keys stores hashes and prints no key', async () => {
  const { db, url } = place.database as TestDatabase
  const ledger = await createTestLedger(url)
  const book = await ledger.createBook(db)
  await ledger.end()
  const key = 'sk-vendor-03-abcdefghijklmnopqrstuvwxyz0123'
  const { code, out } = await run(['op', 'import-keys'], {}, `${book} ${key}\n${book} nonsense\n`)
  assert.equal(code, 1, 'a refused line is a failure')
  assert.match(out, /1 imported, 1 refused/)
  assert.doesNotMatch(out, /abcdefghij/)
  const { rows } = await db.query('select hash from keys where book_id = $1', [book])
  assert.match((rows[0] as { hash: string }).hash, /^\$argon2id\$/)
})

test('op cuts no table that goes to a file or a pipe', async () => {
  const { code, out } = await run(['op', 'catalogue', 'check', 'catalogue.full.example.yaml'])
  assert.equal(code, 0)
  assert.match(out, /^model-code .* tool_search, mcp, advisor, compaction$/m)
})

test('op grant asks on the terminal, grants, and records the act', async () => {
  const { db, url } = place.database as TestDatabase
  const ledger = await createTestLedger(url)
  const book = await ledger.createBook(db)
  const grant = ['op', 'grant', `${book}`, '1000', '--reason', 'an outage', '--json']
  const declined = await run(grant, {}, 'no\n')
  assert.deepEqual([declined.code, declined.out.trim()], [1, '{"isDone":false}'])
  const { code, out, err } = await run(grant, {}, '1 000\n')
  assert.equal(code, 0, err)
  assert.match(err, /gets 1 000 promo credits.*\n.*an outage\nType 1 000 to do it: $/)
  assert.equal(JSON.parse(out).available, '1000', 'standard output is one object and nothing else')
  assert.equal((await ledger.balance(book))?.available, credits(1_000))
  await ledger.end()
  const { rows } = await db.query(
    `select command, outcome from operator_acts where command like 'grant %'`,
  )
  assert.deepEqual(rows, [{ command: `grant ${book} 1000 --reason 'an outage'`, outcome: 'done' }])
})

const skip = process.getuid?.() === 0 ? false : 'only root starts a process as another user'

test('op acts for a user without a name, as in the image, by its number', { skip }, async () => {
  const nameless = { uid: 12_345, gid: 12_345 }
  const spool = await mkdtemp(join(tmpdir(), 'tollgate-nameless-'))
  await chmod(spool, 0o777)
  // As in the image: without it libpq looks for a home directory that does not exist.
  const extra = { HOME: root, LEDGER_SPOOL_DIRECTORY: spool }
  const create = ['promo', 'create', 'FIRST', '1', '--times', '1', '--until', '2099-12-31', '--yes']
  const me = `12345@${hostname()}`
  for (const [as, by] of [[[], me] as const, [['--as', 'Olga'], 'Olga'] as const]) {
    const done = await run(['op', ...as, ...create, '--note', by], extra, '', nameless)
    assert.equal(done.code, 0, done.err)
    create[2] = 'SECOND'
    const { out } = await run(['op', 'acts', '--json', '--limit', '1'], extra, '', nameless)
    const [act] = JSON.parse(out).acts
    assert.deepEqual([act.by, act.osUser, act.outcome], [by, me, 'done'])
  }
  await rm(spool, { recursive: true })
})

test('op prints one sentence when the database is away or the command mistyped', async () => {
  const away = await run(['op', 'acts'], { DATABASE_URL: 'postgres://postgres@127.0.0.1:1/none' })
  assert.deepEqual([away.code, away.out], [1, ''])
  assert.match(away.err, /^the database does not answer: .*ECONNREFUSED/)
  const mistyped = await run(['op', 'acts', '--bye'])
  assert.equal(mistyped.code, 2)
  assert.match(mistyped.err, /--by\b/)
})

test('op prints one sentence when the database is read-only', async () => {
  const url = new URL(place.database?.url ?? '')
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const create = ['promo', 'create', 'READS', '1', '--times', '1', '--until', '2099-12-31']
  const { code, out, err } = await run(['op', ...create, '--note', 'x', '--yes'], {
    DATABASE_URL: url.href,
  })
  assert.deepEqual([code, out], [1, ''], err)
  assert.match(err, /^the database is unavailable: .*read-only/m)
  assert.doesNotMatch(err, /\n\s+at /, 'no stack')
})

test('op prints one sentence when the database does not exist', async () => {
  const url = new URL(place.database?.url ?? '')
  url.pathname = '/a_database_that_is_not_there'
  const { code, out, err } = await run(['op', 'acts'], { DATABASE_URL: url.href })
  assert.deepEqual([code, out], [1, ''], err)
  assert.match(err, /^the database is unavailable: .*does not exist/m)
})

test('op leaves a record of an act during which it was killed', async () => {
  const { db } = place.database as TestDatabase
  const mailbox = await startMailbox()
  mailbox.faults({ to: '*', do: 'hang', at: 'rcpt' })
  const args = ['src/main.ts', 'op', 'mail', 'test', 'me@example.org', '--yes']
  const env = environment('op', { MAIL_SMTP_URL: mailbox.smtpUrl })
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'ignore' })
  const isBegun = async () =>
    (await db.query(`select from operator_acts where command like 'mail %'`)).rows.length > 0
  await until('the act has begun', isBegun)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await mailbox.close()
  const { out } = await run(['op', 'acts', '--json', '--limit', '1'])
  const [{ command, outcome }] = JSON.parse(out).acts
  assert.deepEqual([command, outcome], ['mail test [address]', 'begun'])
})

/** Starts a command that keeps running; resolves when it has printed `said`. */
async function startCommand(command: string, said: string, extra: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(root, 'src/main.ts'), command], {
    cwd: root,
    env: environment(command, extra),
  })
  const lines: string[] = []
  child.stdout.on('data', (data: Buffer) => lines.push(data.toString()))
  const deadline = setTimeout(() => child.kill('SIGKILL'), 60_000)
  while (!lines.join('').includes(said)) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    if (child.exitCode !== null) break
  }
  return {
    printed: () => lines.join(''),
    async stop(): Promise<number | null> {
      child.kill('SIGTERM')
      const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
      clearTimeout(deadline)
      return code
    },
  }
}

test('work runs its jobs and ends on SIGTERM', async () => {
  const { printed, stop } = await startCommand('work', 'working')
  assert.equal(await stop(), 0, printed())
  assert.match(printed(), /stopped/)
})

test('work waits for a connection at its start, and ends on SIGTERM while it waits', async () => {
  const dbUser = await createLimitedDbUser(place.database as TestDatabase, 'tollgate_worker')
  await dbUser.refuseConnections()
  const waits = await startCommand('work', 'the database is away', { DATABASE_URL: dbUser.url })
  assert.equal(await waits.stop(), 0, waits.printed())
  const goesOn = await startCommand('work', 'the database is away', { DATABASE_URL: dbUser.url })
  await dbUser.allowConnections()
  await until('it works', async () => goesOn.printed().includes('"working"'))
  assert.equal(await goesOn.stop(), 0, goesOn.printed())
  await dbUser.drop()
})

test('cabinet answers, reports its readiness, and drains on SIGTERM', async () => {
  const { printed, stop } = await startCommand('cabinet', 'serving the cabinet', {
    CABINET_PORT: '0',
  })
  const port = /"port":(\d+),"msg":"serving the cabinet"/.exec(printed())?.[1]
  assert.ok(port, printed())
  const agent = { headers: { connection: 'close' } }
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/readyz`, agent)).text(), 'ready\n')
  assert.equal((await fetch(`http://127.0.0.1:${port}/notifications/none`, agent)).status, 404)
  assert.equal(await stop(), 0, printed())
  assert.match(printed(), /drained/)
})

test('console answers, asks for a session, and drains on SIGTERM', async () => {
  const { printed, stop } = await startCommand('console', 'serving the console', {
    ...{ CONSOLE_PORT: '0', METRICS_CONSOLE_PORT: '0' },
  })
  const port = /"port":(\d+),"msg":"serving the console"/.exec(printed())?.[1]
  assert.ok(port, printed())
  const agent = { headers: { connection: 'close' } }
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/readyz`, agent)).text(), 'ready\n')
  assert.equal((await fetch(`http://127.0.0.1:${port}/api/me`, agent)).status, 401)
  assert.equal(await stop(), 0, printed())
  assert.match(printed(), /drained/)
})

test('runs our files on the pinned Node, not on the one of the path', async () => {
  // The launcher is plain JavaScript, so that the machine's own Node can read it.
  const { code, out } = await runToEnd('node', [join(root, 'tools/node.mjs'), 'tools/which.ts'], {
    env: process.env,
  })
  assert.equal(code, 0)
  assert.equal(out.trim(), '26.10.0')
})
