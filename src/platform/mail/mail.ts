// Sends e-mails: an outbox table in our database and an SMTP server. An e-mail exists exactly if
// the transaction that posted it committed, and is sent at least once. It is sent twice only if the
// process dies after the server's 250 and before the row says sent: it is then sent again when its
// lease ends, with the same Message-ID, by which receivers recognise duplicates. Bounces that
// arrive later as e-mails go to the address in `from` and are not handled here.
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { assert } from '../assert.ts'
import type { Clock } from '../clock.ts'
import type { Db, Executor } from '../db/db.ts'
import type { Log } from '../log.ts'
import type { Masked } from '../masked.ts'
import { composeEmail, type EmailBrand, type EmailContent } from './email.ts'
import {
  type EmailCounts,
  type EmailRow,
  type EmailsOf,
  emailCount,
  emailCountWaiting,
  emailDeleteOld,
  emailEnd,
  emailErase,
  emailInsert,
  emailLatestTo,
  emailLease,
  emailListFailed,
  emailListOf,
  emailListTo,
  emailRelease,
  emailResume,
  emailRetry,
  POSTPONED,
} from './queries.ts'
import { readSmtpUrl } from './smtp-url.ts'

export type EmailMessage = {
  /** One plain address. */
  readonly to: string
  /** What the e-mail is about, such as payment-credited; receivers see it as X-Letter-Kind. */
  readonly kind: string
  /** Kept after the e-mail was sent, so it must contain no secret. */
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The cause: at most one e-mail is sent per kind and cause. */
  readonly once?: string
  /** A POST to this address unsubscribes from such e-mails (RFC 8058). */
  readonly unsubscribe?: string
  /** The account whose it is, where the address is not its own yet; else the database knows. */
  readonly account?: string
}

/** How many e-mails are sent at a time, each on its own connection. */
export const EMAILS_AT_ONCE = 2
/**
 * The pauses of graphile-worker grow as e^n seconds up to six hours, so fourteen tries take 28
 * hours: longer than greylisting, or an SMTP server that is down for a day.
 */
const ATTEMPTS_MAX = 14
/** An SMTP server that works accepts a connection in milliseconds. */
const CONNECT_MS = 15_000
/** A probe that waits longer would tell of an outage too late. */
const PROBE_MS = 8_000
/** Without an answer for this long the connection counts as dead. Content filters take seconds. */
const SILENCE_MS = 60_000
/**
 * Longer than all timeouts that one e-mail can meet. The e-mail of a process that died is sent
 * again after this time; a shorter lease would repeat e-mails of living processes.
 */
const LEASE_SECONDS = 300
/**
 * Pauses between attempts to store that the server has accepted the e-mail. A failover takes 18-25
 * s; together these are 39 s. Each is at most 5 s, because an e-mail that pauses blocks others that
 * wait for the same database.
 */
const MARK_SENT_PAUSES_MS = [0, 1_000, 3_000, ...new Array<number>(7).fill(5_000)]
/**
 * A quarter: customers ask about an e-mail that long. Older rows would keep addresses without need.
 */
const KEPT_DAYS = 92
const ERROR_LENGTH_MAX = 500

/** What `op mail test` sends. */
export const TEST_EMAIL: EmailContent = {
  subject: 'A test e-mail',
  lines: ['This e-mail was sent to see whether e-mails arrive. They do.'],
}

export type MailOptions = {
  readonly db: Db
  readonly smtpUrl: Masked<string>
  /** `Name <address>`, or an address alone. */
  readonly from: string
  /** Replies go to its address of support: nobody reads the mailbox of the sender. */
  readonly brand: EmailBrand
  readonly log: Log
  readonly clock: Clock
}

