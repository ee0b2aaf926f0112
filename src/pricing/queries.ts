// The SQL of the catalogue's versions. The table accepts only inserts.
import type { Executor } from '../platform/db/db.ts'

export type VersionRow = { readonly version: number; readonly body: string }
export type AppliedVersion = {
  readonly version: number
  /** RFC 3339, UTC. */
  readonly appliedAt: string
  readonly appliedBy: string
  readonly note: string
  readonly digest: string
}

// Locks nothing. Returns only a version newer than the caller's, so a poll without news transfers
// no text.
export async function versionFindNewest(db: Executor, after = 0): Promise<VersionRow | undefined> {
  const { rows } = await db.query(
    `select version, body
       from catalogue_versions
      where version > $1
      order by version desc
      limit 1`,
    [after],
  )
  return rows[0] as VersionRow | undefined
}

// Locks nothing.
export async function versionFind(db: Executor, version: number): Promise<VersionRow | undefined> {
  const { rows } = await db.query(
    `select version, body
       from catalogue_versions
      where version = $1`,
    [version],
  )
  return rows[0] as VersionRow | undefined
}

// Locks only its own row. One statement: if two operators apply at once, the primary key lets one
// insert, and the other gets false. The `where` refuses a gap in the numbers. The first version is
// inserted by a function, which every program may call: the first one that starts applies it.
export async function versionInsert(
  db: Executor,
  row: { version: number; by: string; note: string; body: string; digest: string },
): Promise<boolean> {
  if (row.version === 1) {
    const text = 'select catalogue_apply_first($1, $2, $3, $4) as "isNew"'
    const { rows } = await db.query(text, [row.by, row.note, row.body, row.digest])
    return (rows[0] as { isNew: boolean }).isNew
  }
  const { rows } = await db.query(
    `insert into catalogue_versions (version, applied_by, note, body, digest)
     select $1::int4, $2, $3, $4, $5
      where $1::int4 = 1 + coalesce((select max(version) from catalogue_versions), 0)
         on conflict do nothing
     returning version`,
    [row.version, row.by, row.note, row.body, row.digest],
  )
  return rows.length === 1
}

// Locks nothing. Newest first; a few rows a month, so no paging.
export async function versionList(db: Executor): Promise<AppliedVersion[]> {
  const { rows } = await db.query(
    `select version,
            to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "appliedAt",
            applied_by as "appliedBy",
            note,
            digest
       from catalogue_versions
      order by version desc`,
  )
  return rows as AppliedVersion[]
}
