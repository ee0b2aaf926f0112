// One connection of the ledger. A call that does not answer within its deadline has an unknown
// outcome: the socket is destroyed and the caller repeats the batch by its ids. Nothing is ever
// cancelled: a cancel that meets a commit waiting for its standby makes PostgreSQL answer success
// for a row that can still be lost.
import type { Socket } from 'node:net'
import type pg from 'pg'

/** The call may or may not have committed. Only a repeat by id tells. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

export type Statement = {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

export type Connection = {
  /** Runs one statement. Rejects with OutcomeUnknown, or with the server's own refusal. */
  run(statement: Statement): Promise<Record<string, unknown>>
  close(): Promise<void>
}

// What PostgreSQL sends instead of success when a commit's wait for its standby was cut short.
const WARNING = '01000'

/**
 * Errors that pass: the same statement, sent again, may succeed. Everything else is a bug in the
 * statement or its values.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof OutcomeUnknown) return true
  const code = (error as { code?: unknown }).code
  // A broken socket has no SQLSTATE; neither has a bug of ours, and that one never passes.
  if (typeof code !== 'string') {
    return !(
      error instanceof TypeError ||
      error instanceof RangeError ||
      error instanceof SyntaxError ||
      error instanceof ReferenceError
    )
  }
  if (!/^[0-9A-Z]{5}$/.test(code)) return true // ECONNREFUSED and its relatives
  return (
    code.startsWith('08') || // connection exceptions
    code.startsWith('53') || // out of memory, disk full, too many connections
    code.startsWith('57') || // shutdown, crash, not yet accepting; a statement that was cancelled
    code === '25006' || // read only: the old primary after a failover
    code === '40001' ||
    code === '40P01' ||
    isLockTimeout(error)
  )
}

export function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === '55P03'
}

export function createConnection(options: {
  readonly open: () => pg.Client
  readonly deadlineMs: number
}): Connection {
  const state: { client: pg.Client | undefined; isClosed: boolean } = {
    client: undefined,
    isClosed: false,
  }

  function drop(client: pg.Client): void {
    if (state.client === client) state.client = undefined
    // end() would wait politely for a server that may never answer.
    socketOf(client).destroy()
  }

  async function connected(): Promise<pg.Client> {
    if (state.client !== undefined) return state.client
    const client = options.open()
    // A connection lost while idle is noticed by the next call; the event only must not be unheard.
    client.on('error', () => drop(client))
    client.on('end', () => drop(client))
    await client.connect()
    if (state.isClosed) drop(client)
    state.client = client
    return client
  }

  async function run(statement: Statement): Promise<Record<string, unknown>> {
    // Whatever keeps us from connecting, be it a word of the server, nothing was sent: it passes.
    const client = await connected().catch((error: Error) => {
      throw new OutcomeUnknown(`${statement.name}: ${error.message}`)
    })
    let warning: string | undefined
    const notice = (message: { code: string | undefined; message: string | undefined }) => {
      if (message.code === WARNING) warning = message.message ?? 'warning'
    }
    client.on('notice', notice)
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        drop(client)
        reject(new OutcomeUnknown(`${statement.name}: no answer in ${options.deadlineMs} ms`))
      }, options.deadlineMs)
    })
    try {
      const result = await Promise.race([
        client.query({ ...statement, values: statement.values as unknown[] }),
        deadline,
      ])
      if (warning !== undefined) {
        drop(client)
        throw new OutcomeUnknown(`${statement.name}: ${warning}`)
      }
      return result.rows[0] as Record<string, unknown>
    } catch (error) {
      // After a server's refusal the connection is still good; after anything else it is not.
      if (isPassing(error) && !isLockTimeout(error)) drop(client)
      throw error
    } finally {
      clearTimeout(timer)
      client.off('notice', notice)
    }
  }

  return {
    run,
    async close() {
      state.isClosed = true
      const client = state.client
      state.client = undefined
      if (client !== undefined) await client.end()
    },
  }
}

// pg keeps its socket on a property that its types leave out.
function socketOf(client: pg.Client): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}
