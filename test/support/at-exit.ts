// Acts for the end of this process, such as killing the children that it started. One listener for
// all of them: Node warns of a leak when an emitter has more than ten.
import type { ChildProcess } from 'node:child_process'

const acts = new Set<() => void>()

process.on('exit', () => {
  for (const act of acts) act()
})

/** Runs `act` when this process exits; the result withdraws it. */
export function atExit(act: () => void): () => void {
  acts.add(act)
  return () => acts.delete(act)
}

/** Kills the child when this process exits early. */
export function killAtExit(child: ChildProcess): void {
  const withdraw = atExit(() => child.kill('SIGKILL'))
  child.once('exit', withdraw)
}
