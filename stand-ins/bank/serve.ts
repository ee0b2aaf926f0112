// Starts the bank stand-in from the command line:
//   node stand-ins/bank/serve.ts --port 8790 [--webhook-url http://127.0.0.1:8787/…] [--shop-id n]
import { parseArgs } from 'node:util'
import { startBank } from './bank.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8790' },
    host: { type: 'string', default: '127.0.0.1' },
    'public-url': { type: 'string' },
    'shop-id': { type: 'string' },
    'secret-key': { type: 'string' },
    'shop-name': { type: 'string' },
    'webhook-url': { type: 'string' },
    'webhook-source': { type: 'string' },
    live: { type: 'boolean', default: false },
  },
})
const given = {
  publicUrl: values['public-url'],
  shopId: values['shop-id'],
  secretKey: values['secret-key'],
  shopName: values['shop-name'],
  webhookUrl: values['webhook-url'],
  webhookSource: values['webhook-source'],
}
const bank = await startBank({
  port: Number(values.port),
  host: values.host,
  isTest: !values.live,
  ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
})
console.log(`bank stand-in at ${bank.url}, API ${bank.apiUrl}, shop ${bank.shopId}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void bank.close())
}
