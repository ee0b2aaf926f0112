// The entry file of guards: limits that an owner sets against a lost key or a runaway program, and
// the e-mails that warn about them. The ledger's hold enforces the limits; this module sets them,
// lifts stops, and sends one e-mail for each crossing. README.md has the rules.
import type { BlockedReason, Ledger, StoppedBook } from '../ledger/ledger.ts'
import { assert } from '../platform/assert.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Mail } from '../platform/mail/mail.ts'
import type { BlockedWork } from '../platform/worker/blocked-work.ts'
import { createIntervalLoops } from '../platform/worker/interval-loops.ts'
import { type Credits, creditsText, micro } from '../units/credits.ts'
import type { PackPrice } from '../units/pack-price.ts'
import {
  type BalanceCheck,
  type Crossing,
  checkBalance,
  isSameState,
  type Pace,
  paceOf,
  type ThresholdKind,
  type Thresholds,
  thresholdReached,
} from './crossings.ts'
import type { GuardEmail, Language } from './email-kinds.ts'
import { type Brand, composeGuardEmail } from './emails.ts'
import { isLooser, type Limits } from './limits.ts'
import * as queries from './queries.ts'

export type { Pace, ThresholdKind, Thresholds } from './crossings.ts'
export type { Limits } from './limits.ts'

export type GuardsOptions = {
  readonly db: Db
  readonly ledger: Pick<
    Ledger,
    'balance' | 'setLimits' | 'block' | 'resume' | 'listStatus' | 'listStopped'
  >
  readonly mail: Pick<Mail, 'post'>
  readonly brand: Brand
  readonly log: Log
  readonly blockedWork?: BlockedWork
  /** The recipient; undefined for a book without an owner, or with a closed account. */
  ownerOf(book: BookId): Promise<Owner | undefined>
  /** The pack bought last: e-mails show credits in roubles at its price; undefined: none. */
  lastPackOf(book: BookId): Promise<PackPrice | undefined>
}

/** Where an e-mail goes, in which language, and at what price it shows credits in roubles. */
type Recipient = Owner & { readonly pack: PackPrice | undefined }

type Owner = {
  readonly email: string
  readonly language: Language
  /** UTC without one. */
  readonly zone?: string | null
}

export type GuardView = Limits &
  Thresholds & {
    readonly daySpent: Credits
    readonly blocked: BlockedReason | null
  }

/** The owner's thresholds, the one that the balance is below, and today's refusal, if any. */
export type Warnings = Thresholds & {
  readonly lowBy: ThresholdKind | null
  readonly pace: Pace
  readonly beyondDayLimit: {
    readonly dayLimit: Credits
    /** What the day's first refused request could cost; more than what is left now. */
    readonly needed: Credits
    readonly left: Credits
    /** When the limit's day, a UTC day, ends. */
    readonly resetsAtMs: number
  } | null
}

/** The e-mail about a stop must arrive within seconds; the query reads one small index. */
const STOP_CHECK_MS = 1_000
/** Books that are stopped at one time; e-mails for more of them wait until some are resumed. */
const STOPS_MAX = 10_000
/** The ledger reads at most this many books in one query. */
const PAGE_SIZE = 256
const MINUTE_SECONDS = 60
const DAY_MS = 86_400_000

/** A book that an older version of the program opened has no guard row. */
const UNGUARDED = {
  ...{ lowCredits: null, lowDays: null, lowBy: null, beyondDayLimit: null },
  pace: { perDay: micro(0n), overDays: 1, daysLeft: null },
}

