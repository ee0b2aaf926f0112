// What a client gets when its request ends in an error, over a real connection.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { limits, openListener } from '../../test/support/http-listener.ts'
import { systemClock } from '../platform/clock.ts'
import { watchEventLoop } from '../platform/event-loop.ts'
import { createLog } from '../platform/log.ts'
import { makeRefusal } from '../platform/refusal.ts'
import { accept } from './1-accept.ts'
import { answerError } from './answers.ts'
import type { GatewaySettings } from './modules.ts'
import { gatewayRefusal } from './refusals.ts'
import { createRequestLog } from './request-log.ts'

const settings: GatewaySettings = {
  cell: 0,
  versions: ['2023-06-01'],
  slug: 'test',
  bodyBytesMax: 1_000,
  requestSecondsMax: 10,
  addressHeader: 'none',
  cabinetUrl: 'http://cabinet.example.org',
  cabinetOrigin: 'http://cabinet.example.org',
}

/** The answer to a request that ends in `error`, and what is logged about it. */
async function answerTo(t: TestContext, error: Error) {
  const lines: string[] = []
  const log = createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } })
  const requestLog = createRequestLog({ log, clock: systemClock })
  const eventLoop = watchEventLoop()
  t.after(eventLoop.stop)
  const listener = await openListener({
    limits,
    answer(clientRequest, clientReply) {
      const modules = { clock: systemClock, settings, eventLoop }
      const exchange = accept(clientRequest, clientReply, modules)
      requestLog.write(exchange, '/me', answerError(exchange, error))
    },
  })
  t.after(listener.close)
  const response = await fetch(`http://127.0.0.1:${listener.port}/v1/me`)
  const { error: body } = (await response.json()) as { error: { type: string; message: string } }
  return { status: response.status, body, logged: lines.map((line) => JSON.parse(line)) }
}

test('answers a refusal as the table says; logs its code but not its message', async (t) => {
  const refusal = gatewayRefusal('model_unknown', 'model: theirs', { field: 'model' })
  const { status, body, logged } = await answerTo(t, refusal)
  assert.deepEqual([status, body], [404, { type: 'not_found_error', message: 'model: theirs' }])
  const [{ code, detail }] = logged
  assert.deepEqual([logged.length, code, detail], [1, 'model_unknown', { field: 'model' }])
  assert.doesNotMatch(JSON.stringify(logged), /theirs/)
})

test('a refusal that is not in the table is a fault: 500 and one log line', async (t) => {
  const refusal = makeRefusal('promo_refused', 'This code cannot be used.')
  const { status, body, logged } = await answerTo(t, refusal)
  assert.deepEqual([status, body], [500, { type: 'api_error', message: 'Internal server error' }])
  const levels = logged.map(({ level, err }) => [level, err.code])
  assert.deepEqual(levels, [['error', 'promo_refused']])
})
