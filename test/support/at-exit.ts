// Acts for the end of this process, such as killing the children that it started. One listener for
// all of them: Node warns of a leak when an emitter has more than ten.
import type { ChildProcess } from 'node:child_process'

const acts = new Set<() => void>()

function actAll(): void {
  for (const act of acts) act()
}

/** Runs `act` when this process exits; the result withdraws it. */
export function atExit(act: () => void): () => void {
  if (acts.size === 0) process.on('exit', actAll)
  acts.add(act)
  return () => {
    acts.delete(act)
    if (acts.size === 0) process.off('exit', actAll)
  }
}

/** Kills the child when this process exits early. */
export function killAtExit(child: ChildProcess): void {
  const withdraw = atExit(() => child.kill('SIGKILL'))
  child.once('exit', withdraw)
}
