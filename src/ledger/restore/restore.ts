// After the database was restored to an earlier moment: compares the charge logs and spools of all
// processes with the ledger, and charges what is missing, each request once. The programs should be
// stopped meanwhile; purchases must be back before, or charges take less than was bought.
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId, InstanceId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { SettleInput } from '../calls.ts'
import {
  type LoggedCharge,
  type LoggedPart,
  listOwners,
  readLogged,
  readWriteOffs,
} from '../charge-log/read.ts'
import type { Quarantine } from '../quarantine/quarantine.ts'
import { settleFromText, settleKeyText } from '../settle-text.ts'
import type { Settlement } from '../settlement.ts'
import { type Tariff, tariffsEnsure } from '../tariff-queries.ts'
import * as queries from './queries.ts'

/** Charges compared by one statement, and sent at once. */
const CHARGES_AT_ONCE = 1_000
/** More than a gateway can put there while an operator restores a database. */
const QUARANTINED_MAX = 100_000

export type RestoreScope = {
  /** The spool directories of all processes. */
  readonly directories: readonly string[]
  /** The moment to which the database was restored, or an earlier one. */
  readonly since: Date
}

export type MissingOfBook = {
  readonly book: BookId
  readonly charges: number
  readonly credits: Credits
}

/** What processes acknowledged and the database does not have. */
export type Missing = {
  readonly charges: readonly MissingOfBook[]
  /** Their book was opened after the moment and is lost: there is nothing to charge. */
  readonly withoutBook: readonly MissingOfBook[]
  /** Books whose keys changed after the moment, with the highest fence that was acknowledged. */
  readonly fences: readonly { readonly book: BookId; readonly fence: bigint }[]
  /** Directories of gateways that ran at the moment, of which no log was read. */
  readonly unreadLogs: readonly { readonly host: string; readonly directory: string }[]
  /** Versions of the catalogue by which missing charges were priced. */
  readonly catalogues: readonly number[]
  /** Charges that were read, lines that cannot be read, charges too old to be compared. */
  readonly read: number
  readonly damaged: number
  readonly old: number
}

/** Counts while the logs are read. */
type Scan = {
  readonly fences: Map<BookId, LoggedPart['fences'][number]>
  readonly catalogues: Set<number>
  readonly seen: Set<HoldId>
  /** Settles that operators gave up. */
  writtenOff: ReadonlySet<string>
  lastBook: BookId | undefined
  read: number
  damaged: number
  old: number
}

type Found = LoggedCharge & { readonly hasBook: boolean }

