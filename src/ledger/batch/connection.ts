// One connection of the ledger. A call without a result within its deadline has an unknown outcome:
// the socket is destroyed and the caller repeats the batch by its ids. We never cancel a call: when
// a commit that waits for its standby is cancelled, PostgreSQL reports success for a row that can
// still be lost.
import type { Socket } from 'node:net'
import type pg from 'pg'
import { isLockTimeout, isTransient, OutcomeUnknown } from '../../platform/db/database-errors.ts'
import { isMissingGrant } from '../../platform/db/missing-grants.ts'
import type { Row, Statement } from '../../platform/db/statement.ts'
import { send } from '../../platform/db/statement.ts'

export type Connection = {
  /** Runs one statement. Rejects with OutcomeUnknown, or with the server's error. */
  run(statement: Statement): Promise<Row>
  close(): Promise<void>
}

// PostgreSQL sends this warning with success when a commit's wait for its standby was cancelled.
const WARNING = '01000'

// The server does not know a prepared statement: a pooler or an administrator reset the session.
const STATEMENT_UNKNOWN = '26000'

/** From a successful connect until the first unknown outcome. */
type Session = { readonly client: pg.Client; calls: number; warning: string | undefined }

/**
 * The first call opens the session, and so does the first one after a loss. A call made while
 * another is in flight is sent at once and runs after it, in its own transaction; both are lost
 * with their session.
 */
export function createConnection<Client extends pg.Client>(options: {
  readonly open: () => Client
  /** Rejects if the session or its database is not as it must be; it then takes no call. */
  readonly verify?: (client: Client) => Promise<unknown>
  readonly deadlineMs: number
}): Connection {
  const state: {
    session: Session | undefined
    opening: Promise<Session> | undefined
    isClosed: boolean
  } = { session: undefined, opening: undefined, isClosed: false }

  function drop(session: Session): void {
    if (state.session === session) state.session = undefined
    // end() would wait for a server that may never answer.
    socketOf(session.client).destroy()
  }

  async function open(): Promise<Session> {
    const client = options.open()
    const session: Session = { client, calls: 0, warning: undefined }
    // The next call notices a lost idle connection; without a listener the event would throw.
    client.on('error', () => drop(session))
    client.on('end', () => drop(session))
    client.on('notice', ({ code, message }) => {
      if (code === WARNING) session.warning = message ?? 'warning'
    })
    await client.connect()
    await verify(client).catch((error: unknown) => {
      drop(session)
      throw error
    })
    state.session = session
    if (state.isClosed) drop(session)
    return session
  }

  /** When the deadline passes, the statements of `verify` fail with their socket. */
  async function verify(client: Client): Promise<void> {
    if (options.verify === undefined) return
    const timer = setTimeout(() => socketOf(client).destroy(), options.deadlineMs)
    await options.verify(client).finally(() => clearTimeout(timer))
  }

  /**
   * An error while connecting is transient, even one from the server: nothing was sent. A missing
   * grant is not: every call would wait for a database that answers.
   */
  function connected({ name }: Statement): Promise<Session> {
    state.opening ??= open().finally(() => {
      state.opening = undefined
    })
    return state.opening.catch((error: Error) => {
      if (isMissingGrant(error)) throw error
      throw new OutcomeUnknown(`${name}: ${error.message}`)
    })
  }

  function run(statement: Statement): Promise<Row> {
    if (state.session !== undefined) return call(state.session, statement)
    return connected(statement).then((session) => call(session, statement))
  }

  function call(session: Session, statement: Statement): Promise<Row> {
    const deferred = Promise.withResolvers<Row>()
    const fail = (error: Error) => {
      // After an error that the server reported the connection is usable; after others it is not.
      const isLost = (error as { code?: unknown }).code === STATEMENT_UNKNOWN
      if (isLost || (isTransient(error) && !isLockTimeout(error))) drop(session)
      deferred.reject(error)
    }
    const unknown = (why: string) => fail(new OutcomeUnknown(`${statement.name}: ${why}`))
    const timer = setTimeout(
      () => unknown(`no answer in ${options.deadlineMs} ms`),
      options.deadlineMs,
    )
    session.calls += 1
    const done = (error: Error | undefined, row: Row) => {
      clearTimeout(timer)
      session.calls -= 1
      if (error !== undefined) fail(error)
      // The warning may belong to the other call in flight; repeating this one costs little.
      else if (session.warning !== undefined) unknown(session.warning)
      else deferred.resolve(row)
    }
    send(session.client, statement, done)
    return deferred.promise
  }

  return {
    run,
    async close() {
      state.isClosed = true
      const { session } = state
      if (session === undefined) return
      // With calls in flight, end() would wait for a server that may never answer.
      if (session.calls > 0) drop(session)
      else await session.client.end()
    },
  }
}

// pg has its socket in a property that its types do not declare.
function socketOf(client: pg.Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}
