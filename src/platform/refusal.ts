// A refusal is an expected no; everything else that is thrown is a fault. A refusal carries a code,
// a sentence for the client and private detail for the log; it knows no status numbers. A module
// lists the codes that it raises in its refusals.ts. The gateway and the cabinet each map the codes
// that they can meet to answers in one table, so a new code without an answer does not compile.

/** A sentence for the client, private detail for the log, and the cause. */
export type RefusalWords = readonly [
  sentence: string,
  detail?: Record<string, unknown>,
  cause?: unknown,
]

export class Refusal<Code extends string = string> extends Error {
  override readonly name: string = 'Refusal'
  readonly code: Code
  /** For the log only; never sent to a client. */
  readonly detail: Record<string, unknown>
  /** When asking again may help, if the module knows more than the entry file's table. */
  retryAfterMs: number | undefined

  constructor(code: Code, ...[sentence, detail = {}, cause]: RefusalWords) {
    super(sentence, cause === undefined ? undefined : { cause })
    this.code = code
    this.detail = detail
  }
}

/**
 * A refusal, not thrown yet. A module binds it to the codes that it lists:
 * `export const holdRefusal = makeRefusal<HoldRefusalCode>`.
 */
export function makeRefusal<Code extends string>(
  code: Code,
  ...words: RefusalWords
): Refusal<Code> {
  return new Refusal(code, ...words)
}

/** True for a refusal; with codes, for a refusal of one of them. */
export function isRefusal<Code extends string = string>(
  error: unknown,
  ...codes: readonly Code[]
): error is Refusal<Code> {
  if (!(error instanceof Refusal)) return false
  return codes.length === 0 || (codes as readonly string[]).includes(error.code)
}
