// Searches for secrets: reads the text of every place where one could be stored, and looks for
// each secret in every encoding. It lists tables, columns and files itself, so that a new one is
// searched without a change here.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../../../src/platform/db/db.ts'

export type Place = { readonly name: string; readonly text: string }
export type Secret = { readonly what: string; readonly text: string }
export type Leak = { readonly place: string; readonly what: string; readonly around: string }

const AROUND_CHARS = 60

/** The secrets found, at most one leak for each pair of place and secret. */
export function findLeaks(places: readonly Place[], secrets: readonly Secret[]): Leak[] {
  const forms = secrets.map(({ what, text }) => ({ what, forms: formsOf(text) }))
  return places.flatMap(({ name, text }) =>
    forms.flatMap((secret) => {
      const at = secret.forms.map((form) => text.indexOf(form)).find((index) => index >= 0)
      if (at === undefined) return []
      const around = text.slice(Math.max(0, at - AROUND_CHARS), at + AROUND_CHARS)
      return [{ place: name, what: secret.what, around }]
    }),
  )
}

/** Plain, JSON-escaped, hexadecimal, URL-encoded, and base64 at each of the three offsets. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const shifted = [0, 1, 2].flatMap((shift) => {
    const padded = Buffer.concat([Buffer.alloc(shift), bytes])
    // The first and the last characters also encode neighbouring bytes.
    const from = shift === 0 ? 0 : 4
    const until = Math.floor(padded.length / 3) * 4
    return (['base64', 'base64url'] as const).map((one) => padded.toString(one).slice(from, until))
  })
  const forms = [text, JSON.stringify(text).slice(1, -1), bytes.toString('hex')]
  return [...new Set([...forms, encodeURIComponent(text), ...shifted])]
}

/** Every column of every table, all its rows joined; bytea is read as text. */
export async function databasePlaces(db: Db): Promise<Place[]> {
  const { rows } = await db.query(
    `select c.table_schema as schema, c.table_name as name, c.column_name as column,
       c.data_type as type
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where t.table_type = 'BASE TABLE'
       and c.table_schema not in ('pg_catalog', 'information_schema')
     order by 1, 2, c.ordinal_position`,
  )
  const places: Place[] = []
  for (const one of rows as { schema: string; name: string; column: string; type: string }[]) {
    const column = `"${one.column}"`
    const value = one.type === 'bytea' ? `encode(${column}, 'escape')` : `${column}::text`
    const found = await db.query(
      `select string_agg(${value}, chr(10)) as text from only "${one.schema}"."${one.name}"`,
    )
    const { text } = found.rows[0] as { text: string | null }
    places.push({ name: `database ${one.schema}.${one.name}.${one.column}`, text: text ?? '' })
  }
  return places
}

/** Every file below a directory. */
export async function filePlaces(directory: string): Promise<Place[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name)
        return { name: `file ${entry.name}`, text: await readFile(path, 'utf8') }
      }),
  )
}
