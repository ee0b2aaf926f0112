// A stage for e-mails: a database with jobs, an outbox, and the mailbox stand-in.
import assert from 'node:assert/strict'
import { systemClock } from '../../src/platform/clock.ts'
import { createLog } from '../../src/platform/log.ts'
import { createMail, type EmailMessage, type Mail } from '../../src/platform/mail/mail.ts'
import { Masked } from '../../src/platform/masked.ts'
import { startWorker } from '../../src/platform/worker/worker.ts'
import { startMailbox } from '../../stand-ins/mailbox/mailbox.ts'
import { createTestDatabase, quiet } from '../support/harness.ts'

const brand = {
  name: 'Gate',
  supportEmail: 'help@example.org',
  cabinetUrl: 'https://cabinet.example',
}
export const SECRET = 'https://cabinet.example/confirm?code=canary-31337'
export const letter: EmailMessage = {
  to: 'anna@example.org',
  kind: 'confirm-email',
  subject: 'Подтвердите адрес',
  text: `Откройте ${SECRET}\n`,
  html: `<p>Откройте <a href="${SECRET}">ссылку</a></p>`,
}

/** The longest wait for an e-mail. A machine may stop for a minute; a test's own limit is two. */
export const LONG_MS = 100_000

export type LetterState = {
  id: string
  state: string
  attempts: number
  last_error: string | null
  body_text: string | null
  leased_until: Date | null
}

export type MailStage = Awaited<ReturnType<typeof createMailStage>>

export async function createMailStage() {
  const database = await createTestDatabase()
  const { db } = database
  const mailbox = await startMailbox()
  const lines: string[] = []
  const log = createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } })

  function mailAt(smtpUrl: string): Mail {
    const from = 'Gate <letters@gate.example>'
    return createMail({ db, smtpUrl: new Masked(smtpUrl), from, brand, log, clock: systemClock })
  }
  const mail = mailAt(mailbox.smtpUrl)

  async function letters(): Promise<LetterState[]> {
    const { rows } = await db.query('select * from letters order by posted_at')
    return rows as LetterState[]
  }

  return {
    database,
    db,
    mailbox,
    mail,
    mailAt,
    letters,
    /** What was logged, at every level. */
    lines,
    /** The only e-mail in the outbox. */
    async only(): Promise<LetterState> {
      const [first, ...more] = await letters()
      assert.ok(first !== undefined && more.length === 0, 'there is one letter')
      return first
    },
    /** Posts an e-mail and returns its id. */
    async posted(change: Partial<EmailMessage> = {}): Promise<string> {
      await mail.post(db, { ...letter, ...change })
      const id = (await letters()).at(-1)?.id
      assert.ok(id)
      return id
    },
    async jobs(): Promise<number> {
      return (await db.query('select from graphile_worker.jobs')).rows.length
    },
    /** A worker sends e-mails while `work` runs. */
    async withWorker(work: () => Promise<void>): Promise<void> {
      const run = (payload: unknown) => mail.deliver((payload as { id: string }).id)
      const worker = startWorker({
        databaseUrl: database.url,
        jobs: [{ name: 'letter', limitMs: 60_000, concurrency: 2, run }],
        clock: systemClock,
        log: quiet,
      })
      try {
        await work()
      } finally {
        await worker.stop()
      }
    },
    async clear(): Promise<void> {
      mailbox.clear()
      mailbox.faults()
      await db.query('delete from letters')
      await db.query('delete from graphile_worker._private_jobs')
      lines.length = 0
    },
    async end(): Promise<void> {
      mail.close()
      await mailbox.close()
      await database.drop()
    },
  }
}

/** Looks every 20 ms, at most for half a minute. */
export async function until(what: string, check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1_500; i++) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.fail(`waited too long until ${what}`)
}
