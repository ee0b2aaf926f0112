// A fault is a bug: a state that the code excludes. It is thrown, never handled, and the outermost
// module logs it once. Expected failures are refusals (refusal.ts).

export class Fault extends Error {
  override readonly name = 'Fault'
}

/** Throws a Fault, in production too: a wrong balance is worse than a failed request. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Fault(message)
}
