// Two cabinets that are restarted one after the other, as behind a proxy: each request goes to a
// cabinet that is not being stopped.
import { type PaymentProcess, startPaymentProcess } from '../../stages/served/process.ts'
import { sleep } from '../../support/drill.ts'
import { CABINET_SETTINGS } from '../support/owners.ts'

/** A request that was sent to the old cabinet has arrived there after this time. */
const SETTLE_MS = 300

type Env = Readonly<Record<string, string>>

export async function startCabinets(env: () => Env) {
  const start = () =>
    startPaymentProcess('cabinet', {
      ...{ CABINET_PORT: '0', METRICS_CABINET_PORT: '0' },
      ...CABINET_SETTINGS,
      ...env(),
    })
  const members = (await Promise.all([start(), start()])).map((process) => ({ process }))
  const turn = { next: 0 }

  return {
    /** The address of a cabinet, of each in turn. */
    url(): string {
      turn.next += 1
      return `http://127.0.0.1:${members[turn.next % members.length]?.process.ready.port}`
    },
    /** Replaces one after the other; the new ones read the secrets of now. */
    async restart(count = members.length): Promise<void> {
      const replacements = members.slice(0, count).map(start)
      for (const [i, member] of members.slice(0, count).entries()) {
        const old = member.process
        member.process = (await replacements[i]) as PaymentProcess
        // For a moment, cabinets before and after the step answer the same browsers.
        await sleep(SETTLE_MS)
        await old.stop()
      }
    },
    async end(): Promise<void> {
      await Promise.all(members.map(({ process }) => process.kill()))
    },
  }
}

export type Cabinets = Awaited<ReturnType<typeof startCabinets>>
