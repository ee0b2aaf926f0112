// What the gateway and its reading thread say to each other about a large body.
import type { Tokens } from '../units/tokens.ts'
import type { InputBound } from '../wire/bound.ts'
import type { CountRequest, MessageRequest, ReadResult } from '../wire/draft.ts'

export type LargeAsk = {
  readonly number: number
  readonly shared: SharedArrayBuffer
  readonly bytes: number
  readonly kind: 'message' | 'count'
  readonly windows: Readonly<Record<string, Tokens>>
}
export type LargeAnswer = {
  readonly number: number
  readonly result: ReadResult<MessageRequest | CountRequest>
  readonly bound: InputBound | undefined
}
