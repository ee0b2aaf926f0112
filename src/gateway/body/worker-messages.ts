// The messages between the gateway and its parsing thread. The memory of the body is transferred
// with the task and back with the result: one side owns it at a time.
import type { Tokens } from '../../units/tokens.ts'
import type { InputBound } from '../../wire/bound.ts'
import type { CountRequest, MessageRequest, ReadResult } from '../../wire/draft.ts'

export type ParseTask = {
  readonly number: number
  readonly memory: ArrayBuffer
  readonly bytes: number
  readonly kind: 'message' | 'count'
  readonly windows: Readonly<Record<string, Tokens>>
}
export type ParseTaskResult = {
  readonly number: number
  readonly memory: ArrayBuffer
  /** Its list of images is empty: only the computation of `bound` needs it. */
  readonly result: ReadResult<MessageRequest | CountRequest>
  /** Undefined when the request is invalid or its model unknown. */
  readonly bound: InputBound | undefined
}
