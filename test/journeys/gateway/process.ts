// A whole test gateway in a process of its own, for measurements that the load must not disturb and
// for memory that is the gateway's alone. Started by gateway.ts, which speaks to it over IPC.
import { createTestGateway } from '../../stages/gateway.ts'
import type { Order, Report } from './gateway.ts'

const SAMPLE_MS = 5

const [upstreamUrl = ''] = process.argv.slice(2)
const gateway = await createTestGateway({ upstreamUrl })
const peak = { rss: 0, external: 0 }
const sampling: { timer?: NodeJS.Timeout } = {}

// Garbage of an earlier step would hide what this one takes; `--expose-gc` is among the arguments.
// Twice: buffers are given back beside the first collection, at the latest before the second.
function forget(): void {
  globalThis.gc?.()
  globalThis.gc?.()
  Object.assign(peak, { rss: 0, external: 0 })
  sample()
  sampling.timer ??= setInterval(sample, SAMPLE_MS).unref()
}

function sample(): void {
  const { rss, external } = process.memoryUsage()
  peak.rss = Math.max(peak.rss, rss)
  peak.external = Math.max(peak.external, external)
}

async function obey(order: Order): Promise<Report> {
  switch (order.verb) {
    case 'account': {
      const { book, key } = await gateway.account(order.credits)
      return { book: String(book), key }
    }
    case 'forget':
      forget()
      return { ...peak }
    case 'peak':
      sample()
      return { ...peak }
    case 'end':
      await gateway.end()
      return {}
  }
}

process.on('message', (order: Order & { number: number }) => {
  obey(order).then(
    (report) => {
      process.send?.({ number: order.number, report })
      if (order.verb === 'end') process.disconnect?.()
    },
    (error: unknown) => process.send?.({ number: order.number, error: String(error) }),
  )
})
// A parent that died leaves nobody to ask.
process.once('disconnect', () => process.exit())
process.send?.({ number: 0, report: { url: gateway.url, databaseUrl: gateway.database.url } })
