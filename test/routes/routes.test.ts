// Every route of the contract, with every level of a session and every origin, on a real server:
// the cells are those of docs/cabinet-routes.md, and what each action's level demands.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { levels } from '../../src/accounts/levels.ts'
import { contractRoutes, servedAuthRoutes } from './contract.ts'
import { type Cells, measureRoutes, type RouteCells, renderTable } from './table.ts'

const at = { routes: [] as readonly RouteCells[] }
before(async () => {
  at.routes = await measureRoutes()
})

/** The flow checks a password in the body, so the session need not have proven it. */
const WITH_PASSWORD = [
  'POST /api/auth/change-password',
  'POST /api/auth/two-factor/enable',
  'POST /api/auth/two-factor/disable',
  'POST /api/auth/two-factor/generate-backup-codes',
]

const PUBLIC = [
  ...['brand', 'prices', 'documents/:document', 'status'].map((path) => `GET /api/${path}`),
  'GET /api/auth/passkey/generate-authenticate-options',
  ...['register', 'register/again', 'confirm', 'invitation', 'sign-in/email', 'sign-out'],
  ...['two-factor/verify-totp', 'two-factor/verify-backup-code', 'passkey/verify-authentication'],
  ...['request-password-reset', 'reset-password', 'email/undo'],
  ...['ask', 'look', 'open', 'complete', 'confirm', 'finish', 'stop'].map(
    (step) => `recovery/${step}`,
  ),
  'POST /api/unsubscribe',
].map((path) => (path.includes(' ') ? path : `POST /api/auth/${path}`))

test('the file has every route of the contract, with the cells that the server shows', async () => {
  const file = join(import.meta.dirname, '../../docs/cabinet-routes.md')
  // After an intended change: npm run routes-table.
  assert.deepEqual(renderTable(at.routes).split('\n'), (await readFile(file, 'utf8')).split('\n'))
})

test('the contract lists every path of /api/auth, and no other', () => {
  const listed = contractRoutes().map(({ name }) => name)
  const auth = listed.filter((name) => name.includes('/api/auth/'))
  assert.deepEqual(auth.toSorted(), [...servedAuthRoutes()].toSorted())
  assert.equal(new Set(listed).size, listed.length)
})

test('every change from a foreign or unknown origin is refused, whatever the session', () => {
  for (const { name, cells } of at.routes) {
    if (name.startsWith('GET ')) {
      assert.deepEqual([cells.foreign, cells.none], [cells.own, cells.own], name)
      continue
    }
    const answers = new Set([...Object.values(cells.foreign), ...Object.values(cells.none)])
    assert.deepEqual([...answers], ['refused'], name)
  }
})

test('each cell is what the level of the route’s action demands', () => {
  for (const { name, action, cells } of at.routes) {
    assert.deepEqual(cells.own, expectedCells(name, action && levels[action]), name)
  }
})

test('every action of the table belongs to a route', () => {
  const used = new Set(at.routes.map(({ action }) => action))
  for (const action of Object.keys(levels)) assert.ok(used.has(action as never), action)
})

function expectedCells(name: string, level: string | undefined): Cells['own'] {
  const asked = {
    stale: level === 'second_factor' ? ['password', 'code'] : ['password'],
    password: level === 'second_factor' ? ['code'] : [],
  }
  const cell = (proofs: readonly string[]) => {
    if (level === undefined || level === 'signed_in') return 'yes'
    const missing = proofs.filter((one) => one !== 'password' || !WITH_PASSWORD.includes(name))
    return missing.length === 0 ? 'yes' : missing.join(' + ')
  }
  return {
    none: PUBLIC.includes(name) ? 'yes' : 'sign in',
    stale: cell(asked.stale),
    password: cell(asked.password),
    'second factor': 'yes',
    fresh: 'yes',
    'shared device': cell(asked.stale),
  }
}
