// Starts the vendor stand-in from the command line:
//   node stand-ins/vendor/serve.ts [--port 8788] [--host 127.0.0.1] [--key k]… [--model id]…
//     [--fault 'name=value …']
import { parseArgs } from 'node:util'
import { startVendor } from './vendor.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8788' },
    host: { type: 'string', default: '127.0.0.1' },
    key: { type: 'string', multiple: true },
    model: { type: 'string', multiple: true },
    fault: { type: 'string' },
  },
})
const vendor = await startVendor({
  port: Number(values.port),
  host: values.host,
  ...(values.key === undefined ? {} : { keys: values.key }),
  ...(values.model === undefined ? {} : { models: values.model }),
})
if (values.fault !== undefined) vendor.mode({ fault: values.fault })
console.log(`vendor stand-in at ${vendor.url}, keys: ${vendor.keys.join(', ')}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void vendor.close())
}
