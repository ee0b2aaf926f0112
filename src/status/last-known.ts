// The answer to every visitor: read every few seconds, whatever the number of visitors, and kept
// while the database does not answer. It then says when it was read.
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { StatusHistory } from './history.ts'

export type Known = StatusHistory & {
  /** False: it cannot be read now; this is what was known at `at`. */
  readonly isCurrent: boolean
}

type LastKnownOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly read: () => Promise<StatusHistory>
}

/** Part of the two minutes within which an outage is shown. */
const FRESH_MS = 5_000
/** Longer than a read takes, and short for somebody who looks at a page. */
const WAIT_MS = 1_500
/** While nothing is known yet: a slow answer is better than none. */
const FIRST_WAIT_MS = 10_000

export function createLastKnown({ clock, log, read }: LastKnownOptions) {
  const state = {
    known: undefined as StatusHistory | undefined,
    readMs: Number.NEGATIVE_INFINITY,
    reading: undefined as Promise<void> | undefined,
    isFailing: false,
  }

  /** One read at a time. Never throws. */
  function refresh(): Promise<void> {
    state.reading ??= read()
      .then(
        (known) => {
          Object.assign(state, { known, readMs: clock.spanMs(), isFailing: false })
        },
        (error: unknown) => {
          if (!state.isFailing) log.warn({ err: error }, 'the status cannot be read')
          state.isFailing = true
        },
      )
      .finally(() => {
        state.reading = undefined
      })
    return state.reading
  }

  async function waitShortly(work: Promise<void>): Promise<void> {
    const late = Promise.withResolvers<void>()
    const waitMs = state.known === undefined ? FIRST_WAIT_MS : WAIT_MS
    const timer = setTimeout(() => late.resolve(), waitMs)
    await Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
  }

  return {
    refresh,

    /** Undefined: nothing was ever read. */
    async get(): Promise<Known | undefined> {
      const ageMs = () => clock.spanMs() - state.readMs
      if (ageMs() >= FRESH_MS) await waitShortly(refresh())
      // Two refreshes may fail before we say that the state cannot be read.
      return state.known && { ...state.known, isCurrent: ageMs() < 3 * FRESH_MS }
    },
  }
}
