// What an answer records at a target, with a manual clock and a credential that is rotated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '../../test/support/harness.ts'
import type { BookId } from '../platform/ids.ts'
import { Masked } from '../platform/masked.ts'
import type { Verdict } from '../wire/verdict.ts'
import { Capacity } from './capacity.ts'
import { createCredential } from './credential.ts'
import { TargetOutcome } from './outcome.ts'
import { createStanding } from './standing.ts'

const [ONE, OTHER, THIRD] = [1n, 2n, 3n] as [BookId, BookId, BookId]

function create() {
  const now = { ms: 50_000 }
  const clock = { nowMs: () => now.ms, spanMs: () => now.ms }
  const source = new Masked('first')
  const credential = createCredential({ label: 'a#1', source, clock, log: quiet })
  const standing = createStanding(clock.spanMs, credential.secretNumber)
  const capacity = new Capacity(clock.spanMs, { standing, connections: 64, paid: () => undefined })
  const counts = { underWay: 0, succeeded: 0, failed: 0, firstByteMs: 0 }
  const on = { sent: 0 }
  return {
    now,
    credential,
    standing,
    capacity,
    /** A request of the account that is sent now. */
    send(book = ONE) {
      on.sent += 1
      const sent = { book, bodyHash: on.sent, model: 'any', path: '/v1/messages', isStream: false }
      const needs = { clock, log: quiet, onRoom: () => undefined }
      const outcome = new TargetOutcome({ label: 'a#1', counts, standing }, capacity, sent, needs)
      outcome.secret = credential.secretNumber()
      return outcome
    },
    /** A request of the account that gets this answer now. */
    answer(verdict: Verdict, book = ONE): void {
      const outcome = this.send(book)
      outcome.answer(verdict, {})
      outcome.finish()
      outcome.end()
    },
  }
}

test('a secret that was replaced puts the new one neither out of service nor forbids it', () => {
  for (const verdict of ['unauthorised', 'unpaid', 'forbidden'] as const) {
    const on = create()
    const old = on.send()
    on.credential.rotate(new Masked('second'))
    old.answer(verdict, {})
    old.end()
    assert.equal(on.capacity.gradeFor(ONE), 'ready', verdict)
    const refused = on.send()
    refused.answer(verdict, {})
    assert.equal(on.capacity.gradeFor(ONE), 'out', verdict)
    on.credential.rotate(new Masked('third'))
    assert.equal(on.standing.why(), undefined, 'the third was not refused')
  }
})

test('an answer about the request itself does not show that the model serves', () => {
  for (const verdict of ['refused', 'retry'] as const) {
    const on = create()
    for (const book of [ONE, OTHER, ONE, OTHER, ONE]) {
      on.answer(verdict, THIRD)
      on.answer('failed', book)
    }
    assert.equal(on.capacity.gradeFor(ONE), 'sick', 'five failures, with no reply between them')
    on.now.ms += 1_000
    on.answer(verdict, THIRD)
    assert.equal(on.capacity.breaker.state(), 'open', 'the probe generated nothing')
    on.now.ms += 1_000
    on.answer('served', THIRD)
    assert.equal(on.capacity.gradeFor(ONE), 'ready')
  }
})

test('a 401 concerns the account that got it, and all after a second one got it', () => {
  const on = create()
  const grades = () => [ONE, OTHER, THIRD].map((book) => on.capacity.gradeFor(book))
  on.answer('unauthorised')
  assert.deepEqual([...grades(), on.standing.why()], ['out', 'ready', 'ready', 'unauthorised'])
  on.answer('unauthorised', OTHER)
  assert.deepEqual(grades(), ['out', 'out', 'out'])
  on.now.ms += 60_000
  on.answer('served', THIRD)
  assert.deepEqual([...grades(), on.standing.why()], ['ready', 'ready', 'ready', undefined])
})

test('a 401 of one account is its own affair once another account is served', () => {
  const on = create()
  on.answer('unauthorised')
  on.answer('served', OTHER)
  assert.equal(on.standing.why(), undefined, 'the credential is in service')
  assert.deepEqual(
    [ONE, OTHER].map((book) => on.capacity.gradeFor(book)),
    ['out', 'ready'],
  )
  on.now.ms += 60_000
  assert.equal(on.capacity.gradeFor(ONE), 'ready', 'it may try again after a minute')
  on.answer('unauthorised')
  assert.equal(on.standing.why(), undefined)
  on.answer('unauthorised', OTHER)
  assert.deepEqual([on.standing.why(), on.capacity.gradeFor(THIRD)], ['unauthorised', 'out'])
})

test('an account without funds is out of service for all at once', () => {
  const on = create()
  on.answer('unpaid')
  assert.equal(on.capacity.gradeFor(OTHER), 'out')
})
