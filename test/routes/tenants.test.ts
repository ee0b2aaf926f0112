// Three owners, every route of the contract, and every id of the others: no answer shows anything
// of another owner, and no request changes a row of another owner.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type * as contract from '../../src/cabinet/contract/contract.ts'
import type { LogPage } from '../../src/cabinet/contract/usage.ts'
import { CABINET, PASSWORD } from '../stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../stages/cabinet.ts'
import { addPasskey, issueKey } from '../stages/cabinet-owner.ts'
import { contractRoutes } from './contract.ts'

type Ids = Readonly<
  Record<'account' | 'order' | 'session' | 'passkey' | 'key' | 'request' | 'refund', string>
>
type Tenant = { readonly own: Person; readonly ids: Ids; readonly marks: readonly string[] }

const at = { stage: undefined as unknown as CabinetStage, tenants: [] as Tenant[] }
before(async () => {
  at.stage = await createCabinetStage()
  for (const name of ['alpha', 'beta', 'gamma']) at.tenants.push(await tenant(at.stage, name))
})
after(() => at.stage.end())

async function tenant(stage: CabinetStage, name: string): Promise<Tenant> {
  const own = await stage.person(name)
  const bought = await stage.buyPack(own)
  const key = await issueKey(own)
  const state = await own.expectOk<contract.KeyState>('GET /api/key')
  await stage.spend(own.book, 1_000)
  const log = await own.expectOk<LogPage>('GET /api/log')
  const attempt = { attempt: `refund-${name}`, amountKopecks: '1000' }
  const refunded = await own.expectOk<contract.Refund>(
    `POST /api/orders/${bought.id}/refund`,
    attempt,
  )
  const { id: passkey } = await addPasskey(own, `Key of ${own.email}`)
  const other = stage.browser()
  await other.expectOk('POST /api/auth/sign-in/email', { email: own.email, password: PASSWORD })
  const sessions = await own.expectOk<{ sessions: contract.SessionLine[] }>('GET /api/sessions')
  const session = sessions.body.sessions.find(({ isCurrent }) => !isCurrent)?.id ?? ''
  const request = log.body.lines[0]?.id ?? ''
  const ids = {
    ...{ account: own.account, order: bought.id, session, passkey, key, request },
    refund: refunded.body.id,
  }
  for (const [what, id] of Object.entries(ids)) assert.ok(id.length > 5, `${name} has no ${what}`)
  // What must be in no answer to another owner.
  return { own, ids, marks: [own.email, ...Object.values(ids), state.body.active?.last4 ?? ''] }
}

/** Every row of the owner, in every table with a column that names an account or a book. */
async function rowsOf({ own }: Tenant): Promise<string[]> {
  const { db } = at.stage
  const { rows: tables } = await db.query(
    `select table_name as name, column_name as owner from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE'
       and (column_name in ('account_id', 'book_id')
         or (table_name, column_name) = ('accounts', 'id'))
     order by 1, 2`,
  )
  const all: string[] = []
  for (const { name, owner } of tables as { name: string; owner: string }[]) {
    const id = owner === 'book_id' ? String(own.book) : own.account
    const { rows } = await db.query(
      `select to_jsonb(t) - 'last_seen_at' as row from ${name} t where ${owner}::text = $1
       order by to_jsonb(t)::text`,
      [id],
    )
    for (const { row } of rows as { row: unknown }[]) all.push(`${name} ${JSON.stringify(row)}`)
  }
  return all
}

/** Bodies that a route accepts, with an id of another owner wherever a body has one. */
function bodyFor(name: string, id: string): object {
  const bodies: Record<string, object> = {
    'POST /api/auth/passkey/delete-passkey': { id },
    'POST /api/auth/passkey/update-passkey': { id, name: 'Mine now' },
    'POST /api/reset-review': { passkeys: [id], keys: [id] },
    'POST /api/me/language': { language: 'ru' },
    'POST /api/me/zone': { zone: 'Europe/Moscow' },
    'POST /api/consents': { document: 'news', version: '1' },
    'POST /api/orders': { pack: id, method: 'card', attempt: 'once' },
    'POST /api/orders/:id/refund': { attempt: 'once' },
    'POST /api/promo': { code: id },
    'POST /api/key/verify': { plain: id },
    'POST /api/guards/limits': { dayLimit: '1000', velocity: null },
    'POST /api/guards/letters': { lowCredits: '10', lowDays: 1 },
    'POST /api/auth/email/confirm': { code: id },
    'POST /api/auth/email/undo': { code: id },
    'POST /api/auth/reset-password': { code: id, newPassword: 'a storm from the west' },
  }
  return bodies[name] ?? {}
}

