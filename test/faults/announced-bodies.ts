// Two accounts announce the largest bodies on 64 connections each and send one byte of each. Only
// the bytes that have arrived count, and every request of a third account succeeds, as fast as
// without them.
import type { Serving } from '../stages/served/gateway.ts'
import type { Drill } from '../support/drill.ts'
import { ensure } from '../support/drill.ts'
import { besideHogs } from './support/beside-hogs.ts'

const KINDS = { announced: 64, counts: 0, reads: 0, slow: 0, unread: 0, huge: 0 }
/** One byte of each announced body, and a request of the third account. */
const BYTES_MAX = 128 + 1_000

export const drill: Drill = ({ isFull, say }) =>
  besideHogs({
    isFull,
    say,
    kinds: KINDS,
    async look(serving) {
      const bytes = await bodyBytesOf(serving)
      say(`${bytes} bytes of bodies in memory`)
      ensure(bytes <= BYTES_MAX, `only bytes that have arrived count (${bytes})`)
    },
  })

async function bodyBytesOf({ metricsUrl }: Serving): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text()
  return Number(/^gateway_body_bytes(?:\{.*\})? (\d+)/m.exec(text)?.[1])
}
