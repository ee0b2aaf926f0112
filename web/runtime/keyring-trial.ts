// What keyring.test.ts runs inside the browser, where the test's own types end: the keyring's verbs
// by name, and a look past them into the storage.
import * as keyring from './keyring.ts'

/** Whom the other tabs told. */
const told: string[] = []

export const trial = {
  ...keyring,

  /** The name of the error, or `fine`. */
  attempt: (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'fine',
      (error: Error) => error.name,
    ),

  told,
  watch(account: string): void {
    keyring.watchKeyring(account, () => told.push(account))
  },

  /** Every row of a store, its bytes as numbers. */
  rows: (store: 'keys' | 'wrappings') =>
    inDatabase(async (database) => {
      const rows = await answer<object[]>(database.transaction(store).objectStore(store).getAll())
      return rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainOf(value)])),
      )
    }),

  /** Tries to take the wrapping key away. */
  exportWrapping: (account: string) =>
    inDatabase(async (database) => {
      const store = database.transaction('wrappings').objectStore('wrappings')
      return crypto.subtle.exportKey('raw', await answer<CryptoKey>(store.get(account)))
    }),

  /** What somebody with a hand in the storage could do: pass a row off as another one. */
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
