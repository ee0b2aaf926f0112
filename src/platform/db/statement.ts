// One prepared statement that answers one row, sent in one piece: bind, execute, sync. pg's own
// query asks each time what the columns are called and of which type, builds an object by the
// answer and sends four pieces: 12 of 47 us a call, and four times that when nothing is warm.
import type { Socket } from 'node:net'
import pg from 'pg'
import { serialize } from 'pg-protocol'

export type Statement = {
  /** Under which a connection prepares it, once. */
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** The columns of a row in their order, as the server writes them. */
export type Row = readonly (string | null)[]

type Done = (error: Error | undefined, row: Row) => void

/** Calls back once: with the row, or with why there is none. */
export function send(client: pg.Client, statement: Statement, done: Done): void {
  client.query(new Call(statement, done))
}

/** The sync commits what the statement did. */
const EXECUTE_AND_SYNC = Buffer.concat([serialize.execute(), serialize.sync()])

/** A pg.Query, because pg sends nothing else behind a call under way. */
class Call extends pg.Query {
  readonly #statement: Statement
  readonly #done: Done
  #row: Row = []

  constructor(statement: Statement, done: Done) {
    super(statement as pg.QueryConfig)
    this.#statement = statement
    this.#done = done
  }

  /** pg calls it when it is this query's turn to be written. */
  prepare(wire: Wire): void {
    const { name, text, values } = this.#statement
    if ((wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) === undefined) {
      wire.parse({ name, text })
      wire.submittedNamedStatements[name] = text
    }
    const bind = serialize.bind({
      statement: name,
      values: values as unknown[],
      valueMapper: wireValue,
    })
    wire.stream.write(Buffer.concat([bind, EXECUTE_AND_SYNC]))
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#row = fields
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#done(undefined, this.#row)
  }

  handleError(error: Error): void {
    this.#done(error, this.#row)
  }
}

/** What pg's connection offers to a query; its types leave it out. */
type Wire = {
  readonly stream: Socket
  /** Statements by name: those the server has parsed, and those on their way to it. */
  readonly parsedStatements: Record<string, string>
  readonly submittedNamedStatements: Record<string, string>
  parse(statement: { readonly name: string; readonly text: string }): void
}

function wireValue(value: unknown): string | Buffer | null {
  return value === null || Buffer.isBuffer(value) ? value : String(value)
}
