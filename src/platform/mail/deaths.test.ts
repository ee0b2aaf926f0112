// E-mails while processes or the database die after the SMTP server's 250 and before our commit.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { startMailbox } from '../../../stand-ins/mailbox/mailbox.ts'
import { createMailStage, LONG_MS, type MailStage, until } from '../../../test/stages/mail.ts'
import { onServer, quiet } from '../../../test/support/harness.ts'
import { onRoles } from '../../../tools/program-roles.ts'
import { systemClock } from '../clock.ts'
import { startWorker } from '../worker/worker.ts'

const root = join(import.meta.dirname, '../../..')
let stage: MailStage
before(async () => {
  stage = await createMailStage()
})
after(() => stage.end())
afterEach(() => stage.clear())

test('an e-mail that one process is sending is not sent by another', async (t) => {
  const hanging = await startMailbox()
  t.after(() => hanging.close())
  hanging.faults({ to: '*', do: 'hang', at: 'reply' })
  const slow = stage.mailAt(hanging.smtpUrl)
  const id = await stage.posted()
  const sending = assert.rejects(slow.deliver(id), /the e-mail waits/)
  await hanging.wait({}, LONG_MS)
  await stage.mail.deliver(id)
  await stage.mail.maintain()
  assert.deepEqual([stage.mailbox.list(), (await stage.only()).attempts], [[], 1])
  await hanging.close() // ends the conversation
  await sending
  await stage.mail.deliver(id)
  assert.deepEqual([stage.mailbox.list().length, (await stage.only()).state], [1, 'sent'])
})

test('an SMTP server that hangs does not block other jobs', async (t) => {
  const hanging = await startMailbox()
  t.after(() => hanging.close())
  hanging.faults({ to: '*', do: 'hang', at: 'reply' })
  const slow = stage.mailAt(hanging.smtpUrl)
  for (let i = 0; i < 6; i++) await stage.posted()
  const done = Promise.withResolvers<void>()
  const deliver = (payload: unknown) => slow.deliver((payload as { id: string }).id)
  const worker = await startWorker({
    databaseUrl: stage.database.url,
    jobs: [
      { name: 'letter', waitsFor: 'SMTP server', limitMs: 60_000, concurrency: 2, run: deliver },
      { name: 'other', limitMs: 60_000, run: async () => done.resolve() },
    ],
    clock: systemClock,
    log: quiet,
  })
  await until('letters hang', async () => hanging.list().length === 2)
  await stage.db.query(`select graphile_worker.add_job('other')`)
  await done.promise
  assert.equal(hanging.list().length, 2)
  const stopping = worker.stop()
  await hanging.close()
  await stopping
})

/** A lock for which every update to `sent` waits, so that a process can die there. */
const GATE = 31_337

async function closeGate(): Promise<() => Promise<void>> {
  const { db } = stage
  await db.query(
    `create function wait_at_gate() returns trigger language plpgsql as $$
     begin perform pg_advisory_xact_lock(${GATE}); return new; end $$`,
  )
  await db.query(
    `create trigger gate before update on letters for each row
     when (new.state = 'sent') execute function wait_at_gate()`,
  )
  const opened = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const holding = onServer(async (client) => {
    await client.query(`select pg_advisory_lock(${GATE})`)
    closed.resolve()
    await opened.promise
  }, stage.database.url)
  await closed.promise
  return async () => {
    opened.resolve()
    await holding
    await db.query('drop trigger gate on letters')
    await db.query('drop function wait_at_gate')
  }
}

const WAITING = `from pg_stat_activity
  where wait_event = 'advisory' and datname = current_database()`

async function atGate(): Promise<number> {
  return (await stage.db.query(`select ${WAITING}`)).rows.length
}

/** Ends the sessions that wait for the lock, as a restart of the server would. */
async function cutAtGate(): Promise<void> {
  await stage.db.query(`select pg_terminate_backend(pid) ${WAITING}`)
  await until('they are gone', async () => (await atGate()) === 0)
}

test('resends with the same Message-ID after a kill between 250 and the commit', async () => {
  const openGate = await closeGate()
  const spool = await mkdtemp(join(tmpdir(), 'tollgate-letters-'))
  const id = await stage.posted()
  const worker = spawn(process.execPath, [join(root, 'src/main.ts'), 'work'], {
    cwd: root,
    env: onRoles('work', {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: stage.database.url,
      LEDGER_SPOOL_DIRECTORY: spool,
      METRICS_WORK_PORT: '0',
      MAIL_SMTP_URL: stage.mailbox.smtpUrl,
      MAIL_FROM: 'Gate <letters@gate.example>',
    }),
    stdio: 'ignore',
  })
  assert.equal((await stage.mailbox.wait({}, LONG_MS)).length, 1)
  await until('the worker has its 250 and waits to commit', async () => (await atGate()) === 1)
  worker.kill('SIGKILL')
  await once(worker, 'exit')
  // Otherwise its session would finish the statement when the lock is released.
  await cutAtGate()
  await openGate()
  await rm(spool, { recursive: true, force: true })

  await stage.mail.maintain()
  await stage.mail.deliver(id) // its lease still stands
  assert.deepEqual([(await stage.only()).state, stage.mailbox.list().length], ['queued', 1])
  await stage.db.query(`update letters set leased_until = leased_until - interval '5 minutes'`)
  await stage.withWorker(async () => {
    await stage.mail.maintain()
    await until('it is sent', async () => (await stage.only()).state === 'sent')
  })
  const [second, first] = stage.mailbox.list()
  assert.equal(second?.messageId, first?.messageId)
  assert.deepEqual([stage.mailbox.list().length, (await stage.only()).attempts], [2, 2])
})

test('does not resend an e-mail while the database is away after 250', async () => {
  const id = await stage.posted()
  const openGate = await closeGate()
  const sending = stage.mail.deliver(id)
  await stage.mailbox.wait({}, LONG_MS)
  await until('it waits to commit', async () => (await atGate()) === 1)
  await cutAtGate()
  await openGate()
  await sending
  assert.deepEqual([(await stage.only()).state, stage.mailbox.list().length], ['sent', 1])
})