export function createMail({ db, smtpUrl, from, brand, log, clock }: MailOptions) {
  const read = readSmtpUrl(smtpUrl.reveal())
  assert(!('problem' in read), 'the address of the relay was checked with the settings')
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  const server = {
    ...read,
    // Our name in EHLO, instead of the host name of a container.
    name: domain,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // The content of an e-mail must not make nodemailer read a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // One requeue, for an idle connection that the server has closed. The pool never repeats an
  // e-mail of which a byte was sent.
  const pool = createTransport({
    ...server,
    pool: true,
    maxConnections: EMAILS_AT_ONCE,
    maxRequeues: 1,
  })

  const mimeOf = (email: EmailRow) => ({
    from,
    replyTo: brand.supportEmail,
    to: { name: '', address: email.recipient },
    subject: email.subject,
    text: email.text,
    html: email.html,
    messageId: `<letter.${email.id}@${domain}>`,
    // The time of its cause, also for an e-mail that waited a day.
    date: email.postedAt,
    headers: {
      'X-Letter-Kind': email.kind,
      // Prevents automatic replies (RFC 3834).
      'Auto-Submitted': 'auto-generated',
      ...(email.unsubscribe !== null && {
        'List-Unsubscribe': `<${email.unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  })

  /** The server has accepted the e-mail: stores it in our row, with retries. */
  async function markSent(id: string): Promise<void> {
    for (const [i, pauseMs] of MARK_SENT_PAUSES_MS.entries()) {
      await pause(pauseMs)
      try {
        return await emailEnd(db, { id, state: 'sent', error: null })
      } catch (error) {
        log.warn({ letter: id, err: error }, 'an e-mail was sent, but its row is not marked yet')
        if (i === MARK_SENT_PAUSES_MS.length - 1) throw error
      }
    }
  }

  /**
   * Ends an e-mail that cannot be sent; throws for one that may be sent later, so that its job is
   * repeated.
   */
  async function handleFailure(email: EmailRow, failure: SmtpFailure): Promise<void> {
    const { id, kind, attempts } = email
    const fields = { letter: id, kind, attempts, reply: failure.short }
    if (failure.isPermanent || attempts >= ATTEMPTS_MAX) {
      await emailEnd(db, { id, state: 'failed', error: failure.text })
      log.warn(fields, 'an e-mail failed')
      return
    }
    await emailRelease(db, id, failure.text)
    log.info(fields, 'an e-mail waits for its next try')
    throw new Error(`the e-mail waits: ${failure.short}`)
  }

  return {
    /**
     * Puts an e-mail into the outbox, in the caller's transaction. A second one of the same kind
     * and cause is ignored: false. Never refuses: a wrong address fails the e-mail later, not the
     * caller now.
     */
    post: (tx: Executor, email: EmailMessage): Promise<boolean> =>
      emailInsert(tx, {
        kind: email.kind,
        once: email.once ?? null,
        recipient: email.to,
        subject: email.subject,
        text: email.text,
        html: email.html,
        unsubscribe: email.unsubscribe ?? null,
        account: email.account ?? null,
      }),

    /**
     * The job that sends one e-mail. May be repeated: it ignores an e-mail that has ended or that
     * another process is sending.
     */
    async deliver(id: string): Promise<void> {
      const email = await emailLease(db, id, LEASE_SECONDS)
      if (email === undefined) return
      if (email.attempts > ATTEMPTS_MAX) {
        // The process died at every attempt, perhaps because of this e-mail.
        const error = 'given up: its senders died'
        return emailEnd(db, { id, state: 'failed', error })
      }
      const startedMs = clock.spanMs()
      try {
        await pool.sendMail(mimeOf(email))
      } catch (error) {
        return handleFailure(email, smtpFailureOf(error))
      }
      await markSent(id)
      const tookMs = Math.round(clock.spanMs() - startedMs)
      log.info(
        { letter: id, kind: email.kind, attempts: email.attempts, tookMs },
        'an e-mail was sent',
      )
    },

    /** Runs every minute: resends e-mails whose process died, and deletes old ones. */
    async maintain(): Promise<void> {
      const resumed = await emailResume(db)
      if (resumed.length > 0)
        log.warn({ letters: resumed }, 'e-mails of a dead process are sent again')
      await emailDeleteOld(db, KEPT_DAYS)
    },

    /**
     * Connects and signs in, but sends nothing. Returns why the server would take no e-mail now,
     * without its text; undefined: it would. Never throws.
     */
    async problem(): Promise<string | undefined> {
      const limits = { connectionTimeout: PROBE_MS, greetingTimeout: PROBE_MS }
      const once = createTransport({ ...server, ...limits, socketTimeout: PROBE_MS })
      try {
        await once.verify()
        return undefined
      } catch (error) {
        return smtpFailureOf(error).short
      } finally {
        once.close()
      }
    },

    /**
     * Sends a test e-mail at once, without the outbox, and returns the SMTP dialogue. Never throws.
     */
    async test(to: string): Promise<string> {
      const { lines, logger } = dialogueLog()
      const once = createTransport({ ...server, logger, transactionLog: true })
      try {
        await once.sendMail({
          from,
          replyTo: brand.supportEmail,
          to: { name: '', address: to },
          ...composeEmail(TEST_EMAIL, { brand, language: 'en', reason: 'address' }),
          headers: { 'X-Letter-Kind': 'test', 'Auto-Submitted': 'auto-generated' },
        })
        lines.push('sent')
      } catch (error) {
        lines.push(`not sent: ${smtpFailureOf(error).text}`)
      }
      return lines.join('\n')
    },

    /**
     * How many e-mails wait, for how long, and how many failed. Read from the table, so every
     * process returns the same.
     */
    stats: (): Promise<EmailCounts> => emailCount(db),

    /**
     * E-mails that failed today, or that the server has refused for now and that will be tried
     * again.
     */
    listFailed: (limit: number) => emailListFailed(db, limit),

    /** Sends an e-mail that waits after a failure, once committed; false: it does not wait. */
    retry: (tx: Executor, id: string): Promise<boolean> => emailRetry(tx, id),

    /** The e-mails to these addresses without their texts, for operators. */
    listTo: (addresses: readonly string[]) => emailListTo(db, addresses),

    /** The e-mails of an account without their texts, for the owner's export. */
    listOf: (of: EmailsOf) => emailListOf(db, of),

    /** How many e-mails of an account wait to be sent. */
    waiting: (executor: Executor, of: EmailsOf) => emailCountWaiting(executor, of),

    /** Deletes the e-mails of an account that is erased. */
    erase: (tx: Executor, of: EmailsOf) => emailErase(tx, of),

    /** For operators: the newest e-mail of these kinds to each address. */
    latestTo: (recipients: readonly string[], kinds: readonly string[]) =>
      emailLatestTo(db, { recipients, kinds }),

    /** Closes the connections to the server after the e-mails under way. */
    close: (): void => pool.close(),
  }
}

export type Mail = ReturnType<typeof createMail>

type SmtpFailure = {
  readonly isPermanent: boolean
  /** Code and command, without the server's text: for the log. */
  readonly short: string
  /** The server's text, for the table. */
  readonly text: string
}

type SmtpError = Error & {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
  readonly permanent?: boolean
}

/**
 * A failure is final only if it is about this e-mail: a 5xx to its recipient or its content, or an
 * e-mail that nodemailer rejects. A 5xx to our name, password or sender is about our configuration:
 * e-mails wait until an operator has corrected it.
 */
function smtpFailureOf(thrown: unknown): SmtpFailure {
  const error = thrown as SmtpError
  const { code = 'unknown', command = '', responseCode } = error
  const isRefused = error.permanent === true && /^(?:RCPT TO|DATA)$/.test(command)
  const isPostponed = error.permanent !== true && command === 'RCPT TO'
  const isUnsendable = responseCode === undefined && /^(?:EENVELOPE|EMESSAGE)$/.test(code)
  // Spam filters quote links, and ours may sign somebody in.
  const response = (error.response ?? error.message).replace(/https?:\/\/\S+/gi, '[link]')
  const text = response.replace(/\p{Cc}+/gu, ' ') // PostgreSQL cannot store a NUL
  return {
    isPermanent: isRefused || isUnsendable,
    short: [responseCode ?? code, command].filter((word) => word !== '').join(' at '),
    text: `${isPostponed ? POSTPONED : ''}${text}`.slice(0, ERROR_LENGTH_MAX),
  }
}

/** Collects the SMTP dialogue. nodemailer leaves out passwords and the e-mail's text. */
function dialogueLog() {
  const lines: string[] = []
  const note = (entry: unknown, message?: unknown, ...values: unknown[]) => {
    const { tnx } = (entry ?? {}) as { tnx?: string }
    const response = values.reduce<string>(
      (text, value) => text.replace(/%[sd]/, () => String(value)),
      String(message ?? ''),
    )
    if (tnx === 'client') lines.push(...response.split('\n').map((line) => `> ${line}`))
    else if (tnx === 'server') lines.push(...response.split('\n').map((line) => `< ${line}`))
    else if (tnx === 'network') lines.push(`  ${response}`)
  }
  const level = () => undefined
  const logger = {
    level,
    trace: note,
    debug: note,
    info: note,
    warn: note,
    error: note,
    fatal: note,
  }
  return { lines, logger }
}
