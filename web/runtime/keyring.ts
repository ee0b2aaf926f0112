// Stores the plain API key in this browser and nowhere else: IndexedDB holds it as AES-GCM
// ciphertext under a WebCrypto key that no script can export, bound to the account and to the key's
// id. A copy of the storage does not contain the key. A script on our pages can read it; the owner
// must then reissue. Browsers lose it often (private windows, cleared data), so every caller must
// handle `undefined`.

export type StoredKey = {
  readonly account: string
  readonly keyId: string
  readonly last4: string
  readonly createdAt: string
}

/** This browser cannot store keys: no HTTPS, or its storage is full, closed or switched off. */
export class KeyringUnavailable extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause })
    this.name = 'KeyringUnavailable'
  }
}

type Row = StoredKey & { readonly iv: Uint8Array<ArrayBuffer>; readonly ciphertext: ArrayBuffer }

const DATABASE = 'keyring'
const VERSION = 1
/** One wrapping key for each account. */
const WRAPPING_KEYS = 'wrappings'
/** By account and key id: during a reissue both the old and the new key are stored. */
const ROWS = 'keys'
/** The length that AES-GCM recommends; every encryption draws a new vector. */
const IV_BYTES = 12
const CHANNEL = 'keyring'

/** Encrypts and stores a key, then reads it back and compares. May be repeated. */
export async function storeKey(key: StoredKey, plain: string): Promise<void> {
  await withDatabase(async (database) => {
    const wrappingKey = await wrappingKeyOf(database, key.account)
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
    const ciphertext = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv, additionalData: additionalDataOf(key) },
      wrappingKey,
      new TextEncoder().encode(plain),
    )
    const row: Row = { ...key, iv, ciphertext }
    await transact(database, 'readwrite', (stores) => stores.rows.put(row))
    if ((await decryptKey(database, key)) !== plain) {
      throw new KeyringUnavailable('the stored key does not read back')
    }
  })
  notifyTabs(key.account)
}

/** The plain value, or undefined when this browser does not have it. */
export async function readKey(
  of: Pick<StoredKey, 'account' | 'keyId'>,
): Promise<string | undefined> {
  return withDatabase((database) => decryptKey(database, of))
}

/** The account's keys in this browser, without their plain values. */
export async function listKeys(account: string): Promise<readonly StoredKey[]> {
  return withDatabase((database) => listRows(database, account))
}

/** Wipes every key of the account except `keyIds`; a key that was reissued elsewhere is useless. */
export async function wipeAllKeysBut(account: string, keyIds: readonly string[]): Promise<void> {
  const wiped = await withDatabase(async (database) => {
    const unwanted = (await listRows(database, account)).filter(
      ({ keyId }) => !keyIds.includes(keyId),
    )
    for (const { keyId } of unwanted) {
      await transact(database, 'readwrite', (stores) => stores.rows.delete([account, keyId]))
    }
    return unwanted.length
  })
  if (wiped > 0) notifyTabs(account)
}

/** Wipes the account's keys and its wrapping key, when the owner leaves a shared device. */
export async function wipeKeys(account: string): Promise<void> {
  await wipeAllKeysBut(account, [])
  await withDatabase((database) =>
    transact(database, 'readwrite', (stores) => stores.wrappings.delete(account)),
  )
}

/** Wipes the keys of every account. */
export async function wipeAllKeys(): Promise<void> {
  await withDatabase(async (database) => {
    await transact(database, 'readwrite', (stores) => stores.rows.clear())
    await transact(database, 'readwrite', (stores) => stores.wrappings.clear())
  })
}

/** Calls `changed` when another tab has stored or wiped a key of the account. */
export function watchKeyring(account: string, changed: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.addEventListener('message', ({ data }) => {
    if (data === account) changed()
  })
  return () => channel.close()
}

function notifyTabs(account: string): void {
  const channel = new BroadcastChannel(CHANNEL)
  channel.postMessage(account)
  channel.close()
}

