// What a line of the table of commands has, and the options that several commands share.
import type { Permission } from '../../staff/staff.ts'
import type { Desk } from '../desk/desk.ts'

export type OperatorCommand = {
  readonly usage: string
  readonly description: string
  /** What the operator's role needs; null: also before signing in. */
  readonly permission: Permission | null
  /** Shows names, addresses or requests of customers: each run leaves a line in operator_reads. */
  readonly readsPersonalData?: true
  /** An unattended token may run it: it only reads, or is made for a schedule. */
  readonly isUnattended?: true
  /** Of a two-word command: what its first word alone means, with arguments and options. */
  readonly isDefault?: boolean
  /** 'needed' marks a required option. */
  readonly options?: readonly (readonly [flags: string, says: string, 'needed'?])[]
  run(desk: Desk, ...args: string[]): Promise<number>
}

export const REASON = ['--reason <text>', 'why; recorded with the action', 'needed'] as const
export const NOTE = ['--note <text>', 'why; recorded with the action', 'needed'] as const
export const REF = ['--ref <text>', 'the same reference does it once for an account'] as const
export const VENDOR = [
  '--vendor <file>',
  'what the vendor bills; else catalogue.vendorPricesFile',
] as const
export const LIMIT = ['--limit <n>', 'how many, newest first'] as const
export const FROM = [
  '--from <day>',
  'from the beginning of this day, UTC, or from a moment',
] as const
export const SINCE = [
  '--since <moment>',
  'the restored moment, or an earlier one',
  'needed',
] as const
export const TO = ['--to <day>', 'to the end of this day, UTC, or to a moment'] as const
