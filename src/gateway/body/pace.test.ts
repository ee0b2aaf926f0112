// The pace of request bodies: which of the paused ones goes on next. The timers are manual.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BookId } from '../../platform/ids.ts'
import { BUSY_BODY_BYTES_MAX, createPace } from './pace.ts'

const [HEAVY, LIGHT] = [1n, 2n] as [BookId, BookId]
const READ_BYTES = 65_536
const PACE_MS = 4

/** Bodies that bring a read of their socket whenever they are not paused. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const pace = createPace(() => BUSY_BODY_BYTES_MAX)
  const bodies: { read(): void }[] = []
  return {
    open(book: BookId | undefined) {
      const body = {
        bytes: 0,
        isPaused: false,
        pause() {
          body.isPaused = true
        },
        resume() {
          body.isPaused = false
        },
        read() {
          if (body.isPaused) return
          body.bytes += READ_BYTES
          pace(body, READ_BYTES, book)
        },
      }
      bodies.push(body)
      return body
    },
    turns(count: number): void {
      for (let i = 0; i < count; i += 1) {
        for (const one of bodies) one.read()
        t.mock.timers.tick(PACE_MS)
      }
    },
  }
}

test('a body is read as fast beside 64 bodies of another account as beside one', (t) => {
  const on = setUp(t)
  const heavy = Array.from({ length: 64 }, () => on.open(HEAVY))
  on.turns(10)
  const light = on.open(LIGHT)
  on.turns(100)
  const ofHeavy = heavy.reduce((sum, { bytes }) => sum + bytes, 0)
  // Two reads in a turn: one of each account.
  assert.ok(light.bytes >= 90 * READ_BYTES, `${light.bytes} bytes of the light account`)
  assert.ok(ofHeavy >= 90 * READ_BYTES, `${ofHeavy} bytes of the heavy account`)
})

test('an account alone uses all of the pace, and each of its bodies goes on', (t) => {
  const on = setUp(t)
  const bodies = Array.from({ length: 20 }, () => on.open(HEAVY))
  on.turns(100)
  const bytes = bodies.map((one) => one.bytes)
  assert.ok(bytes.reduce((a, b) => a + b) >= 100 * BUSY_BODY_BYTES_MAX, bytes.join())
  assert.ok(Math.min(...bytes) >= 10 * READ_BYTES, bytes.join())
})
