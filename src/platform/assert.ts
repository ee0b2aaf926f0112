// A fault is a bug: something the code promised cannot be. It is thrown, never handled, and the
// outermost door logs it once. Expected noes are refusals (refusal.ts).

export class Fault extends Error {
  override readonly name = 'Fault'
}

/** Stops on the impossible, in production too: a wrong balance is worse than a failed request. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Fault(message)
}
