// One connection of the ledger. A call that does not answer within its deadline has an unknown
// outcome: the socket is destroyed and the caller repeats the batch by its ids. Nothing is ever
// cancelled: a cancel that meets a commit waiting for its standby makes PostgreSQL answer success
// for a row that can still be lost.
import type { Socket } from 'node:net'
import type pg from 'pg'
import { isLockTimeout, isTransient, OutcomeUnknown } from '../../platform/db/database-errors.ts'
import type { Row, Statement } from '../../platform/db/statement.ts'
import { send } from '../../platform/db/statement.ts'

export type Connection = {
  /** Runs one statement. Rejects with OutcomeUnknown, or with the server's own refusal. */
  run(statement: Statement): Promise<Row>
  close(): Promise<void>
}

// What PostgreSQL sends instead of success when a commit's wait for its standby was cut short.
const WARNING = '01000'

// The server has forgotten a prepared statement: somebody reset the session behind our back.
const STATEMENT_UNKNOWN = '26000'

/** From the moment the server let us in until something is in doubt. */
type Session = { readonly client: pg.Client; calls: number; warning: string | undefined }

/**
 * Opened by its first call, and anew after each loss. A call made while another is under way is
 * sent at once and done behind it, in a transaction of its own; both are lost with their session.
 */
export function createConnection(options: {
  readonly open: () => pg.Client
  readonly deadlineMs: number
}): Connection {
  const state: {
    session: Session | undefined
    opening: Promise<Session> | undefined
    isClosed: boolean
  } = { session: undefined, opening: undefined, isClosed: false }

  function drop(session: Session): void {
    if (state.session === session) state.session = undefined
    // end() would wait politely for a server that may never answer.
    socketOf(session.client).destroy()
  }

  async function open(): Promise<Session> {
    const client = options.open()
    const session: Session = { client, calls: 0, warning: undefined }
    // A connection lost while idle is noticed by the next call; the event only must not be unheard.
    client.on('error', () => drop(session))
    client.on('end', () => drop(session))
    client.on('notice', ({ code, message }) => {
      if (code === WARNING) session.warning = message ?? 'warning'
    })
    await client.connect()
    state.session = session
    if (state.isClosed) drop(session)
    return session
  }

  /** Whatever keeps us from connecting, be it a word of the server, nothing was sent: it passes. */
  function connected({ name }: Statement): Promise<Session> {
    state.opening ??= open().finally(() => {
      state.opening = undefined
    })
    return state.opening.catch((error: Error) => {
      throw new OutcomeUnknown(`${name}: ${error.message}`)
    })
  }

  function run(statement: Statement): Promise<Row> {
    if (state.session !== undefined) return call(state.session, statement)
    return connected(statement).then((session) => call(session, statement))
  }

  function call(session: Session, statement: Statement): Promise<Row> {
    const answered = Promise.withResolvers<Row>()
    const fail = (error: Error) => {
      // After a server's refusal the connection is still good; after anything else it is not.
      const isLost = (error as { code?: unknown }).code === STATEMENT_UNKNOWN
      if (isLost || (isTransient(error) && !isLockTimeout(error))) drop(session)
      answered.reject(error)
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
      // It may have been about the call behind this one; a repeat costs little and doubt does not.
      else if (session.warning !== undefined) unknown(session.warning)
      else answered.resolve(row)
    }
    send(session.client, statement, done)
    return answered.promise
  }

  return {
    run,
    async close() {
      state.isClosed = true
      const { session } = state
      if (session === undefined) return
      // Calls under way would make end() wait for a server that may never answer.
      if (session.calls > 0) drop(session)
      else await session.client.end()
    },
  }
}

// pg keeps its socket on a property that its types leave out.
function socketOf(client: pg.Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}
