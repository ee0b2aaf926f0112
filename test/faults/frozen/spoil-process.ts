// Loaded into the processes of `serve` by the fault program: makes a process block its event loop
// on SIGUSR2, and makes a new one crash at its start while the file SPOIL_CRASH exists.
import cluster from 'node:cluster'
import { existsSync } from 'node:fs'

if (cluster.isWorker) {
  if (existsSync(process.env.SPOIL_CRASH ?? '')) process.exit(1)
  process.on('SIGUSR2', () => {
    for (;;);
  })
}
