// Faults and replies for many requests at once: all of them, the next few, those of one upstream
// key, one path or one model. The first mode that matches a request is used, which takes one of its
// uses.
import { invalid } from './errors.ts'
import { readFaults } from './faults.ts'
import { isObject } from './json.ts'
import { splitWords } from './script.ts'

export type Mode = {
  /** Fault words, as in the header. */
  readonly fault?: string
  /** Reply words, as in the header. */
  readonly reply?: string
  /** For how many requests; without it, until changed. */
  readonly times?: number
  /** Only for requests with this upstream key. */
  readonly key?: string
  /** Only for this path, without query. */
  readonly path?: string
  /** Only for requests that name this model. */
  readonly model?: string
}

export function createModes() {
  let active: Array<{ mode: Mode; timesLeft: number }> = []
  return {
    /**
     * Replaces all modes; without arguments there are no faults. Unknown fault words are refused.
     */
    set(...modes: readonly Mode[]): void {
      for (const mode of modes) readFaults(splitWords(mode.fault ?? ''))
      active = modes.map((mode) => ({ mode, timesLeft: mode.times ?? Number.POSITIVE_INFINITY }))
    },

    list(): Mode[] {
      return active.map((entry) => entry.mode)
    },

    /** The mode for one request; takes one use. */
    take(request: { key: string; path: string; model: unknown }): Mode {
      const entry = active.find(
        ({ mode, timesLeft }) =>
          timesLeft > 0 &&
          (mode.key === undefined || mode.key === request.key) &&
          (mode.path === undefined || mode.path === request.path) &&
          (mode.model === undefined || mode.model === request.model),
      )
      if (entry === undefined) return {}
      entry.timesLeft -= 1
      return entry.mode
    },
  }
}

export type Modes = ReturnType<typeof createModes>

/** One mode, or a list of them, as the control API receives it. */
export function readModes(value: unknown): Mode[] {
  return (Array.isArray(value) ? value : [value]).map((entry) => {
    if (!isObject(entry)) throw invalid('stand-in: a mode is an object')
    const { fault, reply, times, key, path, model, ...unknown } = entry
    const strange = Object.keys(unknown)[0]
    if (strange !== undefined) throw invalid(`stand-in: unknown member "${strange}" of a mode`)
    return {
      ...(typeof fault === 'string' ? { fault } : {}),
      ...(typeof reply === 'string' ? { reply } : {}),
      ...(typeof times === 'number' ? { times } : {}),
      ...(typeof key === 'string' ? { key } : {}),
      ...(typeof path === 'string' ? { path } : {}),
      ...(typeof model === 'string' ? { model } : {}),
    }
  })
}
