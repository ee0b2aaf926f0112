// Lends our database to better-auth, which expects a pool of the driver. It gets the few members
// that its query builder uses, so that it shares our connections, time limits and int8 parser, and
// no second pool has to be sized, monitored and closed.
import type { Db, Tx } from '../../platform/db/db.ts'
import { noteFailure } from '../database-failures.ts'

type Result = {
  readonly rows: unknown[]
  readonly rowCount: number | null
  readonly command: string
}

type Transaction = { readonly tx: Tx; end(outcome: 'commit' | 'rollback'): Promise<void> }

export function createConnections(db: Db) {
  return {
    connect: () => Promise.resolve(createConnection(db)),
    end: () => Promise.resolve(), // the pool is not better-auth's to end
  }
}

function createConnection(db: Db) {
  const state: { open: Transaction | undefined } = { open: undefined }

  async function end(outcome: 'commit' | 'rollback'): Promise<Result> {
    const { open } = state
    state.open = undefined
    await open?.end(outcome)
    return { rows: [], rowCount: null, command: outcome.toUpperCase() }
  }

  async function run(text: string, values: readonly unknown[]): Promise<Result> {
    if (text === 'begin') {
      state.open = await begin(db)
      return { rows: [], rowCount: null, command: 'BEGIN' }
    }
    if (text === 'commit' || text === 'rollback') return end(text)
    // Our type promises only rows; the driver's result also has rowCount and command.
    return (await (state.open?.tx ?? db).query(text, [...values])) as Result
  }

  return {
    query: (text: string, values: readonly unknown[] = []) => noteFailure(run(text, values)),
    release: () => undefined,
  }
}

class RolledBack extends Error {
  override readonly name = 'RolledBack'
}

/** Begins a transaction that stays open until `end`; `Db` ends one when its function returns. */
function begin(db: Db): Promise<Transaction> {
  const ended = Promise.withResolvers<void>()
  return new Promise((resolve, reject) => {
    const whole = db.transaction((tx) => {
      resolve({
        tx,
        async end(outcome) {
          if (outcome === 'commit') ended.resolve()
          else ended.reject(new RolledBack())
          await whole.catch((error: unknown) => {
            if (!(error instanceof RolledBack)) throw error
          })
        },
      })
      return ended.promise
    })
    // If the transaction could not begin, this rejects; later calls of `reject` have no effect.
    whole.catch(reject)
  })
}
