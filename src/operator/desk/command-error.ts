// Errors that end a command with a sentence for the operator, and the exit codes.

export const EXIT_DONE = 0
/** Something was found, refused or declined. */
export const EXIT_FAILED = 1
/** A usage error. */
export const EXIT_USAGE = 2

/** Ends the command with a sentence for the operator. */
export class CommandError extends Error {
  override readonly name = 'Halt'
  readonly code: number

  constructor(sentence: string, code: number) {
    super(sentence)
    this.code = code
  }
}

/** The command was typed wrongly. */
export function usageError(sentence: string): CommandError {
  return new CommandError(sentence, EXIT_USAGE)
}

/** The command was typed correctly but cannot be carried out, mostly because nothing was found. */
export function commandError(sentence: string): CommandError {
  return new CommandError(sentence, EXIT_FAILED)
}
