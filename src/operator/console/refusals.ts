// The refusals that the console raises itself: about HTTP, things that do not exist, and commands
// that it does not run. answers.ts has the HTTP status of these and of those of other modules.
import { Refusal } from '../../platform/refusal.ts'

export const consoleRefusalCodes = [
  'field_invalid',
  'origin_wrong',
  'operator_session_missing',
  'thing_unknown',
  'command_unknown',
  'command_refused',
] as const

export type ConsoleRefusalCode = (typeof consoleRefusalCodes)[number]

/** Details that the browser gets besides the code. */
export type RefusalData = { readonly field?: string; readonly command?: string }

export class ConsoleRefusal extends Refusal<ConsoleRefusalCode> {
  override readonly name = 'ConsoleRefusal'
  readonly data: RefusalData

  constructor(code: ConsoleRefusalCode, sentence: string, data: RefusalData = {}) {
    super(code, sentence)
    this.data = data
  }
}

/** `field`: its path in the body or query, or the name of an option. */
export function fieldInvalid(field: string): ConsoleRefusal {
  return new ConsoleRefusal('field_invalid', 'A field is missing or invalid.', { field })
}
