// The SQL of the quarantine: one function per statement.
import type { Db, Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId, InstanceId } from '../../platform/ids.ts'
import { dayOfHold } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { SettleInput } from '../calls.ts'
import { settleVerb, voidVerb } from '../calls.ts'

/** Identifies a settle: two settles of one hold may both be refused, with different counts. */
export type QuarantineKey = { readonly hold: HoldId; readonly settle: string }

export type QuarantineRow = QuarantineKey & {
  readonly book: BookId
  readonly priced: Credits
  readonly reason: string
  readonly refusedAt: Date
  readonly triedAt: Date
  readonly attempts: number
}

// The name of the newest migration, to notice that one ran since the last attempt.
const MIGRATION = `(select max(name) from kysely_migration)`
const COLUMNS = `hold_id as hold, settle, book_id as book, priced, reason,
  refused_at as "refusedAt", tried_at as "triedAt", attempts`

/** Adds a settle; one that was closed before stays closed. */
export async function quarantineInsert(
  db: Executor,
  p: QuarantineKey & { book: BookId; priced: Credits; reason: string },
): Promise<void> {
  await db.query(
    `insert into quarantine (hold_id, settle, book_id, priced, reason, refused_at, tried_at,
       tried_after)
     values ($1, $2, $3, $4, $5, ledger_now(), ledger_now(), ${MIGRATION})
     on conflict (hold_id, md5(settle)) do nothing`,
    [p.hold, p.settle, p.book, p.priced, p.reason],
  )
}

/** Settles that wait, oldest first. */
export async function quarantineList(
  db: Executor,
  p: { limit: number; hold: HoldId | null },
): Promise<QuarantineRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from quarantine
     where closed_at is null and ($2::uuid is null or hold_id = $2)
     order by refused_at, hold_id limit $1`,
    [p.limit, p.hold],
  )
  return rows as QuarantineRow[]
}

/** Settles whose last attempt is long enough ago, or was before the newest migration. */
export async function quarantineListDue(
  db: Executor,
  p: { seconds: number; limit: number; except: readonly BookId[] },
): Promise<QuarantineRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from quarantine
     where closed_at is null and book_id <> all ($3::int8[])
       and (tried_at <= ledger_now() - make_interval(secs => $1) or tried_at > ledger_now()
         or tried_after is distinct from ${MIGRATION})
     order by tried_at, hold_id limit $2`,
    [p.seconds, p.limit, p.except],
  )
  return rows as QuarantineRow[]
}

/** Locks a settle that waits; false when it was closed or another process tries it. */
export async function quarantineLock(tx: Tx, p: QuarantineKey): Promise<boolean> {
  const { rows } = await tx.query(
    `select from quarantine where hold_id = $1 and settle = $2 and closed_at is null
     for update skip locked`,
    [p.hold, p.settle],
  )
  return rows.length > 0
}

export async function quarantineTried(
  db: Executor,
  p: QuarantineKey & { reason: string },
): Promise<void> {
  await db.query(
    `update quarantine
     set tried_at = ledger_now(), tried_after = ${MIGRATION}, attempts = attempts + 1, reason = $3
     where hold_id = $1 and settle = $2`,
    [p.hold, p.settle, p.reason],
  )
}

/** False when it was closed before. */
export async function quarantineClose(
  tx: Executor,
  p: QuarantineKey & { outcome: 'charged' | 'written_off' },
): Promise<boolean> {
  const { rows } = await tx.query(
    `update quarantine set closed_at = ledger_now(), outcome = $3, tried_at = ledger_now()
     where hold_id = $1 and settle = $2 and closed_at is null
     returning 1`,
    [p.hold, p.settle, p.outcome],
  )
  return rows.length > 0
}

export type QuarantinedHold = { readonly state: 'open' | 'settled' | 'voided'; tariff: number }

/** The hold of a settle, after locking its book; undefined when the book does not have it. */
export async function quarantineHoldLock(
  tx: Tx,
  { id, book }: SettleInput,
): Promise<QuarantinedHold | undefined> {
  const { rows } = await tx.query('select * from ledger_hold_lock($1, $2, $3)', [
    ...[dayOfHold(id), id, book],
  ])
  return rows[0] as QuarantinedHold | undefined
}

/**
 * Ends the hold of a settle that is written off, so that no copy of it is charged later: a settle
 * of a hold that was swept is, but not one with another ending. Releases the hold's credits.
 */
export async function quarantineVoid(
  tx: Tx,
  p: { input: SettleInput; tariff: number; instance: InstanceId },
): Promise<void> {
  const { id, book } = p.input
  const ending = 'refused'
  const { text, values } = voidVerb(p.instance).statement({
    ...{ id, book, tariff: p.tariff, ending, reason: 'the charge was written off' },
  })
  await tx.query(text, [...values])
  await tx.query('select ledger_hold_refuse($1, $2, $3)', [dayOfHold(id), id, book])
}

/** Sends one settle, and returns the ledger's outcome and what was charged. Locks its book. */
export async function quarantineSettle(
  tx: Tx,
  input: SettleInput,
): Promise<{ outcome: string; amount: Credits | null }> {
  const { text, values } = settleVerb.statement(input)
  const { rows } = await tx.query(text, [...values])
  return rows[0] as { outcome: string; amount: Credits | null }
}

/** How many settles wait, and for how long the oldest. */
export async function quarantineCount(db: Db): Promise<{ settles: number; oldestSeconds: number }> {
  const { rows } = await db.query(
    `select count(*)::int4 as settles,
       coalesce(extract(epoch from ledger_now() - min(refused_at)), 0)::int4 as "oldestSeconds"
     from quarantine where closed_at is null`,
  )
  return rows[0] as { settles: number; oldestSeconds: number }
}
