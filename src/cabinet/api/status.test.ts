// The public service status, from tables that other processes write.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../../../test/stages/cabinet.ts'
import { systemClock } from '../../platform/clock.ts'
import type { Status } from '../contract/status.ts'
import { type StatusOptions, statusRoutes } from './status.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

/** The states of all services as text. Creates new routes, because routes cache their answer. */
async function states(change: Partial<StatusOptions> = {}): Promise<string> {
  const { payments, mail, upstreams } = at.stage
  const log = { warn: () => undefined } as unknown as StatusOptions['log']
  const own = { clock: systemClock, log, payments, mail, upstreams, isSelling: true, ...change }
  const route = statusRoutes(own)['GET /api/status']
  assert(route.session === 'none')
  const { parts } = await route.run(request)
  return parts.map(({ part, state }) => `${part} ${state}`).join(', ')
}
const request = { params: {}, body: undefined, query: {}, address: '', header: () => undefined }

/** Writes what a process of the gateway records every few seconds. */
async function seen(target: string, state: string, secondsAgo = 0): Promise<void> {
  await at.stage.db.query(
    `insert into upstream_views (instance, target, state, under_way, succeeded, failed, seen_at)
     values (1, $1, $2, 0, 0, 0, clock_timestamp() - make_interval(secs => $3))
     on conflict (instance, target) do update
     set state = excluded.state, seen_at = excluded.seen_at`,
    [target, state, secondsAgo],
  )
}

test('the gateway is down when no process has reported for half a minute', async () => {
  await seen('secret-name#1', 'closed', 60)
  assert.match(await states(), /^gateway down, models unknown, /)
})

test('models are slow when one target fails, and down when all do', async () => {
  await seen('secret-name#1', 'closed')
  await seen('secret-name#2', 'closed')
  assert.match(await states(), /^gateway working, models working, /)
  await seen('secret-name#2', 'open')
  assert.match(await states(), /^gateway working, models slow, /)
  await seen('secret-name#1', 'open')
  assert.match(await states(), /^gateway working, models down, /)
  // A request is under way there, and may hang.
  await seen('secret-name#1', 'probing')
  assert.match(await states(), /^gateway working, models down, /)
})

test('payments are slow when the sweep is late, and paused when nothing is sold', async () => {
  assert.match(await states(), /payments working/)
  await at.stage.db.query(
    `insert into payment_sweeps (provider, shop, watermark, swept_at)
     values ('yookassa', $1, ledger_now(), ledger_now() - interval '10 minutes')`,
    [at.stage.provider.shopRef],
  )
  assert.match(await states(), /payments slow/)
  assert.match(await states({ isSelling: false }), /payments paused/)
})

test('letters are slow when an e-mail waits for minutes', async () => {
  assert.match(await states(), /letters working/)
  await at.stage.person('waiting')
  await at.stage.db.query(
    `update letters set posted_at = clock_timestamp() - interval '5 minutes'`,
    [],
  )
  assert.match(await states(), /letters slow/)
})

test('a service whose state cannot be read is unknown, and the others are shown', async () => {
  const mail = { stats: () => Promise.reject(new Error('away')) }
  assert.match(await states({ mail }), /^gateway working, .*, letters unknown$/)
})

test('the status needs no session, names no upstream, and is cached', async () => {
  await seen('secret-name#1', 'closed')
  const anybody = at.stage.browser()
  const { body } = await anybody.expectOk<Status>('GET /api/status')
  assert.doesNotMatch(JSON.stringify(body), /secret-name/)
  await seen('secret-name#1', 'open')
  const again = await anybody.expectOk<Status>('GET /api/status')
  assert.deepEqual(again.body, body)
})
