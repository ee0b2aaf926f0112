// Stands for a second gateway process: verifies the keys that its parent sends (from its cache
// after the first time), makes a hold and voids it, and returns the outcomes to the parent.
import { systemClock } from '../../../src/platform/clock.ts'
import { newHoldId } from '../../../src/platform/ids.ts'
import { isRefusal } from '../../../src/platform/refusal.ts'
import { credits } from '../../../src/units/credits.ts'
import { createTestKeys, createTestLedger } from '../../support/harness.ts'

export type CallerAsk = { readonly plain: string; readonly address: string }
export type CallerAnswer = { readonly outcome: string; readonly ms: number; readonly fence: string }

async function main(url: string, tariff: number): Promise<void> {
  const ledger = await createTestLedger(url)
  const keys = createTestKeys(ledger.db, ledger)

  async function call({ plain, address }: CallerAsk): Promise<CallerAnswer> {
    const from = systemClock.spanMs()
    const took = () => systemClock.spanMs() - from
    let fence = ''
    try {
      const caller = await keys.verify(plain, address)
      fence = String(caller.fence)
      const id = newHoldId(0, systemClock.nowMs())
      const { book } = caller
      await ledger.hold({
        id,
        book,
        tariff,
        fence: caller.fence,
        worst: credits(10),
        floor: credits(1),
      })
      const ms = took()
      void ledger.void({ id, book, tariff, ending: 'refused', reason: 'test' })
      return { outcome: 'granted', ms, fence }
    } catch (error) {
      if (!isRefusal(error)) throw error
      return { outcome: error.code, ms: took(), fence }
    }
  }

  process.on('message', (asks: CallerAsk[]) => {
    void Promise.all(asks.map(call)).then((answers) => {
      process.send?.({ answers, stats: keys.stats() })
    })
  })
  process.send?.('ready')
}

if (import.meta.main) await main(process.argv[2] ?? '', Number(process.argv[3]))
