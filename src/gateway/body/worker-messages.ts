// What the gateway and its reading thread say to each other about a large body. Its memory goes to
// the thread with the question and comes back with the answer: one side has it at a time.
import type { Tokens } from '../../units/tokens.ts'
import type { InputBound } from '../../wire/bound.ts'
import type { CountRequest, MessageRequest, ReadResult } from '../../wire/draft.ts'

export type LargeAsk = {
  readonly number: number
  readonly memory: ArrayBuffer
  readonly bytes: number
  readonly kind: 'message' | 'count'
  readonly windows: Readonly<Record<string, Tokens>>
}
export type LargeAnswer = {
  readonly number: number
  readonly memory: ArrayBuffer
  /** Without the places of its images: only the bound needed them. */
  readonly result: ReadResult<MessageRequest | CountRequest>
  /** Undefined when the request or its model is none. */
  readonly bound: InputBound | undefined
}