const QUERIES: Readonly<Record<string, (id: string) => string>> = {
  'GET /api/orders': (id) => `?before=${id}`,
  'GET /api/log': (id) => `?before=${id}`,
}

/** These end the session of the one who asks. */
const LAST = ['POST /api/auth/sign-out', 'POST /api/closing']
/** Its answer does not end. */
const STREAM = 'GET /api/live'

async function ask(own: Person, name: string, id: string): Promise<string> {
  await at.stage.db.query('delete from account_throttles')
  const route = `${name.replace(/:\w+/, id)}${QUERIES[name]?.(id) ?? ''}`
  const [method = '', path = ''] = route.split(' ')
  const headers = new Headers(own.headers())
  headers.set('origin', CABINET)
  if (method !== 'GET') headers.set('content-type', 'application/json')
  const response = await fetch(`${at.stage.url}${path}`, {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: JSON.stringify(bodyFor(name, id)) }),
  })
  if (name === STREAM && response.ok) return firstEvents(response)
  return `${response.status} ${await response.text()}`
}

async function firstEvents(response: Response): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

const names = contractRoutes().map(({ name }) => name)
const takesId = (name: string) => name.includes(':id') || /"x"|=x$/.test(requestText(name))
const requestText = (name: string) =>
  JSON.stringify(bodyFor(name, 'x')) + (QUERIES[name]?.('x') ?? '')
/** The same answer, whatever the id: the request's own id and what it quotes differ. */
const withoutIds = (answer: string, id: string) =>
  answer.replaceAll(id, 'ID').replace(/"requestId":"[^"]*"/, '')

test('an id of another owner is answered like one that does not exist', async () => {
  let tried = 0
  for (const { own } of at.tenants) {
    const others = at.tenants.filter((one) => one.own !== own)
    for (const name of names.filter((one) => takesId(one) && !LAST.includes(one))) {
      for (const other of others) {
        for (const [what, id] of Object.entries(other.ids)) {
          const unknown = unlike(id)
          const [theirs, nobodys] = [await ask(own, name, id), await ask(own, name, unknown)]
          const note = `${name} with the ${what} of ${other.own.email}`
          assert.equal(withoutIds(theirs, id), withoutIds(nobodys, unknown), note)
          tried += 1
        }
      }
    }
  }
  assert.ok(tried > 300, `${tried} requests`)
})

test('no answer contains anything of another owner', async () => {
  for (const { own, ids } of at.tenants) {
    const others = at.tenants.filter((one) => one.own !== own)
    for (const name of names.filter((one) => !LAST.includes(one))) {
      if (takesId(name) && name.startsWith('POST')) continue
      const answer = await ask(own, name, ids.order)
      for (const mark of others.flatMap(({ marks }) => marks)) {
        assert.ok(!answer.includes(mark), `${name} shows ${mark}`)
      }
    }
  }
})

test('no request of one owner changes a row of another', async () => {
  for (const [index, asking] of at.tenants.entries()) {
    const others = at.tenants.filter((one) => one !== asking)
    const before = await Promise.all(others.map(rowsOf))
    for (const other of others) {
      for (const name of names.filter((one) => !LAST.includes(one))) {
        for (const id of takesId(name) ? Object.values(other.ids) : ['x']) {
          await ask(asking.own, name, id)
        }
      }
    }
    // The last owner also signs out and closes; the others are still needed.
    if (index === at.tenants.length - 1) {
      for (const name of LAST.toReversed()) await ask(asking.own, name, 'x')
    }
    assert.deepEqual(await Promise.all(others.map(rowsOf)), before)
  }
})

/** An id of the same form that nobody has. */
function unlike(id: string): string {
  const last = id.at(-1)
  return `${id.slice(0, -1)}${last === '0' ? '1' : '0'}`
}