/** Unique for each pair: joined as JSON, two different pairs never give the same text. */
function additionalDataOf({
  account,
  keyId,
}: Pick<StoredKey, 'account' | 'keyId'>): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify([account, keyId]))
}

async function decryptKey(
  database: IDBDatabase,
  of: Pick<StoredKey, 'account' | 'keyId'>,
): Promise<string | undefined> {
  const { account, keyId } = of
  const row = await transact<Row | undefined>(database, 'readonly', (stores) =>
    stores.rows.get([account, keyId]),
  )
  const wrappingKey = await readWrappingKey(database, account)
  if (row === undefined || wrappingKey === undefined) return undefined
  try {
    const bytes = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: row.iv, additionalData: additionalDataOf(of) },
      wrappingKey,
      row.ciphertext,
    )
    return new TextDecoder().decode(bytes)
  } catch (error) {
    // Encrypted under another wrapping key, or a row copied from another account: no valid key.
    if (error instanceof DOMException && error.name === 'OperationError') return undefined
    throw error
  }
}

async function listRows(database: IDBDatabase, account: string): Promise<readonly StoredKey[]> {
  const rows = await transact<Row[]>(database, 'readonly', (stores) =>
    stores.rows.getAll(IDBKeyRange.bound([account], [account, []])),
  )
  return rows.map(({ keyId, last4, createdAt }) => ({ account, keyId, last4, createdAt }))
}

function readWrappingKey(database: IDBDatabase, account: string): Promise<CryptoKey | undefined> {
  return transact<CryptoKey | undefined>(database, 'readonly', (stores) =>
    stores.wrappings.get(account),
  )
}

async function wrappingKeyOf(database: IDBDatabase, account: string): Promise<CryptoKey> {
  const stored = await readWrappingKey(database, account)
  if (stored !== undefined) return stored
  const made = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ])
  try {
    // `add` fails when another tab was first; then that tab's wrapping key is used.
    await transact(database, 'readwrite', (stores) => stores.wrappings.add(made, account))
    return made
  } catch (error) {
    const first = await readWrappingKey(database, account)
    if (first === undefined) throw error
    return first
  }
}

type Stores = { readonly rows: IDBObjectStore; readonly wrappings: IDBObjectStore }

/** Runs one request in a transaction of its own; resolves when it is committed. */
function transact<Answer>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  send: (stores: Stores) => IDBRequest,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // Strict: the key is on disk before the page confirms it to the server.
    const transaction = database.transaction([ROWS, WRAPPING_KEYS], mode, { durability: 'strict' })
    const request = send({
      rows: transaction.objectStore(ROWS),
      wrappings: transaction.objectStore(WRAPPING_KEYS),
    })
    transaction.oncomplete = () => resolve(request.result as Answer)
    transaction.onabort = () => reject(transaction.error ?? request.error)
  })
}

/** Opens the database for `work`; an error of the browser becomes KeyringUnavailable. */
async function withDatabase<Answer>(
  work: (database: IDBDatabase) => Promise<Answer>,
): Promise<Answer> {
  if (globalThis.crypto?.subtle === undefined || globalThis.indexedDB === undefined) {
    throw new KeyringUnavailable('no WebCrypto or no IndexedDB at this address')
  }
  try {
    const database = await open()
    try {
      return await work(database)
    } finally {
      database.close()
    }
  } catch (error) {
    if (error instanceof DOMException) throw new KeyringUnavailable(error.name, error)
    throw error
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION)
    request.onupgradeneeded = () => {
      request.result.createObjectStore(ROWS, { keyPath: ['account', 'keyId'] })
      request.result.createObjectStore(WRAPPING_KEYS)
    }
    request.onsuccess = () => {
      // A newer version of the page in another tab may need to upgrade the database.
      request.result.onversionchange = () => request.result.close()
      resolve(request.result)
    }
    request.onerror = () => reject(request.error)
    request.onblocked = () => reject(new KeyringUnavailable('an older page is open in another tab'))
  })
}
