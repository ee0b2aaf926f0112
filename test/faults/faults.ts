// npm run faults -- <name> [--full] [--only part,part [--times n]] [--seed n]: runs one fault
// program, or some parts of it. Each breaks something real, checks a promise, prints its figures
// last as one JSON line, and exits non-zero when the promise is broken. CI runs the short form. The
// figures that we publish come from --full, which also checks time limits in milliseconds; a busy
// machine would exceed them.
import { parseArgs } from 'node:util'
import type { Drill } from '../support/drill.ts'
import { PromiseBroken } from '../support/drill.ts'

/** A program whose parts can be chosen names them. */
type Program = { readonly drill: Drill; readonly parts?: readonly string[] }

const programs: Record<string, () => Promise<Program>> = {
  'ledger-model': () => import('./ledger/model.ts'),
  'ledger-kill': () => import('./ledger/kill.ts'),
  'ledger-locks': () => import('./ledger/locks.ts'),
  'database-gone': () => import('./ledger/database-gone.ts'),
  quarantine: () => import('./ledger/quarantine.ts'),
  'spool-owner': () => import('./ledger/spool-owner.ts'),
  restore: () => import('./restore/restore.ts'),
  'read-only': () => import('./read-only/read-only.ts'),
  pgbouncer: () => import('./pgbouncer.ts'),
  failover: () => import('./failover/failover.ts'),
  'key-flood': () => import('./key-flood.ts'),
  'overdraft-race': () => import('./overdraft-race.ts'),
  'leak-check': () => import('./leaks/check.ts'),
  'byte-cut': () => import('./byte-cut.ts'),
  'stream-kill': () => import('./stream-kill.ts'),
  'rolling-restart': () => import('./releases/rolling-restart.ts'),
  'no-gap': () => import('./releases/no-gap.ts'),
  'frozen-worker': () => import('./frozen/frozen-worker.ts'),
  'unread-log': () => import('./frozen/unread-log.ts'),
  'slow-reader': () => import('./endings/slow-reader.ts'),
  'drain-limit': () => import('./endings/drain-limit.ts'),
  unread: () => import('./unread.ts'),
  'announced-bodies': () => import('./announced-bodies.ts'),
  hogs: () => import('./hogs.ts'),
  'upstream-storm': () => import('./upstreams/upstream-storm.ts'),
  cooldown: () => import('./upstreams/cooldown.ts'),
  'out-of-funds': () => import('./upstreams/out-of-funds.ts'),
  poison: () => import('./upstreams/poison.ts'),
  'stale-connection': () => import('./upstreams/stale-connection.ts'),
  'pool-full': () => import('./upstreams/pool-full.ts'),
  'many-streams': () => import('./many-streams.ts'),
  'payment-storm': () => import('./payment-storm.ts'),
  'sweep-blind': () => import('./sweep-blind.ts'),
  closing: () => import('./payments/closing-model.ts'),
  'payment-model': () => import('./payments/model.ts'),
  'notification-flood': () => import('./notification-flood.ts'),
  'notice-budget': () => import('./notice-budget.ts'),
  'promo-farm': () => import('./promo-farm.ts'),
  'refund-race': () => import('./refund-race.ts'),
  mandate: () => import('./mandate.ts'),
  receipts: () => import('./receipts/receipts.ts'),
  'sweep-size': () => import('./ledger/sweep-size.ts'),
  'usage-kill': () => import('./ledger/usage-kill.ts'),
  'clock-back': () => import('./days/clock-back.ts'),
  'vendor-bill': () => import('./vendor-bill/vendor-bill.ts'),
  accountant: () => import('./accountant/accountant.ts'),
  partitions: () => import('./days/partitions.ts'),
  enumeration: () => import('./enumeration.ts'),
  'step-up': () => import('./step-up.ts'),
  recovery: () => import('./recovery.ts'),
  'desk-tenancy': () => import('./desk-tenancy.ts'),
  'acts-erased': () => import('./acts-erased.ts'),
  erasure: () => import('./erasure/erasure.ts'),
  edge: () => import('./edge/edge.ts'),
  'edge-node-dead': () => import('./edge/node-dead.ts'),
  roles: () => import('./roles.ts'),
  'forged-posting': () => import('./forged-posting.ts'),
  'secret-succession': () => import('./succession/secret-succession.ts'),
  upgrade: () => import('./releases/upgrade.ts'),
  package: () => import('./releases/package.ts'),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: 'boolean', default: false },
    only: { type: 'string' },
    times: { type: 'string' },
    seed: { type: 'string' },
  },
})
const load = programs[positionals[0] ?? '']
if (load === undefined) {
  const options = '[--full] [--only part,part [--times n]] [--seed n]'
  console.error(`usage: npm run faults -- <name> ${options}`)
  console.error(`names: ${Object.keys(programs).join(' ')}`)
  process.exit(2)
}
const { drill, parts = [] } = await load()
const only = values.only?.split(',')
const unknown = only?.filter((part) => !parts.includes(part)) ?? []
if (unknown.length > 0) {
  console.error(`${positionals[0]} has no part ${unknown.join(', ')}; parts: ${parts.join(' ')}`)
  process.exit(2)
}
// So that what ends with this process is ended, such as its children.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
console.log(`${positionals[0]} ${values.full ? 'full' : 'short'} seed ${seed}`)
try {
  const say = (text: string) => console.log(text)
  const times = values.times === undefined ? undefined : Number(values.times)
  const figures = await drill({ isFull: values.full, seed, only, times, say })
  console.log(
    JSON.stringify(figures, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  )
  process.exit(0)
} catch (error) {
  console.error(error instanceof PromiseBroken ? `the promise is broken: ${error.message}` : error)
  const options = [
    ...(values.full ? ['--full'] : []),
    ...(only ? [`--only ${only}`] : []),
    ...(values.times ? [`--times ${values.times}`] : []),
  ]
  const chosen = [positionals[0], ...options].join(' ')
  console.error(`to repeat this run: npm run faults -- ${chosen} --seed ${seed}`)
  process.exit(1)
}
