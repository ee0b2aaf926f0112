// Letters to people: an outbox in our database and a relay that takes them by SMTP. A letter exists
// exactly when the transaction that posted it does, and is sent at least once. Almost always it is
// sent exactly once: if the process dies after the relay said 250 and before our row says sent, the
// letter goes again when its lease is over, with the same Message-ID, by which receivers drop it.
// A bounce that comes back as a letter later is not seen here; it goes to the address in `from`.
import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { assert } from '../assert.ts'
import type { Clock } from '../clock.ts'
import type { Db, Executor } from '../db/db.ts'
import type { Log } from '../log.ts'
import type { Masked } from '../masked.ts'
import {
  type LetterCounts,
  type LetterRow,
  letterCount,
  letterDeleteOld,
  letterEnd,
  letterInsert,
  letterLease,
  letterListTo,
  letterListTroubled,
  letterRelease,
  letterResume,
} from './queries.ts'
import { readSmtpUrl } from './smtp-url.ts'

export type Letter = {
  /** One plain address. */
  readonly to: string
  /** What the letter is about, such as payment-credited; receivers see it as X-Letter-Kind. */
  readonly kind: string
  /** Kept after the letter has gone: nothing secret in it. */
  readonly subject: string
  readonly text: string
  readonly html: string
  /** At most one letter per kind and cause. */
  readonly once?: string
}

/** How many letters are under way at a time, each on its own connection. */
export const LETTERS_AT_ONCE = 2
/**
 * The pauses of graphile-worker grow as e^n seconds up to six hours, so fourteen tries are 28
 * hours: a receiver's greylisting and a relay that is away for a day are both outlived.
 */
const ATTEMPTS_MAX = 14
/** A relay that is there answers a connection in milliseconds. */
const CONNECT_MS = 15_000
/** Silence of a relay. Content filters take seconds over a letter; a minute is a dead line. */
const SILENCE_MS = 60_000
/**
 * Longer than all the silences that one letter can meet. A letter of a process that died waits so
 * long and goes again; a shorter lease would repeat letters of processes that are alive.
 */
const LEASE_SECONDS = 300
/**
 * After 250 the row must learn of it. A failover takes 18-25 s; together these are 39 s. Each is
 * 5 s at most, since a letter that pauses keeps its place while others wait for the same database.
 */
const REMEMBER_PAUSES_MS = [0, 1_000, 3_000, ...new Array<number>(7).fill(5_000)]
/** A quarter: as long as customers ask about a letter. Older rows keep addresses for nothing. */
const KEPT_DAYS = 92
const ERROR_LENGTH_MAX = 500

export type MailOptions = {
  readonly db: Db
  readonly smtpUrl: Masked<string>
  /** `Name <address>`, or an address alone. */
  readonly from: string
  readonly log: Log
  readonly clock: Clock
}

