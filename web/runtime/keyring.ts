// The plain API key, kept in this browser and nowhere else: IndexedDB holds it as AES-GCM text
// under a WebCrypto key that no script can export, bound to the account and to the key's id. Who
// copies the storage has no key; who runs script on our pages does, and reissue is the remedy.
// Losing it is ordinary (private windows, cleared data): every caller must live with `undefined`.

export type Kept = {
  readonly account: string
  readonly keyId: string
  readonly last4: string
  readonly createdAt: string
}

/** This browser keeps nothing: no secure address, or storage is full, closed or switched off. */
export class KeyringClosed extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause })
    this.name = 'KeyringClosed'
  }
}

type Row = Kept & { readonly iv: Uint8Array<ArrayBuffer>; readonly ciphertext: ArrayBuffer }

const DATABASE = 'keyring'
const VERSION = 1
/** One wrapping key for an account. */
const WRAPPINGS = 'wrappings'
/** By account and key id: during a reissue the old key and the new one are both kept. */
const ROWS = 'keys'
/** As long as AES-GCM wants it; drawn anew for each encryption. */
const IV_BYTES = 12
const CHANGED = 'keyring'

/** Encrypts and stores a key, reads it back and compares. Throws KeyringClosed. Repeatable. */
export async function keep(kept: Kept, plain: string): Promise<void> {
  await opened(async (database) => {
    const wrapping = await wrappingOf(database, kept.account)
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
    const ciphertext = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv, additionalData: bindingOf(kept) },
      wrapping,
      new TextEncoder().encode(plain),
    )
    const row: Row = { ...kept, iv, ciphertext }
    await transact(database, 'readwrite', (stores) => stores.rows.put(row))
    if ((await decrypted(database, kept)) !== plain) {
      throw new KeyringClosed('what was stored does not read back')
    }
  })
  tellTabs(kept.account)
}

/** The plain value, or undefined when this browser does not have it (any more). */
export async function recall(of: Pick<Kept, 'account' | 'keyId'>): Promise<string | undefined> {
  return opened((database) => decrypted(database, of))
}

/** What is kept for an account, without the values. */
export async function keptFor(account: string): Promise<readonly Kept[]> {
  return opened((database) => rowsOf(database, account))
}

/** Wipes every key of the account but those named: what was reissued elsewhere opens nothing. */
export async function keepOnly(account: string, keyIds: readonly string[]): Promise<void> {
  const wiped = await opened(async (database) => {
    const gone = (await rowsOf(database, account)).filter(({ keyId }) => !keyIds.includes(keyId))
    for (const { keyId } of gone) {
      await transact(database, 'readwrite', (stores) => stores.rows.delete([account, keyId]))
    }
    return gone.length
  })
  if (wiped > 0) tellTabs(account)
}

/** Wipes the account's keys and the key that wrapped them: for who leaves a shared device. */
export async function forget(account: string): Promise<void> {
  await keepOnly(account, [])
  await opened((database) =>
    transact(database, 'readwrite', (stores) => stores.wrappings.delete(account)),
  )
}

/** Wipes what every account left here. */
export async function forgetAll(): Promise<void> {
  await opened(async (database) => {
    await transact(database, 'readwrite', (stores) => stores.rows.clear())
    await transact(database, 'readwrite', (stores) => stores.wrappings.clear())
  })
}

/** Calls back when another tab stored or wiped a key of the account. */
export function watchKeyring(account: string, changed: () => void): () => void {
  const channel = new BroadcastChannel(CHANGED)
  channel.addEventListener('message', ({ data }) => {
    if (data === account) changed()
  })
  return () => channel.close()
}

function tellTabs(account: string): void {
  const channel = new BroadcastChannel(CHANGED)
  channel.postMessage(account)
  channel.close()
}

/** Text of two parts that no other two parts give. */
function bindingOf({ account, keyId }: Pick<Kept, 'account' | 'keyId'>): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify([account, keyId]))
}

async function decrypted(
  database: IDBDatabase,
  of: Pick<Kept, 'account' | 'keyId'>,
): Promise<string | undefined> {
  const { account, keyId } = of
  const row = await transact<Row | undefined>(database, 'readonly', (stores) =>
    stores.rows.get([account, keyId]),
  )
  const wrapping = await storedWrapping(database, account)
  if (row === undefined || wrapping === undefined) return undefined
  try {
    const bytes = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: row.iv, additionalData: bindingOf(of) },
      wrapping,
      row.ciphertext,
    )
    return new TextDecoder().decode(bytes)
  } catch (error) {
    // Made under another wrapping key, or moved here from another account: not a key of ours.
    if (error instanceof DOMException && error.name === 'OperationError') return undefined
    throw error
  }
}

async function rowsOf(database: IDBDatabase, account: string): Promise<readonly Kept[]> {
  const rows = await transact<Row[]>(database, 'readonly', (stores) =>
    stores.rows.getAll(IDBKeyRange.bound([account], [account, []])),
  )
  return rows.map(({ keyId, last4, createdAt }) => ({ account, keyId, last4, createdAt }))
}

function storedWrapping(database: IDBDatabase, account: string): Promise<CryptoKey | undefined> {
  return transact<CryptoKey | undefined>(database, 'readonly', (stores) =>
    stores.wrappings.get(account),
  )
}

async function wrappingOf(database: IDBDatabase, account: string): Promise<CryptoKey> {
  const stored = await storedWrapping(database, account)
  if (stored !== undefined) return stored
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ])
  try {
    // `add` refuses when another tab was first; then its key is the one.
    await transact(database, 'readwrite', (stores) => stores.wrappings.add(made, account))
    return made
  } catch (error) {
    const first = await storedWrapping(database, account)
    if (first === undefined) throw error
    return first
  }
}

type Stores = { readonly rows: IDBObjectStore; readonly wrappings: IDBObjectStore }

/** One request in a transaction of its own; resolves when it is committed. */
function transact<Answer>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  ask: (stores: Stores) => IDBRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // Strict: on the disk before we tell the server that we have it.
    const transaction = database.transaction([ROWS, WRAPPINGS], mode, { durability: 'strict' })
    const request = ask({
      rows: transaction.objectStore(ROWS),
      wrappings: transaction.objectStore(WRAPPINGS),
    })
    transaction.oncomplete = () => resolve(request.result as Answer)
    transaction.onabort = () => reject(transaction.error ?? request.error)
  })
}

/** Opens the database for one piece of work. What the browser refuses becomes KeyringClosed. */
async function opened<Answer>(work: (database: IDBDatabase) => Promise<Answer>): Promise<Answer> {
  if (globalThis.crypto?.subtle === undefined || globalThis.indexedDB === undefined) {
    throw new KeyringClosed('no WebCrypto or no IndexedDB at this address')
  }
  try {
    const database = await open()
    try {
      return await work(database)
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof DOMException) throw new KeyringClosed(error.name, error)
    throw error
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION)
    request.onupgradeneeded = () => {
      request.result.createObjectStore(ROWS, { keyPath: ['account', 'keyId'] })
      request.result.createObjectStore(WRAPPINGS)
    }
    request.onsuccess = () => {
      // A newer page in another tab may want to change the tables.
      request.result.onversionchange = () => request.result.close()
      resolve(request.result)
    }
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new KeyringClosed('an older page is open in another tab'))
  })
}
