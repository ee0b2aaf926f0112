// Constant load on gateway and cabinet; records every answer. It calls reading and writing routes
// of signed-in people, signs in, sends messages and reads `GET /v1/me`.
import { PASSWORD } from '../../stages/accounts.ts'
import { sleep } from '../../support/drill.ts'
import type { Stage } from './stage.ts'

export type Kind = 'cabinet' | 'gateway'

export type Answer = {
  readonly kind: Kind
  readonly route: string
  /** 0 when the connection broke without an answer. */
  readonly status: number
  /** The body, if the status is not 200. */
  readonly error: string
  readonly askedMs: number
  readonly answeredMs: number
}

export type Load = ReturnType<typeof startLoad>

/** Between two requests of one client, which sends about 20 a second on two cores. */
const PAUSE_MS = 20

const READING = [
  'GET /api/prices',
  'GET /api/status',
  'GET /api/me',
  'GET /api/home',
  'GET /api/orders',
  'GET /api/guards',
  'GET /api/usage',
  'GET /api/log',
  'GET /api/key',
  'GET /api/sessions',
]

export function startLoad({ people, keys, gatewayUrl }: Stage) {
  const answers: Answer[] = []
  const state = { isEnding: false, attempts: 0 }

  /** Never throws: a failure is an answer too. */
  async function note(
    kind: Kind,
    route: string,
    ask: () => Promise<{ status: number; body: unknown }>,
  ): Promise<void> {
    const askedMs = performance.now()
    const { status, body } = await ask().catch((error: unknown) => ({ status: 0, body: error }))
    const error = status === 200 ? '' : JSON.stringify(body) || String(body)
    answers.push({ kind, route, status, error, askedMs, answeredMs: performance.now() })
  }

  function writing(email: string): readonly (readonly [string, object])[] {
    state.attempts += 1
    return [
      ['POST /api/me/language', { language: 'en' }],
      ['POST /api/me/zone', { zone: 'Europe/Moscow' }],
      ['POST /api/guards/letters', { lowCredits: '1000000', lowDays: null }],
      ['POST /api/auth/sign-in/email', { email, password: PASSWORD }],
      ['POST /api/auth/request-password-reset', { email }],
      ['POST /api/orders', { pack: 'pack-35m', method: 'card', attempt: `a-${state.attempts}` }],
      ['GET /api/auth/passkey/generate-authenticate-options', {}],
    ]
  }

  const asking = people.map(async ({ email, visitor }) => {
    while (!state.isEnding) {
      const reading = READING.map((route) => [route, {}] as const)
      for (const [route, body] of [...reading, ...writing(email)]) {
        if (state.isEnding) return
        await note('cabinet', route, () => visitor.send(route, body))
        await sleep(PAUSE_MS)
      }
    }
  })

  async function call(path: string, key: string, body?: object) {
    const response = await fetch(`${gatewayUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.text() }
  }

  const message = {
    model: 'model-small',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
  }

  const calling = keys.map(async (key) => {
    while (!state.isEnding) {
      await note('gateway', 'POST /v1/messages', () => call('/v1/messages', key, message))
      await sleep(PAUSE_MS)
    }
  })
  // Separate loops, because messages wait for their hold while the database is read-only.
  const looking = keys.map(async (key) => {
    while (!state.isEnding) {
      await note('gateway', 'GET /v1/me', () => call('/v1/me', key))
      await sleep(PAUSE_MS)
    }
  })

  return {
    answers,
    /** The status of `GET /v1/me` with another key. */
    statusOf: async (key: string) => (await call('/v1/me', key)).status,
    /** Stops sending, and resolves when all requests are answered. */
    async stop(): Promise<void> {
      state.isEnding = true
      await Promise.all([...asking, ...calling, ...looking])
    },
  }
}

/** 200, or 429 because of too many attempts: both need a writable database. */
export function isServed({ status }: Answer): boolean {
  return status === 200 || status === 429
}

/** Refused with a request to retry: right while the database is read-only. */
export function isRetryLater({ status }: Answer): boolean {
  return status === 503 || status === 529
}
