// What the floods of the notification endpoint share: a provider that makes real payments and sends
// their notifications at a steady pace, the process that floods, and priorities of processes.
import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import type { PaymentStage } from '../../stages/served/payments.ts'
import { sleep } from '../../support/drill.ts'
import type { FloodAnswer, FloodTask } from './notification-flooder.ts'

/** Niceness: about nine times the CPU share of an ordinary process. */
const PRIORITY = -10
/** Purchases made together when payments are prepared. */
const AT_ONCE = 10

export type Answered = { readonly status: number; readonly ms: number }

/** Plays the provider: makes real payments and sends their notifications at a steady pace. */
export function createNotifier(stage: PaymentStage, pauseMs: number) {
  const agent = new Agent({ connections: 64 })
  const bodies: string[] = []
  /** When each notification was sent, by the payment's id. */
  const sentAtMs = new Map<string, number>()
  const state = { sent: 0 }
  const url = new URL(stage.noticesUrl)

  async function post(body: string): Promise<Answered> {
    const startedMs = performance.now()
    const response = await agent.request({
      origin: url.origin,
      path: url.pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '185.71.76.1' },
      body,
    })
    await response.body.dump()
    return { status: response.statusCode, ms: performance.now() - startedMs }
  }

  return {
    bodies,
    sentAtMs,

    /** Makes `count` more paid orders, and keeps their notifications for `send`. */
    async prepare(count: number): Promise<void> {
      await stage.sim('modes', {}, 'DELETE')
      await stage.sim('modes', { mode: 'drop' })
      const make = async () => {
        const { id } = await stage.bought()
        const object = await stage.sim('pay', { orderId: id })
        bodies.push(JSON.stringify({ type: 'notification', event: 'payment.succeeded', object }))
      }
      for (let i = 0; i < count; i += AT_ONCE) {
        await Promise.all(Array.from({ length: AT_ONCE }, make))
      }
    },

    /** Sends one after the other, without waiting for answers, while `shouldContinue` is true. */
    async send(shouldContinue: (sent: number) => boolean): Promise<Answered[]> {
      const sent: Promise<Answered>[] = []
      while (shouldContinue(sent.length) && state.sent < bodies.length) {
        const body = bodies[state.sent] ?? ''
        sentAtMs.set(JSON.parse(body).object.id, Date.now())
        sent.push(post(body))
        state.sent += 1
        await sleep(pauseMs)
      }
      return Promise.all(sent)
    },

    close: () => agent.destroy(),
  }
}

/**
 * Raises the priority of a process, so that other load on the machine does not change the measured
 * times. 0 is this process; those that it starts inherit the priority. Only root may do this; other
 * users need a quiet machine.
 */
export function prioritize(pid: number): void {
  try {
    setPriority(pid, PRIORITY)
  } catch (error) {
    if (!/EACCES|EPERM|ESRCH/.test((error as NodeJS.ErrnoException).message)) throw error
  }
}

export async function prioritizeDatabase({ db }: PaymentStage): Promise<void> {
  const { rows } = await db.query(
    'select pid from pg_stat_activity where datname = current_database()',
  )
  for (const { pid } of rows as { pid: number }[]) prioritize(pid)
}

export async function startFlooder() {
  const child: ChildProcess = fork(join(import.meta.dirname, 'notification-flooder.ts'))
  await new Promise((resolve) => child.once('message', resolve))
  // A real attacker uses other machines, so the flooder gets the ordinary priority.
  setPriority(child.pid ?? 0, 0)
  return {
    child,
    flood: (task: FloodTask) =>
      new Promise<FloodAnswer>((resolve, reject) => {
        child.once('message', (message) => resolve(message as FloodAnswer))
        child.once('exit', () => reject(new Error('the flooder ended')))
        child.send(task)
      }),
  }
}
