// Reads the resident memory of another process from /proc.
import { readFile } from 'node:fs/promises'

export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024
}
