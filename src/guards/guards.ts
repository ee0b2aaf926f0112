// The door of guards: what an owner sets so that a lost key or a runaway program costs no more than
// was meant, and the letters that come before it hurts. The ledger's hold keeps the limits; here
// they are set, stops are lifted, and crossings are told once. README.md has the rules.
import type { BlockedReason, Ledger, StoppedBook } from '../ledger/ledger.ts'
import { assert } from '../platform/assert.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Mail } from '../platform/mail/mail.ts'
import { createRounds } from '../platform/worker/rounds.ts'
import { type Credits, creditsText } from '../units/credits.ts'
import {
  type Crossing,
  isSame,
  type Look,
  type LowBy,
  lookAt,
  lowAt,
  type Thresholds,
} from './crossings.ts'
import { type Brand, compose } from './letters.ts'
import { isLooser, type Limits } from './limits.ts'
import type { Language, Notice } from './notice.ts'
import * as queries from './queries.ts'

export type { LowBy, Thresholds } from './crossings.ts'
export type { Limits } from './limits.ts'

export type GuardsOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'balance' | 'limit' | 'block' | 'resume' | 'watched' | 'stopped'>
  readonly mail: Pick<Mail, 'post'>
  readonly brand: Brand
  readonly log: Log
  /** Whom to tell; undefined for a book without an owner, or with a closed account. */
  ownerOf(book: BookId): Promise<Owner | undefined>
}

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

/** A letter about a stop must be there within seconds; a look is one small index. */
const STOPS_MS = 1_000
/** Stopped and not resumed at one time; those beyond wait for one of them. */
const STOPS_MAX = 10_000
/** What the ledger reads at once. */
const PAGE = 256
const MINUTE_SECONDS = 60
const DAY_MS = 86_400_000

/** A book that an older version opened has no guard yet. */
const UNGUARDED = { lowCredits: null, lowDays: null, lowBy: null }

