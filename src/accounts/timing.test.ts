// Time tells nothing: answers that would betray whether an address is known leave at multiples of a
// step. A few samples here; many more in test/faults/enumeration.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { agreed, createStage, PASSWORD, type Stage } from '../../test/stages/accounts.ts'

const STEP_MS = 300
const SAMPLES = 5

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

const flows = {
  'a registration': (email: string) =>
    ['/register', { email, password: PASSWORD, consents: agreed }] as const,
  'a reset': (email: string) => ['/request-password-reset', { email }] as const,
  'a wrong sign-in': (email: string) =>
    ['/sign-in/email', { email, password: 'not this password' }] as const,
}

for (const [name, flow] of Object.entries(flows)) {
  test(`${name} takes equally long for a known and an unknown address`, async () => {
    const room = stage.room({ settings: { answerMs: STEP_MS, wrongPerAccount: 1_000 } })
    const { email: known } = await stage.person(name.replaceAll(' ', '-'))
    const took = async (email: string) => {
      const [path, body] = flow(email)
      const browser = stage.browser({ room })
      const startedMs = performance.now()
      await browser.post(path, body)
      return performance.now() - startedMs
    }
    await took('warm-up@example.org')
    const pairs: [number, number][] = []
    for (let i = 0; i < SAMPLES; i++) {
      pairs.push(await Promise.all([took(known), took(`unknown-${i}@example.org`)]))
    }
    // A timer may fire a millisecond early by another clock's count.
    assert.ok(Math.min(...pairs.flat()) >= STEP_MS - 2, `${pairs}`)
    // Each pair runs side by side, so that a busy machine delays both; one that is a step behind
    // now and then is forgiven by the median.
    const apart = Math.abs(median(pairs.map(([one, two]) => one - two)))
    assert.ok(apart < STEP_MS / 2, `${pairs}`)
  })
}
