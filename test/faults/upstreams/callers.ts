// Customers of a gateway for the fault programs about upstreams: each sends numbered messages, and
// the numbers of the served ones must be exactly those that were charged.
import { Agent } from 'undici'
import type { TestGateway } from '../../stages/gateway.ts'
import { ensure, sleep } from '../../support/drill.ts'
import { type Answer, type Call, call } from '../support/gateway-caller.ts'

export const MODELS = ['model-large', 'model-medium', 'model-small']
export const COUNT_PATH = '/v1/messages/count_tokens'
/** The vendor's answer to an account whose prepaid balance is used up. */
export const UNPAID = 'status=400 message="Your credit balance is too low to access the API."'

export type Sent = {
  readonly number: number
  readonly model: string
  readonly fromMs: number
  readonly toMs: number
  readonly answer: Answer
}

/** The clock of the stand-ins' records. */
export const now = () => performance.timeOrigin + performance.now()

export async function createCallers(gateway: TestGateway, accounts: number) {
  const agent = new Agent()
  const all = await Promise.all(Array.from({ length: accounts }, () => gateway.account(10n ** 11n)))
  const sent: Sent[] = []
  const state = { number: 0 }

  /** Sends a message of the account with this index. */
  async function send(
    account: number,
    asked: Partial<Call> & { readonly model: string },
  ): Promise<Sent> {
    state.number += 1
    const { number } = state
    const key = all[account % accounts]?.key ?? ''
    const fromMs = now()
    const answer = await call(agent, gateway.url, { number, key, isStream: false, ...asked })
    const one = { number, model: asked.model, fromMs, toMs: now(), answer }
    sent.push(one)
    return one
  }

  return {
    sent,
    send,
    /** A token count of the account with this index; the status of its answer. */
    async count(account: number, model: string): Promise<number> {
      const { statusCode, body } = await agent.request({
        origin: gateway.url,
        path: COUNT_PATH,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': all[account]?.key ?? '' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      })
      await body.dump()
      return statusCode
    },
    /** Exactly the complete replies are charged, once each. */
    async checkCharges(): Promise<number> {
      await Promise.all(all.map(({ book }) => gateway.settled(book)))
      const { rows } = await gateway.database.db.query(
        `select output::int4 as output from entries where kind = 'charge'`,
      )
      const charged = (rows as { output: number }[]).map((one) => one.output)
      const numbers = new Set(charged)
      ensure(numbers.size === charged.length, 'no request is charged twice')
      for (const { number, answer } of sent) {
        ensure(numbers.has(number) === answer.isWhole, `exactly the served are charged (${number})`)
      }
      const findings = await gateway.ledger.audit('all')
      ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule})`)
      return charged.length
    },
    close: () => agent.close(),
  }
}

/** Sends one small message with this text. */
export async function ask(agent: Agent, { url }: TestGateway, key: string, text: string) {
  const { statusCode, headers, body } = await agent.request({
    origin: url,
    path: '/v1/messages',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({
      ...{ model: 'model-large', max_tokens: 10 },
      messages: [{ role: 'user', content: text }],
    }),
  })
  await body.dump()
  return { status: statusCode, retryAfter: headers['retry-after'] }
}

/** Calls `work` again and again, in so many loops, until the time is over. */
export async function repeat(
  loops: number,
  ms: number,
  work: (loop: number) => Promise<unknown>,
  pauseMs = 0,
): Promise<void> {
  const untilMs = now() + ms
  const loop = async (i: number) => {
    while (now() < untilMs) {
      await work(i)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: loops }, (_, i) => loop(i)))
}