export function createGuards(options: GuardsOptions) {
  const { db, ledger, mail, brand, log } = options
  /** Stops whose e-mail was sent, by their time: the database is not asked about them again. */
  const announcedStops = new Map<BookId, number>()

  async function recipientOf(book: BookId): Promise<Recipient | undefined> {
    const owner = await options.ownerOf(book)
    return owner && { ...owner, pack: await options.lastPackOf(book) }
  }

  async function post(tx: Tx, to: Recipient, content: GuardEmail, once?: string): Promise<void> {
    const composed = composeGuardEmail(content, to.language, brand, to)
    const { kind } = content
    await mail.post(tx, { to: to.email, kind, ...composed, ...(once !== undefined && { once }) })
  }

  async function read(book: BookId): Promise<GuardView> {
    const found = await ledger.balance(book)
    assert(found, `the book ${book} is not there`)
    await queries.guardInsert(db, book, found.spentTotal)
    const guard = await queries.guardFind(db, book)
    assert(guard, `the book ${book} has no guard`)
    const { lowCredits, lowDays } = guard
    return {
      ...limitsOf(found),
      lowCredits,
      lowDays,
      daySpent: found.daySpent,
      blocked: found.blockedReason,
    }
  }

  /**
   * Sets limits; they apply from the next hold on. For looser limits it calls `allowLooser`, which
   * may throw a refusal, and sends the owner an e-mail.
   */
  async function setLimits(
    book: BookId,
    limits: Limits,
    by: { readonly atMs: number; readonly address: string; allowLooser(): void },
  ): Promise<void> {
    const owner = await recipientOf(book)
    await db.transaction(async (tx) => {
      await queries.guardLock(tx, book)
      const before = await ledger.balance(book, tx)
      assert(before, `the book ${book} is not there`)
      if (isLooser(limitsOf(before), limits)) {
        by.allowLooser()
        const facts = { ...limits, atMs: by.atMs, address: by.address }
        if (owner !== undefined) await post(tx, owner, { kind: 'limits-loosened', facts })
      }
      await ledger.setLimits(tx, book, {
        dayLimit: limits.dayLimit,
        velocityLimit: limits.velocity?.limit ?? null,
        velocitySeconds: (limits.velocity?.minutes ?? MINUTE_SECONDS) * MINUTE_SECONDS,
      })
    })
  }

  /** Checks every guarded book, a page at a time; returns the number of e-mails. */
  async function checkBalances(): Promise<number> {
    let sent = 0
    let last = 0n as BookId
    for (;;) {
      const page = await queries.guardList(db, last, PAGE_SIZE)
      const status = await ledger.listStatus(page.map(({ book }) => book))
      const byBook = new Map(status.map((one) => [one.book, one]))
      for (const guard of page) {
        const found = byBook.get(guard.book)
        if (found === undefined) continue
        const check = checkBalance(guard, found)
        if (!isSameState(guard, check.after)) sent += await postEmails(guard, found, check)
      }
      if (page.length < PAGE_SIZE) return sent
      last = page.at(-1)?.book ?? last
    }
  }

  async function postEmails(
    guard: Parameters<typeof checkBalance>[0],
    status: Parameters<typeof checkBalance>[1],
    check: BalanceCheck,
  ): Promise<number> {
    const owner = check.crossings.length === 0 ? undefined : await recipientOf(guard.book)
    return db.transaction(async (tx) => {
      if (!(await queries.guardUpdateState(tx, guard, check.after))) return 0
      if (owner === undefined) return 0
      for (const kind of check.crossings) await post(tx, owner, emailOf(kind, status, check))
      log.info(
        { book: guard.book, kinds: check.crossings },
        'an e-mail about the balance is queued',
      )
      return check.crossings.length
    })
  }

  /** Sends e-mails about books that were stopped for their speed; returns their number. */
  async function checkStops(): Promise<number> {
    const stopped = await ledger.listStopped(STOPS_MAX)
    const fresh = stopped.filter(({ book, until }) => announcedStops.get(book) !== until.getTime())
    let sent = 0
    for (const stop of fresh) sent += await announceStop(stop)
    if (announcedStops.size > STOPS_MAX) announcedStops.clear()
    for (const { book, until } of fresh) announcedStops.set(book, until.getTime())
    return sent
  }

  async function announceStop(stop: StoppedBook): Promise<number> {
    const { book, until, velocityLimit: limit, velocitySeconds } = stop
    const owner = await recipientOf(book)
    const isFirst = await db.transaction(async (tx) => {
      if (!(await queries.guardMarkStopAnnounced(tx, book, until))) return false
      const facts = { limit, minutes: Math.ceil(velocitySeconds / MINUTE_SECONDS) }
      const once = `${book} ${until.toISOString()}`
      if (owner !== undefined) await post(tx, owner, { kind: 'velocity-stopped', facts }, once)
      return true
    })
    if (isFirst) log.warn({ book, limit }, 'a book was stopped for its speed')
    return isFirst && owner !== undefined ? 1 : 0
  }

  const loops = createIntervalLoops(
    [{ name: 'stops', everyMs: STOP_CHECK_MS, run: checkStops }],
    log,
    options.blockedWork,
  )

  return {
    /** Inserts the guard of a new book, in the caller's transaction. May be repeated. */
    open: (tx: Tx, book: BookId): Promise<void> => queries.guardInsert(tx, book, micro(0n)),

    read,
    setLimits,

    /** Sets the thresholds and arms them again. */
    async setThresholds(book: BookId, thresholds: Thresholds): Promise<void> {
      await queries.guardSetThresholds(db, book, thresholds)
    },

    /** What the e-mails warn about, as it is now. */
    async warnings(book: BookId): Promise<Warnings> {
      const [guard, [status]] = await Promise.all([
        queries.guardFind(db, book),
        ledger.listStatus([book]),
      ])
      if (guard === undefined || status === undefined) return UNGUARDED
      const { lowCredits, lowDays } = guard
      const lowBy = thresholdReached(guard, status)
      const pace = paceOf(guard, status)
      return { lowCredits, lowDays, lowBy, pace, beyondDayLimit: beyondDayLimit(status) }
    },

    /** Refuses requests from the next hold on; running ones continue. May be repeated. */
    suspend: (book: BookId): Promise<void> => ledger.block(db, book, 'owner_suspended'),

    /** Lifts the owner's own stop, or the one for speed; never an operator's. May be repeated. */
    async resume(book: BookId): Promise<void> {
      const isLifted = await ledger.resume(db, book, 'velocity_stopped')
      if (!isLifted) await ledger.resume(db, book, 'owner_suspended')
    },

    /** Jobs of the worker. Each may be repeated, and several processes may run it at once. */
    jobs: { checkBalances, checkStops },

    /** A loop in the worker for stops, which cannot wait for the next minute. */
    start: loops.start,
    stop: loops.stop,

    /** The owner's settings as JSON values, for a copy of the data. Only reads. */
    async copy(book: BookId) {
      const found = await ledger.balance(book)
      assert(found, `the book ${book} is not there`)
      const { dayLimit, velocity } = limitsOf(found)
      const { lowCredits, lowDays } = (await queries.guardFind(db, book)) ?? UNGUARDED
      return {
        dayLimit: dayLimit === null ? null : creditsText(dayLimit),
        velocity: velocity && { ...velocity, limit: creditsText(velocity.limit) },
        lowCredits: lowCredits === null ? null : creditsText(lowCredits),
        lowDays,
      }
    },
  }
}

