// The ends of a command that are no deed: a mistake in what was typed, a thing that is not there.

export const EXIT_DONE = 0
/** Something was found, refused or declined. */
export const EXIT_NO = 1
/** A mistake in what was typed. */
export const EXIT_USAGE = 2

/** Ends the command with a sentence for whoever typed it. */
export class Halt extends Error {
  override readonly name = 'Halt'
  readonly code: number

  constructor(sentence: string, code: number) {
    super(sentence)
    this.code = code
  }
}

/** Typed wrongly. */
export function mistake(sentence: string): Halt {
  return new Halt(sentence, EXIT_USAGE)
}

/** Typed rightly, and there is no such thing. */
export function absent(sentence: string): Halt {
  return new Halt(sentence, EXIT_NO)
}
