// What the fault program watches while it breaks processes: a steady load on new and on kept
// connections, the parent's readiness, and its metrics.
import { Agent, Client } from 'undici'
import { ensure, sleep } from '../../support/drill.ts'
import { type Answer, call } from '../support/gateway-caller.ts'

export type Sent = {
  readonly number: number
  /** When it had a connection. */
  readonly atMs: number
  /** On a connection of its own. */
  readonly isNew: boolean
  answer: Answer | undefined
  tookMs: number
}

/** A client whose server does not answer for so long has lost its request. */
const ANSWER_MS_MAX = 60_000
const KEPT_CONNECTIONS = 16

/** Half of the requests use kept connections, half a new one each. */
export function startLoad(url: string, keys: readonly string[], perSecond: number) {
  const clients = Array.from({ length: KEPT_CONNECTIONS }, () => new Client(url))
  const free = [...clients]
  const waiting: ((client: Client) => void)[] = []
  const counts = { due: 0 }
  const sent: Sent[] = []
  const answers: Promise<void>[] = []
  const state = { isEnding: false }
  const startedMs = performance.now()

  /** Its turn comes when a client is free: a pool would not say when it sends a request. */
  function takeClient(): Promise<Client> {
    const client = free.pop()
    if (client !== undefined) return Promise.resolve(client)
    return new Promise((resolve) => waiting.push(resolve))
  }

  function giveClient(client: Client): void {
    const next = waiting.shift()
    if (next === undefined) free.unshift(client)
    else next(client)
  }

  async function send(number: number): Promise<void> {
    const isKept = number % 2 === 0
    const client = isKept ? await takeClient() : undefined
    const agent = client ?? new Agent({ connectTimeout: ANSWER_MS_MAX })
    const atMs = performance.now()
    const one: Sent = { number, atMs, isNew: !isKept, answer: undefined, tookMs: 0 }
    sent.push(one)
    const key = keys[number % keys.length] as string
    const fault = number % 4 < 2 ? 'pace-ms=20' : ''
    const asked = { number, key, isStream: number % 4 < 2, reply: 'text 8', fault }
    one.answer = await call(agent, url, asked)
    one.tookMs = performance.now() - atMs
    if (client === undefined) await agent.destroy()
    else giveClient(client)
  }

  const sending = (async () => {
    while (!state.isEnding) {
      const due = ((performance.now() - startedMs) / 1_000) * perSecond
      while (counts.due < due) {
        counts.due += 1
        answers.push(send(counts.due))
      }
      await sleep(5)
    }
  })()
  return {
    sent,
    /** Waits until everything sent so far is answered. */
    answered: async () => void (await Promise.all([...answers])),
    async stop(): Promise<void> {
      state.isEnding = true
      await sending
      await Promise.all(answers)
      await Promise.all(clients.map((client) => client.destroy()))
    },
  }
}

export type Load = ReturnType<typeof startLoad>

export type Look = { readonly atMs: number; readonly status: number; readonly body: string }

/** Asks `path` again and again; `onAnswer` gets each answer and how long it took. */
export function startLooks(
  url: string,
  everyMs: number,
  onAnswer: (look: Look, tookMs: number) => void,
) {
  const state = { isEnding: false }
  const looking = (async () => {
    while (!state.isEnding) {
      const atMs = performance.now()
      const reply = await fetch(url)
      const body = await reply.text()
      onAnswer({ atMs, status: reply.status, body }, performance.now() - atMs)
      await sleep(everyMs)
    }
  })()
  // Reported when the looks are stopped; after another failure nobody stops them.
  looking.catch(() => undefined)
  return async () => {
    state.isEnding = true
    await looking
  }
}

/** Compares each scrape with the one before: no counter may fall, and none may vanish. */
export function createCounterCheck() {
  const before = new Map<string, number>()
  return {
    valueOf: (series: string) => before.get(series) ?? 0,
    check(text: string): void {
      const counters = new Set<string>()
      const now = new Map<string, number>()
      for (const line of text.split('\n')) {
        const type = /^# TYPE (\S+) (counter|histogram)$/.exec(line)
        if (type !== null) counters.add(type[1] as string)
        const value = /^([a-z_]+)(\{.*\})? (\S+)$/.exec(line)
        if (value === null) continue
        const [, name = '', labels = '', number] = value
        if (counters.has(name.replace(/_(?:bucket|sum|count)$/, '')) || counters.has(name)) {
          now.set(name + labels, Number(number))
        }
      }
      for (const [series, value] of before) {
        const current = now.get(series)
        ensure(
          current !== undefined && current >= value,
          `a counter never falls (${series}: ${value}, then ${current})`,
        )
      }
      for (const [series, value] of now) before.set(series, value)
    },
  }
}