export function createRestore(options: {
  readonly db: Db
  readonly log: Log
  readonly instance: InstanceId
  readonly settlement: Pick<Settlement, 'settle'>
  readonly replay: {
    waitFor(settles: readonly Promise<unknown>[]): Promise<number>
    replayDirectory(directory: string): Promise<{ readonly unsent: number; readonly left: number }>
  }
  readonly quarantine: Pick<Quarantine, 'retry' | 'list' | 'writeOff'>
}) {
  const { db, log, instance, settlement, replay, quarantine } = options

  /** The charges that the ledger does not have, each once, in groups. */
  async function* missingCharges(scope: RestoreScope, scan: Scan): AsyncGenerator<Found[]> {
    const sinceMs = scope.since.getTime() - queries.CLOCKS_APART_MS
    scan.writtenOff = await readWriteOffs(scope.directories, sinceMs)
    for await (const { charges, fences, damaged } of readLogged(scope.directories, sinceMs)) {
      scan.read += charges.length
      scan.damaged += damaged
      for (const one of fences) {
        const { book, fence } = one
        if (fence > (scan.fences.get(book)?.fence ?? -1n)) scan.fences.set(book, one)
        noteBook(scan, book)
      }
      for (let from = 0; from < charges.length; from += CHARGES_AT_ONCE) {
        yield await missingOf(charges.slice(from, from + CHARGES_AT_ONCE), scan)
      }
    }
    const lost = await queries.quarantineListLost(db, QUARANTINED_MAX)
    const inputs = lost.map(({ settle }) => settleFromText(settle))
    for (let from = 0; from < inputs.length; from += CHARGES_AT_ONCE) {
      const part = inputs.slice(from, from + CHARGES_AT_ONCE)
      const charges = part.map((input) => ({ input, charged: input.priced, tariff: undefined }))
      yield await missingOf(charges, scan)
    }
  }

  async function missingOf(charges: readonly LoggedCharge[], scan: Scan): Promise<Found[]> {
    const found: Found[] = []
    const inputs = charges.map(({ input }) => input)
    for (const { book } of inputs) noteBook(scan, book)
    for (const { n, hasBook, isOld } of await queries.chargeListMissing(db, inputs)) {
      const charge = charges[n] as LoggedCharge
      if (scan.seen.has(charge.input.id)) continue
      if (scan.writtenOff.size > 0 && scan.writtenOff.has(settleKeyText(charge.input))) continue
      scan.seen.add(charge.input.id)
      if (isOld) {
        scan.old += 1
        continue
      }
      if (charge.tariff !== undefined) scan.catalogues.add(charge.tariff.catalogueVersion)
      found.push({ ...charge, hasBook })
    }
    return found
  }

  async function check(scope: RestoreScope): Promise<Missing> {
    const scan = newScan()
    const charges = new Map<BookId, MissingOfBook>()
    const withoutBook = new Map<BookId, MissingOfBook>()
    for await (const found of missingCharges(scope, scan)) {
      for (const one of found) addTo(one.hasBook ? charges : withoutBook, one)
    }
    const { read, damaged, old } = scan
    const owners = await listOwners(scope.directories)
    return {
      unreadLogs: await queries.directoryListUnread(db, { since: scope.since, owners }),
      charges: [...charges.values()],
      withoutBook: [...withoutBook.values()],
      fences: await queries.fenceListBehind(db, [...scan.fences.values()]),
      catalogues: [...scan.catalogues].sort((a, b) => a - b),
      ...{ read, damaged, old },
    }
  }

  /** The number that a logged price list has now; undefined when it is filed at another price. */
  function createTariffIds() {
    const known = new Map<string, number | undefined>()
    return async ({ catalogueVersion, model, list, price }: Required<Tariff>) => {
      const name = JSON.stringify([catalogueVersion, model, list])
      if (!known.has(name)) {
        const lists = [{ name: list, price }]
        const [row] = await tariffsEnsure(db, { catalogueVersion, model, lists })
        if (!row?.isSame) log.error({ catalogueVersion, model, list }, 'filed at another price')
        known.set(name, row?.isSame ? row.id : undefined)
      }
      return known.get(name)
    }
  }

  /**
   * Charges what `check` finds, and sends what is in the spools. Repeatable: a request is charged
   * once, by its id. `unsent` charges stay missing.
   */
  async function repair(scope: RestoreScope): Promise<{ charged: number; unsent: number }> {
    const scan = newScan()
    const tariffId = createTariffIds()
    let [charged, unsent] = [0, 0]
    for await (const found of missingCharges(scope, scan)) {
      const charges: { input: SettleInput; charged: Credits }[] = []
      for (const one of found) {
        if (!one.hasBook) continue
        const tariff = one.tariff === undefined ? one.input.tariff : await tariffId(one.tariff)
        if (tariff === undefined) unsent += 1
        else charges.push({ input: { ...one.input, tariff }, charged: one.charged })
      }
      await queries.holdsRestore(db, instance, charges)
      const left = await replay.waitFor(charges.map(({ input }) => settlement.settle(input)))
      charged += charges.length - left
      unsent += left
    }
    if (scan.lastBook !== undefined) await queries.booksSkip(db, scan.lastBook)
    for (const directory of scope.directories) {
      const replayed = await replay.replayDirectory(directory)
      unsent += replayed.unsent + replayed.left
    }
    await writeOffAgain(scan.writtenOff)
    for (const { hold } of await queries.quarantineListLost(db, QUARANTINED_MAX)) {
      await quarantine.retry(hold)
    }
    return { charged, unsent }
  }

  /** They wait in quarantine again if the moment lies between. */
  async function writeOffAgain(settles: Scan['writtenOff']): Promise<void> {
    for (const settle of settles) {
      const rows = await quarantine.list({ limit: 100, hold: settleFromText(settle).id })
      for (const row of rows) if (row.settle === settle) await quarantine.writeOff(row)
    }
  }

  return {
    /** Changes nothing. */
    check,
    repair,
    /** Together with revoking the book's keys, in the caller's transaction. */
    raiseFence: (tx: Tx, book: BookId, fence: bigint) => queries.fenceRestore(tx, book, fence),
  }
}

function newScan(): Scan {
  return {
    ...{ fences: new Map(), catalogues: new Set<number>(), seen: new Set<HoldId>() },
    ...{ writtenOff: new Set<string>(), lastBook: undefined, read: 0, damaged: 0, old: 0 },
  }
}

function noteBook(scan: Scan, book: BookId): void {
  if (scan.lastBook === undefined || book > scan.lastBook) scan.lastBook = book
}

function addTo(books: Map<BookId, MissingOfBook>, { input, charged }: LoggedCharge): void {
  const { book } = input
  const before = books.get(book)
  const credits = ((before?.credits ?? 0n) + charged) as Credits
  books.set(book, { book, charges: (before?.charges ?? 0) + 1, credits })
}
