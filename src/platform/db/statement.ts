// Runs one prepared statement that returns one row, with all columns as text: the ledger converts
// its columns itself, and numbers must not pass through a float.
import type pg from 'pg'

export type Statement = {
  /** The name under which a connection prepares the statement, once. */
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** The columns of a row in their order, as text. */
export type Row = readonly (string | null)[]

type Done = (error: Error | undefined, row: Row) => void

const asText = { getTypeParser: () => (value: string | null) => value }

/** Calls back once: with the row, or with the reason why there is none. */
export function send(client: pg.Client, { name, text, values }: Statement, done: Done): void {
  const config = { name, text, values: [...values], rowMode: 'array' as const, types: asText }
  void client.query<(string | null)[]>(config, (error, result) => {
    // pg types the error as always there; on success it is null.
    done((error as Error | null) ?? undefined, error ? [] : (result.rows[0] ?? []))
  })
}
