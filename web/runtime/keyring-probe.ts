// keyring.test.ts runs this inside the browser: the keyring's functions by name, and direct access
// to the storage behind them.
import * as keyring from './keyring.ts'

/** Whom the other tabs notified. */
const notified: string[] = []

export const probe = {
  ...keyring,

  /** The name of the error, or `fine` when there is none. */
  errorNameOf: (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'fine',
      (error: Error) => error.name,
    ),

  notified,
  watch(account: string): void {
    keyring.watchKeyring(account, () => notified.push(account))
  },

  /** Every row of an object store, bytes as arrays of numbers. */
  rows: (store: 'keys' | 'wrappings') =>
    inDatabase(async (database) => {
      const rows = await answer<object[]>(database.transaction(store).objectStore(store).getAll())
      return rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainOf(value)])),
      )
    }),

  /** Tries to export the wrapping key. */
  exportWrapping: (account: string) =>
    inDatabase(async (database) => {
      const store = database.transaction('wrappings').objectStore('wrappings')
      return crypto.subtle.exportKey('raw', await answer<CryptoKey>(store.get(account)))
    }),

  /** What an attacker with write access to the storage could do: copy a row under another id. */
  copyRow: (from: readonly [string, string], to: { account: string; keyId: string }) =>
    inDatabase(async (database) => {
      const stores = database.transaction(['keys', 'wrappings'], 'readwrite')
      const keys = stores.objectStore('keys')
      const wrappings = stores.objectStore('wrappings')
      const row = await answer<object>(keys.get([...from]))
      wrappings.put(await answer<CryptoKey>(wrappings.get(from[0])), to.account)
      await answer(keys.put({ ...row, ...to }))
    }),
}

function plainOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return [...value]
  return value instanceof ArrayBuffer ? [...new Uint8Array(value)] : value
}

async function inDatabase<Answer>(work: (database: IDBDatabase) => Promise<Answer>) {
  const database = await answer(indexedDB.open('keyring'))
  try {
    return await work(database)
  } finally {
    database.close()
  }
}

function answer<Answer>(request: IDBRequest<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
