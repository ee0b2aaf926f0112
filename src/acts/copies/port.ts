// What shipping needs of a copy of the acts off the machine.
import type { Mark } from '../chain.ts'

export type Copy = {
  /**
   * The newest act that the copy has; undefined if it has none; `unreadable` if it cannot be read
   * back. Throws if it does not answer.
   */
  last(): Promise<Mark | undefined | 'unreadable'>
  /** Adds lines at the end; resolves when the copy has stored them. */
  append(lines: readonly string[]): Promise<void>
}
