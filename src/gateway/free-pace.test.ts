// When calls of the free endpoints are paced: never while the event loop has time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { createWaitingPlaces } from '../platform/slots.ts'
import { createAdmission } from './admission.ts'
import type { Exchange } from './exchange.ts'

const [FLOODER, CUSTOMER] = [1n as BookId, 2n as BookId]

/** Lets a flooder have 32 free calls answered beside a customer; returns the slots still taken. */
async function slotsTakenAfterFlood(isLoopBusy: boolean, hasCustomer: boolean): Promise<number> {
  const spanMs = () => performance.now()
  const upstreams = { waiting: createWaitingPlaces(spanMs), connections: () => new Map() }
  const admission = createAdmission({
    clock: { nowMs: Date.now, spanMs } as Parameters<typeof createAdmission>[0]['clock'],
    waitBytesMax: 1_048_576,
    settings: { bodyBytesMax: 1_024 },
    upstreams,
    isLoopBusy: () => isLoopBusy,
  })
  if (hasCustomer) admission.bodies.open(CUSTOMER, { onShed: undefined }).take(1)
  const call = () => ({ onShed: undefined }) as unknown as Exchange
  const free = () => admission.inFreeSlot(call(), FLOODER, () => Promise.resolve())
  await Promise.all(Array.from({ length: 32 }, free))
  return admission.all().free?.totals.used ?? 0
}

test('a loop with time to spare answers free calls as fast as it can', async () => {
  assert.equal(await slotsTakenAfterFlood(false, true), 0)
})

test('a busy loop paces the free calls of an account with many beside others', async () => {
  assert.equal(await slotsTakenAfterFlood(true, true), 32)
  assert.equal(await slotsTakenAfterFlood(true, false), 0)
})
