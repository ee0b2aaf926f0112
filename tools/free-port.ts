// A port of the loopback for a process that starts next. Not one that the system chooses: it may
// give the same port to a connection or to a listener on port 0 before the process listens. Linux
// chooses from 32,768 upwards, others from 49,152.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const FIRST = 20_000
const LAST = 32_767
/** Few of these ports are in use: a hundred misses in a row mean that nothing may listen. */
const TRIES_MAX = 100

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(FIRST, LAST + 1)
    if (await isFree(port)) return port
  }
  throw new Error(`no port from ${FIRST} to ${LAST} is free`)
}

export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await freePort())
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
