// Answers whose duration could tell whether an address is known are sent at multiples of a time
// step. A few samples here; many more in test/faults/enumeration.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createStage, PASSWORD, requiredConsents, type Stage } from '../../test/stages/accounts.ts'

const STEP_MS = 300
const SAMPLES = 5

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const flows = {
  'a registration': (email: string) =>
    ['/register', { email, password: PASSWORD, consents: requiredConsents }] as const,
  'a reset': (email: string) => ['/request-password-reset', { email }] as const,
  'a wrong sign-in': (email: string) =>
    ['/sign-in/email', { email, password: 'not this password' }] as const,
}

for (const [name, flow] of Object.entries(flows)) {
  test(`${name} takes equally long for a known and an unknown address`, async () => {
    const accounts = stage.createAccountsWith({
      settings: { answerMs: STEP_MS, wrongPerAccount: 1_000 },
    })
    const { email: known } = await stage.person(name.replaceAll(' ', '-'))
    const measureMs = async (email: string) => {
      const [path, body] = flow(email)
      const browser = stage.browser({ accounts })
      const startedMs = performance.now()
      await browser.post(path, body)
      return performance.now() - startedMs
    }
    await measureMs('warm-up@example.org')
    const pairs: [number, number][] = []
    for (let i = 0; i < SAMPLES; i++) {
      pairs.push(await Promise.all([measureMs(known), measureMs(`unknown-${i}@example.org`)]))
    }
    // A timer may fire a millisecond early, measured by another clock.
    assert.ok(Math.min(...pairs.flat()) >= STEP_MS - 2, `${pairs}`)
    // A busy machine makes some answers a whole step late; the quickest of each kind is not.
    const quickest = (i: 0 | 1) => Math.min(...pairs.map((pair) => pair[i]))
    const differenceMs = Math.abs(quickest(0) - quickest(1))
    assert.ok(differenceMs < STEP_MS / 2, `${pairs}`)
  })
}
