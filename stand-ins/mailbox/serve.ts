// Starts the mailbox from the command line:
//   node stand-ins/mailbox/serve.ts --smtp-port 2525 --port 8025 [--host 127.0.0.1]
import { parseArgs } from 'node:util'
import { startMailbox } from './mailbox.ts'

const { values } = parseArgs({
  options: {
    'smtp-port': { type: 'string', default: '2525' },
    port: { type: 'string', default: '8025' },
    host: { type: 'string', default: '127.0.0.1' },
  },
})
const mailbox = await startMailbox({
  smtpPort: Number(values['smtp-port']),
  port: Number(values.port),
  host: values.host,
})
console.log(`mailbox at ${mailbox.url}, e-mails are accepted at ${mailbox.smtpUrl}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void mailbox.close())
}
