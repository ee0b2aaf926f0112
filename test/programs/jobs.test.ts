// The table of jobs with a real worker, while the payment provider answers nothing.
import { test } from 'node:test'
import { createJobs } from '../../src/jobs.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { startWorker } from '../../src/platform/worker/worker.ts'
import { until } from '../stages/mail.ts'
import { createTestDatabase, quiet } from '../support/harness.ts'

type Modules = Parameters<typeof createJobs>[0]

/** Modules whose functions all resolve at once, except those given. */
function modulesWith(given: Readonly<Record<string, () => Promise<unknown>>>): Modules {
  const anything = (): object =>
    new Proxy(() => Promise.resolve([]), { get: (_, name) => given[String(name)] ?? anything() })
  const names = ['ledger', 'mail', 'accounts', 'guards', 'payments', 'vendorBill', 'summaries']
  const modules = Object.fromEntries(names.map((name) => [name, anything()]))
  return { ...(modules as unknown as Modules), log: quiet, entriesKeptDays: 60 }
}

test('other jobs run while the payment provider answers nothing', async (t) => {
  const database = await createTestDatabase()
  const provider = Promise.withResolvers<void>()
  const calls = { provider: 0, usage: 0 }
  const wait = () => {
    calls.provider += 1
    return provider.promise
  }
  const jobs = createJobs(
    modulesWith({
      ...{ pollRefunds: wait, sweepRefunds: wait, recheck: wait, compareDays: wait },
      async aggregateUsage() {
        calls.usage += 1
      },
    }),
  )
  const worker = startWorker({ databaseUrl: database.url, jobs, clock: systemClock, log: quiet })
  t.after(async () => {
    provider.resolve()
    await worker.stop()
    await database.drop()
  })
  const enqueue = (name: string) =>
    database.db.query('select graphile_worker.add_job($1, max_attempts => 1)', [name])
  // Two minutes of a provider that hangs.
  for (const name of ['refunds', 'refund-sweep', 'recheck', 'days', 'refunds', 'recheck']) {
    await enqueue(`payments-${name}`)
  }
  await until('the provider is asked', async () => calls.provider >= 4)
  const before = calls.usage
  await enqueue('usage')
  await until('the usage is added up', async () => calls.usage > before)
})
