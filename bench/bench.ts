// npm run bench -- <name> [--json] [--full]: measurements, each against something outside of us in
// one interleaved run. A table for people; with --json one object. Exits non-zero below its gates.
import { parseArgs } from 'node:util'
import type { Bench } from './measure.ts'

const benches: Record<string, () => Promise<{ bench: Bench }>> = {
  ledger: () => import('./ledger.ts'),
  relay: () => import('./relay.ts'),
  profile: () => import('./profile.ts'),
  usage: () => import('./usage.ts'),
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
for (const gate of failed) console.error(`below its gate: ${gate}`)
process.exit(failed.length === 0 ? 0 : 1)
