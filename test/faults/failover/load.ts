// The load of a failover: short requests at a constant pace, long streams that are reopened when
// they end, and a person who uses the cabinet. Records what each of them saw.
import { sleep } from '../../support/drill.ts'
import type { Stage } from '../cluster/stage.ts'
import { call } from '../support/gateway-caller.ts'
import type { Seen } from './record.ts'

/** More than can wait at once: 100 a second for 60 s, and the streams. */
const CONNECTIONS_MAX = 10_000
const EVENT_MS = 500
const CABINET_PAUSE_MS = 250
const PAGES = ['GET /api/me', 'GET /api/home', 'GET /api/orders', 'GET /api/usage', 'GET /api/key']
/** A page that does not answer in this time counts as one that never does. */
const PAGE_MS_MAX = 60_000

export type Page = {
  readonly route: string
  /** 0 when the connection broke without an answer. */
  readonly status: number
  readonly body: string
  readonly askedMs: number
}

export type LoadSize = { readonly perSecond: number; readonly streams: number }

export type Load = ReturnType<typeof startLoad>

/** Numbers its requests after `lastNumber`, which an earlier load on the stage has used. */
export function startLoad(stage: Stage, size: LoadSize, draw: () => number, lastNumber = 0) {
  const agent = stage.edge.agent(CONNECTIONS_MAX)
  const seen = new Map<number, Seen>()
  const pages: Page[] = []
  const state = { isEnding: false, last: lastNumber, sent: 0, openStreams: 0 }
  const asks = new Set<Promise<void>>()

  async function ask(isLong: boolean, reply: string, fault: string, isStream: boolean) {
    state.last += 1
    const number = state.last
    const key = stage.keys[number % stage.keys.length] as string
    const one: Seen = { number, isLong, askedMs: performance.now() }
    seen.set(number, one)
    const asked = { number, key, isStream, reply, fault }
    one.answer = await call(agent, stage.edge.url, asked, (status) => {
      // The head of a plain reply waits for its charge, so it comes seconds after its admission.
      if (status === 200 && isStream) one.headMs = performance.now()
    })
    one.endedMs = performance.now()
  }

  function askShort(): void {
    const isStream = draw() < 0.5
    const fault = isStream ? 'pace-ms=10' : `headers-ms=${Math.floor(draw() * 100)}`
    const asked = ask(false, 'text 3', fault, isStream)
    asks.add(asked)
    void asked.then(() => asks.delete(asked))
  }

  const startedMs = performance.now()
  const sending = (async () => {
    while (!state.isEnding) {
      const due = ((performance.now() - startedMs) / 1_000) * size.perSecond
      for (; state.sent < due; state.sent++) askShort()
      await sleep(5)
    }
  })()

  const streaming = Array.from({ length: size.streams }, async () => {
    await sleep(draw() * 2_000)
    while (!state.isEnding) {
      state.openStreams += 1
      // Ten to forty seconds, so that streams begin and end at any moment of a failover.
      const words = 20 + Math.floor(draw() * 60)
      await ask(true, `text ${words}`, `pace-ms=${EVENT_MS}`, true)
      state.openStreams -= 1
    }
  })

  const visiting = (async () => {
    for (let i = 0; !state.isEnding; i++) {
      const route = PAGES[i % PAGES.length] as string
      const askedMs = performance.now()
      const timeout = sleep(PAGE_MS_MAX).then(() => ({ status: 0, body: 'no answer' }))
      const got = stage.owner.browser
        .send(route)
        .catch((error: unknown) => ({ status: 0, body: String(error) }))
      const { status, body } = await Promise.race([got, timeout])
      pages.push({ route, status, body: status === 200 ? '' : JSON.stringify(body), askedMs })
      await sleep(CABINET_PAUSE_MS)
    }
  })()

  return {
    seen,
    pages,
    openStreams: () => state.openStreams,
    /** Whether short requests wait no longer than a second: the backlog of a gap is done. */
    isCalm: () => state.openStreams === size.streams && asks.size < size.perSecond,
    /** Stops asking, and resolves when everything is answered. */
    async stop(): Promise<void> {
      state.isEnding = true
      await Promise.all([sending, visiting, ...streaming])
      await Promise.all(asks)
      await agent.destroy()
    },
  }
}
