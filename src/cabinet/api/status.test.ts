// What everybody is told about how the service is doing, from tables that other processes write.
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

/** The states of all parts, in words, at a moment of its own: an answer is kept for a while. */
async function told(change: Partial<StatusOptions> = {}): Promise<string> {
  const { payments, mail, upstreams } = at.stage
  const log = { warn: () => undefined } as unknown as StatusOptions['log']
  const own = { clock: systemClock, log, payments, mail, upstreams, isSelling: true, ...change }
  const route = statusRoutes(own)['GET /api/status']
  assert(route.session === 'none')
  const { parts } = await route.run(visit)
  return parts.map(({ part, state }) => `${part} ${state}`).join(', ')
}
const visit = { params: {}, body: undefined, query: {}, address: '', header: () => undefined }

/** What a process of the gateway writes every few seconds. */
async function seen(target: string, state: string, secondsAgo = 0): Promise<void> {
  await at.stage.db.query(
    `insert into upstream_views (instance, target, state, under_way, succeeded, failed, seen_at)
     values (1, $1, $2, 0, 0, 0, clock_timestamp() - make_interval(secs => $3))
     on conflict (instance, target) do update
     set state = excluded.state, seen_at = excluded.seen_at`,
    [target, state, secondsAgo],
  )
}

test('a gateway that nobody heard of for half a minute is down', async () => {
  await seen('secret-name#1', 'closed', 60)
  assert.match(await told(), /^gateway down, models unknown, /)
})

test('models are slow while a way to them is shut, and down when all are', async () => {
  await seen('secret-name#1', 'closed')
  await seen('secret-name#2', 'closed')
  assert.match(await told(), /^gateway working, models working, /)
  await seen('secret-name#2', 'open')
  assert.match(await told(), /^gateway working, models slow, /)
  await seen('secret-name#1', 'open')
  assert.match(await told(), /^gateway working, models down, /)
})

test('payments are slow while credits are late, and paused while nothing is sold', async () => {
  assert.match(await told(), /payments working/)
  await at.stage.db.query(
    `insert into payment_sweeps (provider, watermark, swept_at)
     values ('yookassa', ledger_now(), ledger_now() - interval '10 minutes')
     on conflict (provider) do update set swept_at = excluded.swept_at`,
    [],
  )
  assert.match(await told(), /payments slow/)
  assert.match(await told({ isSelling: false }), /payments paused/)
})

test('letters are slow while one waits for minutes', async () => {
  assert.match(await told(), /letters working/)
  await at.stage.person('waiting')
  await at.stage.db.query(
    `update letters set posted_at = clock_timestamp() - interval '5 minutes'`,
    [],
  )
  assert.match(await told(), /letters slow/)
})

test('a part that cannot be read is unknown, and the others are told all the same', async () => {
  const mail = { stats: () => Promise.reject(new Error('away')) }
  assert.match(await told({ mail }), /^gateway working, .*, letters unknown$/)
})

test('everybody may ask, no upstream is named, and the tables are read once for many', async () => {
  await seen('secret-name#1', 'closed')
  const anybody = at.stage.visitor()
  const { body } = await anybody.must<Status>('GET /api/status')
  assert.doesNotMatch(JSON.stringify(body), /secret-name/)
  await seen('secret-name#1', 'open')
  const again = await anybody.must<Status>('GET /api/status')
  assert.deepEqual(again.body, body)
})
