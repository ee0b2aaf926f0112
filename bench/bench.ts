// npm run bench -- <name> [--json] [--full]: measures our code and another program alternately in
// one run. Prints a table, with --json one object. Exits non-zero when a figure misses its gate.
import { parseArgs } from 'node:util'
import type { Bench } from './measure.ts'

const benches: Record<string, () => Promise<{ bench: Bench }>> = {
  ledger: () => import('./ledger.ts'),
  relay: () => import('./relay.ts'),
  profile: () => import('./profile.ts'),
  usage: () => import('./usage.ts'),
  transport: () => import('./transport/transport.ts'),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
  },
})
const load = benches[positionals[0] ?? '']
if (load === undefined) {
  console.error(`usage: npm run bench -- <name> [--json] [--full]`)
  console.error(`names: ${Object.keys(benches).join(' ')}`)
  process.exit(2)
}
const { bench } = await load()
const { figures, failed } = await bench({
  isFull: values.full,
  say: values.json ? () => undefined : (text) => console.log(text),
})
if (values.json) console.log(JSON.stringify(figures))
for (const gate of failed) console.error(`missed gate: ${gate}`)
process.exit(failed.length === 0 ? 0 : 1)
