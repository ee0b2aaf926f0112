// A process that calls `aggregateUsage` of the real ledger until it is killed.
import { writeSync } from 'node:fs'
import { createTestLedger } from '../../support/harness.ts'

async function main(url: string): Promise<void> {
  const ledger = await createTestLedger(url)
  writeSync(1, 'ready\n')
  for (;;) await ledger.aggregateUsage()
}

if (import.meta.main) await main(process.argv[2] ?? '')
