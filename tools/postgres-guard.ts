// Ends a private PostgreSQL if the process that started it dies without stopping it. Arguments: the
// name of the cluster, the postmaster's process id, and the temporary folder to remove, if any.
import { rmSync } from 'node:fs'
import { endCluster } from './postgres-processes.ts'

const [name = '', pid = '', temporary = ''] = process.argv.slice(2)

process.stdin.resume()
process.stdin.on('end', async () => {
  await endCluster(name, Number(pid))
  if (temporary !== '') rmSync(temporary, { recursive: true, force: true })
  process.exit(0)
})
