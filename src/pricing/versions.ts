// Which catalogue is in force: the newest applied version, as a frozen snapshot in memory. Versions
// only move forward, and one that cannot be read leaves the one at hand in force.
import { createHash } from 'node:crypto'
import { assert, Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { Executor } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import { type Catalogue, formatCatalogue, type Model, parseCatalogue } from './catalogue.ts'
import type { Pack } from './packs.ts'
import { type VersionRow, versionFindNewest, versionInsert } from './queries.ts'

/** The catalogue in force, with its indexes. Never changes; a new version is a new snapshot. */
export type Snapshot = Catalogue & {
  readonly modelById: ReadonlyMap<string, Model>
  readonly packById: ReadonlyMap<string, Pack>
}

// Each failed attempt means that somebody else applied a version in between; three in a row do not
// happen to people.
const APPLY_ATTEMPTS = 3

export function createVersions({
  db,
  log,
  clock,
}: {
  readonly db: Executor
  readonly log: Log
  readonly clock: Clock
}) {
  const state: { snapshot?: Snapshot; readAtMs?: number; unreadable?: number } = {}

  function take(catalogue: Catalogue): void {
    // Answers may arrive out of order; prices never go back to an older version by that.
    if (catalogue.version <= (state.snapshot?.version ?? 0)) return
    state.snapshot = Object.freeze({
      ...catalogue,
      modelById: new Map(catalogue.models.map((model) => [model.id, model])),
      packById: new Map(catalogue.packs.map((pack) => [pack.id, pack])),
    })
    log.info({ catalogueVersion: catalogue.version }, 'catalogue taken up')
  }

  function keepAtHand(version: number, complaints: readonly string[]): void {
    // Applied by a newer program, during an upgrade. Without prices at hand there is no going on.
    assert(state.snapshot, `catalogue ${version} cannot be read: ${complaints.join('; ')}`)
    if (state.unreadable === version) return
    state.unreadable = version
    log.error({ catalogueVersion: version, complaints }, 'catalogue cannot be read, not taken up')
  }

  return {
    current: () => state.snapshot,

    staleMs(): number {
      return state.readAtMs === undefined ? Infinity : clock.spanMs() - state.readAtMs
    },

    async refresh(): Promise<Snapshot | undefined> {
      const row = await versionFindNewest(db, state.snapshot?.version)
      state.readAtMs = clock.spanMs()
      if (row !== undefined) {
        const read = parseCatalogue(row.body)
        if ('catalogue' in read) take(read.catalogue)
        else keepAtHand(row.version, read.complaints)
      }
      return state.snapshot
    },

    async apply(
      catalogue: Catalogue,
      { by, note }: { readonly by: string; readonly note: string },
    ) {
      for (let attempt = 1; attempt <= APPLY_ATTEMPTS; attempt += 1) {
        const newest = await versionFindNewest(db)
        const current = newest === undefined ? undefined : readApplied(newest)
        if (current !== undefined && isSame(current, catalogue)) {
          take(current)
          return { version: current.version, isNew: false }
        }
        const next = withVersion(catalogue, (current?.version ?? 0) + 1)
        const body = formatCatalogue(next)
        const digest = createHash('sha256').update(body).digest('hex')
        if (await versionInsert(db, { version: next.version, by, note, body, digest })) {
          take(next)
          return { version: next.version, isNew: true }
        }
      }
      throw new Error(`others changed the catalogue ${APPLY_ATTEMPTS} times meanwhile; look again`)
    },
  }
}

export function readApplied({ version, body }: VersionRow): Catalogue {
  return mustRead(body, `the applied catalogue ${version}`)
}

/** The catalogue under another number, checked as if it came from a file: whoever built it. */
function withVersion(catalogue: Catalogue, version: number): Catalogue {
  return mustRead(formatCatalogue({ ...catalogue, version }), 'the given catalogue')
}

function mustRead(text: string, what: string): Catalogue {
  const read = parseCatalogue(text)
  if ('catalogue' in read) return read.catalogue
  throw new Fault(`${what} cannot be read: ${read.complaints.join('; ')}`)
}

function isSame(a: Catalogue, b: Catalogue): boolean {
  return formatCatalogue({ ...a, version: 0 }) === formatCatalogue({ ...b, version: 0 })
}
