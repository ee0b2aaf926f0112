// Loaded into the processes of `serve` by the fault program: makes a process block its event loop
// on SIGUSR2. While the file SPOIL_CRASH exists, the next process that starts removes it and
// crashes.
import cluster from 'node:cluster'
import { rmSync } from 'node:fs'

if (cluster.isWorker) {
  if (wasRemoved(process.env.SPOIL_CRASH ?? '')) process.exit(1)
  process.on('SIGUSR2', () => {
    for (;;);
  })
}

function wasRemoved(file: string): boolean {
  try {
    rmSync(file)
    return true
  } catch {
    return false // it is not there
  }
}
