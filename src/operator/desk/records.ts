// Writes the record of an act: who, what, and how it ended. A command that a second person approved
// names both.
import type { Outcome } from '../../acts/acts.ts'
import type { Executor } from '../../platform/db/db.ts'
import { isRefusal } from '../../platform/refusal.ts'
import type { Actor } from './actor.ts'
import { CommandError } from './command-error.ts'
import type { OperatorModules } from './modules.ts'

export function createRecords({
  modules,
  actor,
  command,
}: {
  readonly modules: Pick<OperatorModules, 'acts' | 'db'>
  readonly actor: Actor
  /** The command line, without secrets. */
  readonly command: string
}) {
  const { by, osUser, approvedBy } = actor

  function record(
    executor: Executor,
    outcome: Outcome,
    given: string,
    of: bigint | null = null,
  ): Promise<bigint> {
    const detail = approvedBy === undefined ? given : `approved by ${approvedBy}: ${given}`
    return modules.acts.record(executor, { by, osUser, command, outcome, detail, of })
  }

  return {
    record,

    /** Records an action that failed; the caller rethrows the error. */
    async recordFailure(error: unknown, of: bigint | null): Promise<void> {
      const why = error instanceof Error ? error.message : String(error)
      const detail = isRefusal(error) ? `${error.code}: ${why}` : why
      const outcome = isRefused(error) ? 'refused' : 'failed'
      // If the database itself failed, recording fails too; the action's error is to be reported.
      await record(modules.db, outcome, detail, of).catch(() => undefined)
    },
  }
}

/** The action did not happen, for a known reason. */
export function isRefused(error: unknown): boolean {
  return isRefusal(error) || error instanceof CommandError
}