export function createMail({ db, smtpUrl, from, log, clock }: MailOptions) {
  const read = readSmtpUrl(smtpUrl.reveal())
  assert(!('complaint' in read), 'the address of the relay was checked with the settings')
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  const relay = {
    ...read,
    // How we introduce ourselves; the name of a container means nothing to a relay.
    name: domain,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // Nothing in a letter may make us read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  // One requeue, for a connection that the relay closed while it lay idle in the pool. The pool
  // never repeats a letter of which a byte was sent.
  const pool = createTransport({
    ...relay,
    pool: true,
    maxConnections: LETTERS_AT_ONCE,
    maxRequeues: 1,
  })

  const mimeOf = (letter: LetterRow) => ({
    from,
    to: { name: '', address: letter.recipient },
    subject: letter.subject,
    text: letter.text,
    html: letter.html,
    messageId: `<letter.${letter.id}@${domain}>`,
    // The moment of its cause: a letter that waited a day tells of that day.
    date: letter.postedAt,
    headers: {
      'X-Letter-Kind': letter.kind,
      // Holiday notes are not for us (RFC 3834).
      'Auto-Submitted': 'auto-generated',
    },
  })

  /** The relay has the letter; only our row does not know. */
  async function remember(id: string): Promise<void> {
    for (const [i, pauseMs] of REMEMBER_PAUSES_MS.entries()) {
      await pause(pauseMs)
      try {
        return await letterEnd(db, { id, state: 'sent', error: null })
      } catch (error) {
        log.warn({ letter: id, err: error }, 'a letter was sent and its row does not know yet')
        if (i === REMEMBER_PAUSES_MS.length - 1) throw error
      }
    }
  }

  /** Ends a letter that cannot succeed; throws for one that may, so that its job is repeated. */
  async function refuse(letter: LetterRow, refusal: Refusal): Promise<void> {
    const { id, kind, attempts } = letter
    const fields = { letter: id, kind, attempts, reply: refusal.short }
    if (refusal.isFinal || attempts >= ATTEMPTS_MAX) {
      await letterEnd(db, { id, state: 'failed', error: refusal.text })
      log.warn(fields, 'a letter failed')
      return
    }
    await letterRelease(db, id, refusal.text)
    log.info(fields, 'a letter waits for its next try')
    throw new Error(`the letter waits: ${refusal.short}`)
  }

  return {
    /**
     * Puts a letter into the outbox, in the caller's transaction. A second letter of the same kind
     * and cause is none. Never refuses: a wrong address fails its letter later, not its cause now.
     */
    post: (tx: Executor, letter: Letter): Promise<void> =>
      letterInsert(tx, {
        kind: letter.kind,
        once: letter.once ?? null,
        recipient: letter.to,
        subject: letter.subject,
        text: letter.text,
        html: letter.html,
      }),

    /** The job. May be repeated: a letter that ended, or that somebody is sending, is let be. */
    async deliver(id: string): Promise<void> {
      const letter = await letterLease(db, id, LEASE_SECONDS)
      if (letter === undefined) return
      if (letter.attempts > ATTEMPTS_MAX) {
        // Its senders died every time; perhaps of the letter itself.
        const error = 'given up: its senders died'
        return letterEnd(db, { id, state: 'failed', error })
      }
      const startedMs = clock.spanMs()
      try {
        await pool.sendMail(mimeOf(letter))
      } catch (error) {
        return refuse(letter, refusalOf(error))
      }
      await remember(id)
      const tookMs = Math.round(clock.spanMs() - startedMs)
      log.info(
        { letter: id, kind: letter.kind, attempts: letter.attempts, tookMs },
        'a letter went',
      )
    },

    /** Every minute: letters whose sender died go again, and old ones are forgotten. */
    async tend(): Promise<void> {
      const resumed = await letterResume(db)
      if (resumed.length > 0) log.warn({ letters: resumed }, 'letters of a dead process go again')
      await letterDeleteOld(db, KEPT_DAYS)
    },

    /** Sends a letter now, past the outbox, and tells what was said. Never throws. */
    async test(to: string): Promise<string> {
      const { lines, logger } = dialogue()
      const once = createTransport({ ...relay, logger, transactionLog: true })
      try {
        await once.sendMail({
          from,
          to: { name: '', address: to },
          subject: 'A test letter',
          text: 'This letter was sent to see whether letters arrive. They do.\n',
          headers: { 'X-Letter-Kind': 'test', 'Auto-Submitted': 'auto-generated' },
        })
        lines.push('sent')
      } catch (error) {
        lines.push(`not sent: ${refusalOf(error).text}`)
      }
      return lines.join('\n')
    },

    /** What waits, for how long, and what failed. Reads the table, so it is the same everywhere. */
    stats: (): Promise<LetterCounts> => letterCount(db),

    /** Letters that failed today, or that the relay has refused and will be asked about again. */
    troubled: (limit: number) => letterListTroubled(db, limit),

    /** What somebody was told, without the letters themselves: for the owner's copy. */
    sentTo: (address: string) => letterListTo(db, address),

    /** Closes connections to the relay; a letter under way is finished first. */
    close: (): void => pool.close(),
  }
}

export type Mail = ReturnType<typeof createMail>

type Refusal = {
  readonly isFinal: boolean
  /** Code and command, without a word of the relay's: for the log. */
  readonly short: string
  /** What the relay said, for the table. */
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
 * Final is only what the relay says about this letter: a 5xx to its recipient or its content, and
 * what nodemailer will not even send. A 5xx to our name, password or sender is about us: it stays
 * until an operator mends it, and then every letter that waited goes.
 */
function refusalOf(thrown: unknown): Refusal {
  const error = thrown as SmtpError
  const { code = 'unknown', command = '', responseCode } = error
  const isRefused = error.permanent === true && /^(?:RCPT TO|DATA)$/.test(command)
  const isUnsendable = responseCode === undefined && /^(?:EENVELOPE|EMESSAGE)$/.test(code)
  // Filters quote the link that they did not like, and ours may sign somebody in.
  const said = (error.response ?? error.message).replace(/https?:\/\/\S+/gi, '[link]')
  const text = said.replace(/\p{Cc}+/gu, ' ') // a NUL is nothing that PostgreSQL would store
  return {
    isFinal: isRefused || isUnsendable,
    short: [responseCode ?? code, command].filter((word) => word !== '').join(' at '),
    text: text.slice(0, ERROR_LENGTH_MAX),
  }
}

/** Collects what both sides say. nodemailer leaves passwords and the letter itself out. */
function dialogue() {
  const lines: string[] = []
  const note = (entry: unknown, message?: unknown, ...values: unknown[]) => {
    const { tnx } = (entry ?? {}) as { tnx?: string }
    const said = values.reduce<string>(
      (text, value) => text.replace(/%[sd]/, () => String(value)),
      String(message ?? ''),
    )
    if (tnx === 'client') lines.push(...said.split('\n').map((line) => `> ${line}`))
    else if (tnx === 'server') lines.push(...said.split('\n').map((line) => `< ${line}`))
    else if (tnx === 'network') lines.push(`  ${said}`)
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
