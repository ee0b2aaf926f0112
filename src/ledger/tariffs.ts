// The tariffs of a model: each of its price lists is stored once, under an id that holds and
// entries name. A request needs the ids of all lists by which its reply may be charged, since a
// settle must not need the database for one. They are queried once per process and model of a
// catalogue.
import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import { isTransient } from '../platform/db/database-errors.ts'
import type { Executor } from '../platform/db/db.ts'
import { OVERLOADED } from './holding.ts'
import { holdRefusal } from './refusals.ts'
import { type ModelTariffs, type NamedPrice, type Tariff, tariffsEnsure } from './tariff-queries.ts'

/** Between attempts while the database is unavailable. */
const PAUSE_MS = 250

type TariffIds = ReadonlyMap<string, number>

export function createTariffs({
  db,
  clock,
  holdWaitMs,
  onKnown,
}: {
  readonly db: Executor
  readonly clock: Clock
  readonly holdWaitMs: number
  readonly onKnown?: (model: ModelTariffs, ids: TariffIds) => void
}) {
  // By the array of the catalogue in memory: when another catalogue is in force, nothing is left.
  const known = new WeakMap<readonly NamedPrice[], Promise<TariffIds>>()

  /** Waits for the database as long as a hold does. */
  async function ensure(p: ModelTariffs): Promise<TariffIds> {
    const startedMs = clock.spanMs()
    for (;;) {
      try {
        const ids = checked(p, await tariffsEnsure(db, p))
        onKnown?.(p, ids)
        return ids
      } catch (error) {
        if (!isTransient(error)) throw error
        if (clock.spanMs() - startedMs + PAUSE_MS > holdWaitMs) {
          throw holdRefusal('ledger_unavailable', OVERLOADED, { model: p.model }, error)
        }
      }
      await pause(PAUSE_MS)
    }
  }

  /** The ids by the names of the lists. Refuses: ledger_unavailable. */
  function tariffs(p: ModelTariffs): Promise<TariffIds> {
    const found = known.get(p.lists)
    if (found !== undefined) return found
    const ids = ensure(p)
    known.set(p.lists, ids)
    ids.catch(() => known.delete(p.lists))
    return ids
  }

  return {
    tariffs,

    /** The id of one list. Refuses: ledger_unavailable. */
    async tariff({ catalogueVersion, model, list = '', price }: Tariff): Promise<number> {
      const ids = await tariffs({ catalogueVersion, model, lists: [{ name: list, price }] })
      return ids.get(list) as number
    },
  }
}

function checked(p: ModelTariffs, rows: Awaited<ReturnType<typeof tariffsEnsure>>): TariffIds {
  for (const { list, isSame } of rows) {
    if (isSame) continue
    throw new Fault(`catalogue ${p.catalogueVersion} ${p.model} ${list} is filed at another price`)
  }
  return new Map(rows.map(({ list, id }) => [list, id]))
}
