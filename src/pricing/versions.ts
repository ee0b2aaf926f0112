// Keeps the catalogue in force, the newest applied version, as a frozen snapshot in memory.
// Versions only increase; if the newest cannot be read, the current one stays in force.
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
  /** By the names under which upstreams know the models, and by their ids. */
  readonly modelByUpstreamName: ReadonlyMap<string, Model>
  readonly packById: ReadonlyMap<string, Pack>
}

/** Who applies a version, and why. */
type Applied = { readonly by: string; readonly note: string }
type AppliedNow = { readonly version: number; readonly isNew: boolean }

// An attempt fails when another operator applied a version in between; operators are too slow for
// that to happen three times in a row.
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

  function activate(catalogue: Catalogue): void {
    // Query results may arrive out of order: ignore one with an older version.
    if (catalogue.version <= (state.snapshot?.version ?? 0)) return
    state.snapshot = snapshotOf(catalogue)
    log.info({ catalogueVersion: catalogue.version }, 'catalogue taken up')
  }

  function reportUnreadable(version: number, problems: readonly string[]): void {
    // A newer program applied it, during an upgrade. A process without prices cannot continue.
    assert(state.snapshot, `catalogue ${version} cannot be read: ${problems.join('; ')}`)
    if (state.unreadable === version) return
    state.unreadable = version
    log.error({ catalogueVersion: version, problems }, 'catalogue cannot be read, not taken up')
  }

  /** Undefined when another version was applied after `newest` was read. */
  async function applyAfter(
    newest: VersionRow | undefined,
    catalogue: Catalogue,
    applied: Applied,
  ): Promise<AppliedNow | undefined> {
    const current = newest === undefined ? undefined : readApplied(newest)
    if (current !== undefined && isSame(current, catalogue)) {
      activate(current)
      return { version: current.version, isNew: false }
    }
    const next = withVersion(catalogue, (current?.version ?? 0) + 1)
    const body = formatCatalogue(next)
    const digest = createHash('sha256').update(body).digest('hex')
    const row = { version: next.version, body, digest, ...applied }
    if (!(await versionInsert(db, row))) return undefined
    activate(next)
    return { version: next.version, isNew: true }
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
        const read = parseCatalogue(row.body, { isApplied: true })
        if ('catalogue' in read) activate(read.catalogue)
        else reportUnreadable(row.version, read.problems)
      }
      return state.snapshot
    },

    async apply(catalogue: Catalogue, applied: Applied): Promise<AppliedNow> {
      for (let attempt = 1; attempt <= APPLY_ATTEMPTS; attempt += 1) {
        const newest = await versionFindNewest(db)
        const done = await applyAfter(newest, catalogue, applied)
        if (done !== undefined) return done
      }
      throw new Error(`others changed the catalogue ${APPLY_ATTEMPTS} times meanwhile; look again`)
    },

    async applyTo(
      base: number | undefined,
      catalogue: Catalogue,
      applied: Applied,
    ): Promise<AppliedNow | undefined> {
      const newest = await versionFindNewest(db)
      if (newest?.version !== base) return undefined
      return applyAfter(newest, catalogue, applied)
    },
  }
}

export function snapshotOf(catalogue: Catalogue): Snapshot {
  return Object.freeze({
    ...catalogue,
    modelById: new Map(catalogue.models.map((model) => [model.id, model])),
    modelByUpstreamName: byUpstreamName(catalogue.models),
    packById: new Map(catalogue.packs.map((pack) => [pack.id, pack])),
  })
}

/** Where two models have the same name upstream, the first one and an id are preferred. */
function byUpstreamName(models: readonly Model[]): Map<string, Model> {
  const found = new Map(models.map((model) => [model.id, model]))
  for (const model of models) {
    const { upstreamNames: names } = model
    for (const name of typeof names === 'string' ? [names] : Object.values(names)) {
      if (!found.has(name)) found.set(name, model)
    }
  }
  return found
}

export function readApplied({ version, body }: VersionRow): Catalogue {
  return parseOrThrow(body, `the applied catalogue ${version}`)
}

/** The catalogue with another version number, checked as if it came from a file. */
function withVersion(catalogue: Catalogue, version: number): Catalogue {
  return parseOrThrow(formatCatalogue({ ...catalogue, version }), 'the given catalogue')
}

function parseOrThrow(text: string, what: string): Catalogue {
  const read = parseCatalogue(text, { isApplied: true })
  if ('catalogue' in read) return read.catalogue
  throw new Fault(`${what} cannot be read: ${read.problems.join('; ')}`)
}

function isSame(a: Catalogue, b: Catalogue): boolean {
  return formatCatalogue({ ...a, version: 0 }) === formatCatalogue({ ...b, version: 0 })
}
