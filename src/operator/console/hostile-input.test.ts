// Input of the console's routes that no page sends: it is refused or means nothing, and is no
// fault, because faults wake the person on call.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ConsoleStage, createConsoleStage } from '../../../test/stages/console.ts'
import { consoleRoutes } from './console.ts'
import type { FigureRows } from './contract/queues.ts'

const at = { stage: undefined as unknown as ConsoleStage, token: '' }

before(async () => {
  at.stage = await createConsoleStage()
  at.token = (await at.stage.people.newcomer('admin', 'admin')).token
})
after(() => at.stage.end())

test('a NUL character in a path is refused by every route', async () => {
  const routes = Object.keys(consoleRoutes(at.stage)).filter((name) => name.includes('/:'))
  assert.ok(routes.length >= 6)
  for (const name of routes) {
    const route = name.replace(/:\w+/, 'a%00b')
    const { status, code } = await at.stage.send(route, { token: at.token })
    assert.deepEqual([status, code], [400, 'field_invalid'], route)
  }
})

test('a cursor that no page was given begins at the first page', async () => {
  const large = '9'.repeat(19)
  const cursors = ['x 2026-13-45 99:99', 'x 2026-02-30 00:00:00+00', `${large} 1`, `1 ${large}`]
  for (const name of ['taken', 'refunded', 'inReview', 'requests', 'liability', 'debt']) {
    for (const cursor of cursors) {
      const route = `GET /api/figures/${name}?before=${encodeURIComponent(cursor)}`
      const { status, body } = await at.stage.send<FigureRows>(route, { token: at.token })
      assert.deepEqual([status, body.name], [200, name], route)
    }
  }
})