export type Guards = ReturnType<typeof createGuards>

/** Null when such a request would be served now: the owner raised the limit, or holds ended. */
function beyondDayLimit(status: Parameters<typeof checkBalance>[1]): Warnings['beyondDayLimit'] {
  const { isDayLimitMet, dayLimit, dayLimitNeeded: needed, dayLeft: left } = status
  if (!isDayLimitMet || dayLimit === null || needed === null || left === null) return null
  return needed > left ? { dayLimit, needed, left, resetsAtMs: dayEndMs(status) } : null
}

/** The ledger counts a limit's day in UTC. */
function dayEndMs({ day }: { readonly day: string }): number {
  return Date.parse(day) + DAY_MS
}

function limitsOf(book: {
  readonly dayLimit: Credits | null
  readonly velocityLimit: Credits | null
  readonly velocitySeconds: number
}): Limits {
  const { dayLimit, velocityLimit: limit, velocitySeconds } = book
  const minutes = Math.ceil(velocitySeconds / MINUTE_SECONDS)
  return { dayLimit, velocity: limit === null ? null : { limit, minutes } }
}

function emailOf(
  kind: Crossing,
  status: Parameters<typeof checkBalance>[1],
  { pace: { daysLeft } }: BalanceCheck,
): GuardEmail {
  const { balance, dayLimit, dayLimitNeeded: needed, dayLimitLeft: left } = status
  switch (kind) {
    case 'low-balance':
      return { kind, facts: { balance, daysLeft } }
    case 'balance-empty':
      return { kind, facts: { balance } }
    case 'day-limit-reached':
      assert(dayLimit !== null, 'a limit that was met is there')
      return { kind, facts: { dayLimit, needed, left, resetsAtMs: dayEndMs(status) } }
  }
}
