// A whole test gateway in its own process, so that the load does not disturb measurements and the
// memory is the gateway's alone. gateway.ts starts it and talks to it over IPC.
import { createTestGateway } from '../../stages/gateway.ts'
import type { GatewayCommand, GatewayReport } from './gateway.ts'

const SAMPLE_MS = 5

const [upstreamUrl = ''] = process.argv.slice(2)
const gateway = await createTestGateway({ upstreamUrl })
const peak = { rss: 0, external: 0 }
const sampling: { timer?: NodeJS.Timeout } = {}

// Collect garbage, so that memory of an earlier step is not counted; `--expose-gc` is among the
// arguments. Twice: V8 frees buffers concurrently with the first collection, at the latest before
// the second.
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

async function obey(order: GatewayCommand): Promise<GatewayReport> {
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

process.on('message', (order: GatewayCommand & { number: number }) => {
  obey(order).then(
    (report) => {
      process.send?.({ number: order.number, report })
      if (order.verb === 'end') process.disconnect?.()
    },
    (error: unknown) => process.send?.({ number: order.number, error: String(error) }),
  )
})
// Exit when the parent has died.
process.once('disconnect', () => process.exit())
process.send?.({ number: 0, report: { url: gateway.url, databaseUrl: gateway.database.url } })