export function createGuards(options: GuardsOptions) {
  const { db, ledger, mail, brand, log } = options
  /** Stops that were told, so that one which nobody lifts is not asked about every second. */
  const told = new Map<BookId, number>()

  async function post(tx: Tx, owner: Owner, notice: Notice, once?: string): Promise<void> {
    const letter = compose(notice, owner.language, brand, owner.zone)
    const { kind } = notice
    await mail.post(tx, { to: owner.email, kind, ...letter, ...(once !== undefined && { once }) })
  }

  async function read(book: BookId): Promise<GuardView> {
    await queries.guardInsert(db, book)
    const [found, guard] = await Promise.all([ledger.balance(book), queries.guardFind(db, book)])
    assert(found && guard, `the book ${book} is not there`)
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
   * New limits, in force with the next hold. Looser ones are told by letter, and only after
   * `allowLooser` let them: it may refuse.
   */
  async function setLimits(
    book: BookId,
    limits: Limits,
    by: { readonly atMs: number; readonly address: string; allowLooser(): void },
  ): Promise<void> {
    const owner = await options.ownerOf(book)
    await db.transaction(async (tx) => {
      await queries.guardLock(tx, book)
      const before = await ledger.balance(book, tx)
      assert(before, `the book ${book} is not there`)
      if (isLooser(limitsOf(before), limits)) {
        by.allowLooser()
        const facts = { ...limits, atMs: by.atMs, address: by.address }
        if (owner !== undefined) await post(tx, owner, { kind: 'limits-loosened', facts })
      }
      await ledger.limit(tx, book, {
        dayLimit: limits.dayLimit,
        velocityLimit: limits.velocity?.limit ?? null,
        velocitySeconds: (limits.velocity?.minutes ?? MINUTE_SECONDS) * MINUTE_SECONDS,
      })
    })
  }

  /** Looks at every guarded book, a page at a time; how many letters there were. */
  async function watch(): Promise<number> {
    let letters = 0
    let last = 0n as BookId
    for (;;) {
      const page = await queries.guardList(db, last, PAGE)
      const seen = await ledger.watched(page.map(({ book }) => book))
      const byBook = new Map(seen.map((one) => [one.book, one]))
      for (const guard of page) {
        const found = byBook.get(guard.book)
        if (found === undefined) continue
        const look = lookAt(guard, found)
        if (!isSame(guard, look.after)) letters += await tell(guard, found, look)
      }
      if (page.length < PAGE) return letters
      last = page.at(-1)?.book ?? last
    }
  }

  async function tell(
    guard: Parameters<typeof lookAt>[0],
    seen: Parameters<typeof lookAt>[1],
    look: Look,
  ): Promise<number> {
    const owner = look.tell.length === 0 ? undefined : await options.ownerOf(guard.book)
    return db.transaction(async (tx) => {
      if (!(await queries.guardAdvance(tx, guard, look.after))) return 0
      if (owner === undefined) return 0
      for (const kind of look.tell) await post(tx, owner, noticeOf(kind, seen, look))
      log.info({ book: guard.book, told: look.tell }, 'an owner is told of the balance')
      return look.tell.length
    })
  }

  /** Tells of books that were stopped for their speed; how many letters there were. */
  async function watchStops(): Promise<number> {
    const stopped = await ledger.stopped(STOPS_MAX)
    const fresh = stopped.filter(({ book, until }) => told.get(book) !== until.getTime())
    let letters = 0
    for (const stop of fresh) letters += await tellStop(stop)
    if (told.size > STOPS_MAX) told.clear()
    for (const { book, until } of fresh) told.set(book, until.getTime())
    return letters
  }

  async function tellStop(stop: StoppedBook): Promise<number> {
    const { book, until, velocityLimit: limit, velocitySeconds } = stop
    const owner = await options.ownerOf(book)
    const isFirst = await db.transaction(async (tx) => {
      if (!(await queries.guardTellStop(tx, book, until))) return false
      const facts = { limit, minutes: Math.ceil(velocitySeconds / MINUTE_SECONDS) }
      const once = `${book} ${until.toISOString()}`
      if (owner !== undefined) await post(tx, owner, { kind: 'velocity-stopped', facts }, once)
      return true
    })
    if (isFirst) log.warn({ book, limit }, 'a book was stopped for its speed')
    return isFirst && owner !== undefined ? 1 : 0
  }

  const rounds = createRounds([{ name: 'stops', everyMs: STOPS_MS, run: watchStops }], log)

  return {
    /** The guard of a new book, in the caller's transaction. May be repeated. */
    open: (tx: Tx, book: BookId): Promise<void> => queries.guardInsert(tx, book),

    read,
    setLimits,

    /** When to write; lines that were told of are armed anew. */
    async setThresholds(book: BookId, thresholds: Thresholds): Promise<void> {
      await queries.guardSetThresholds(db, book, thresholds)
    },

    /** What the owner calls low, and which of it the balance is below, as the letter sees it. */
    async lowness(book: BookId): Promise<Thresholds & { readonly lowBy: LowBy | null }> {
      const [guard, [seen]] = await Promise.all([
        queries.guardFind(db, book),
        ledger.watched([book]),
      ])
      if (guard === undefined || seen === undefined) return UNGUARDED
      const { lowCredits, lowDays } = guard
      return { lowCredits, lowDays, lowBy: lowAt(guard, seen) }
    },

    /** Requests are refused from the next hold on; those under way go on. May be repeated. */
    suspend: (book: BookId): Promise<void> => ledger.block(db, book, 'owner_suspended'),

    /** Lifts the owner's own stop, or the one for speed; never an operator's. May be repeated. */
    async resume(book: BookId): Promise<void> {
      const isLifted = await ledger.resume(db, book, 'velocity_stopped')
      if (!isLifted) await ledger.resume(db, book, 'owner_suspended')
    },

    /** What must be done again and again. Each may be repeated and run beside itself. */
    jobs: { watch, watchStops },

    /** The loop of a worker, for what cannot wait for the next minute. */
    start: rounds.start,
    stop: rounds.stop,

    /** What an owner has set, fit for JSON. */
    async copy(book: BookId) {
      const { dayLimit, velocity, lowCredits, lowDays } = await read(book)
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

function limitsOf(book: {
  readonly dayLimit: Credits | null
  readonly velocityLimit: Credits | null
  readonly velocitySeconds: number
}): Limits {
  const { dayLimit, velocityLimit: limit, velocitySeconds } = book
  const minutes = Math.ceil(velocitySeconds / MINUTE_SECONDS)
  return { dayLimit, velocity: limit === null ? null : { limit, minutes } }
}

function noticeOf(
  kind: Crossing,
  { balance, dayLimit, day }: Parameters<typeof lookAt>[1],
  { daysLeft }: Look,
): Notice {
  switch (kind) {
    case 'low-balance':
      return { kind, facts: { balance, daysLeft } }
    case 'balance-empty':
      return { kind, facts: { balance } }
    case 'day-limit-reached':
      assert(dayLimit !== null, 'a limit that was met is there')
      return { kind, facts: { dayLimit, nextDayMs: Date.parse(day) + DAY_MS } }
  }
}
