// A message request while it is being read: the values found so far, and the one problem to report.
// The field readers (fields.ts) fill it in; request.ts returns the finished one.

import { names } from './names.ts'
import { type ByteRange, emptyShape, type InputShape } from './shape.ts'

/** What limits, prices and routing need of a request. */
export type MessageRequest = CountRequest & {
  readonly maxTokens: number
  readonly stream: boolean
  /** Where the number `max_tokens` stands, for edit.ts. */
  readonly maxTokensAt: ByteRange
}

/** The same for `count_tokens`, which has no reply to limit. */
export type CountRequest = {
  readonly model: string
  /** Where the string `model` stands, quotes included, for edit.ts. */
  readonly modelAt: ByteRange
  readonly temperature: number | undefined
  readonly temperatureAt: ByteRange | undefined
  /** `thinking.budget_tokens`, 0 without one. */
  readonly thinkingBudget: number
  /** `fast` costs more upstream. */
  readonly speed: string | undefined
  readonly inferenceGeo: string | undefined
  readonly serviceTier: string | undefined
  readonly shape: InputShape
  /** Where the values stand that count_tokens knows, for count-body.ts. */
  readonly counted: readonly CountedMember[]
  /** Of the values of members that are not known here: the model may read them. */
  readonly uncountedBytes: number
  /** Where the first message's content begins, and where `metadata` stands, for opening.ts. */
  readonly firstContentAt: number | undefined
  readonly metadataAt: ByteRange | undefined
}

export type CountedMember = { readonly name: TopName; readonly at: ByteRange }

/**
 * Why a request is invalid, in the vendor's words. `field` is empty when it is the body as a whole.
 */
export type RequestProblem = {
  readonly field: string
  readonly message: string
  /** Goes into `error.details.error_code`. */
  readonly errorCode?: 'thread_unsupported_request'
}

export type ReadResult<Request> =
  | { readonly ok: true; readonly request: Request }
  | { readonly ok: false; readonly problem: RequestProblem }

export const STOP_SEQUENCES_MAX = 4
export const TEMPERATURE_MAX = 2
/** The vendor's ids stay under 64; this limit keeps long hostile names out of logs and messages. */
export const MODEL_LENGTH_MAX = 256

export const topNames = names(
  'model',
  'messages',
  'max_tokens',
  'system',
  'stream',
  'tools',
  'tool_choice',
  'thinking',
  'temperature',
  'stop_sequences',
  'cache_control',
  'context_management',
  'compaction',
  'output_config',
  'output_format',
  'container',
  'mcp_servers',
  'fallbacks',
  'fallback_credit_token',
  'speed',
  'inference_geo',
  'service_tier',
  'thread',
)
export type TopName = (typeof topNames)[number]['name']

/** The order in which the vendor reports problems (observed 2026-08-31), threads put first. */
const reportOrder = [
  'thread',
  'model',
  'tools',
  'messages',
  'system',
  'thinking',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'stream',
] as const satisfies readonly TopName[]

/** A field that can be invalid. */
export type CheckedName = (typeof reportOrder)[number]

export type Draft = {
  -readonly [Key in keyof MessageRequest]: MessageRequest[Key]
} & { problem: RequestProblem | undefined; problemRank: number }

export function emptyDraft(bodyBytes: number): Draft {
  return {
    model: '',
    modelAt: { start: 0, end: 0 },
    maxTokens: 0,
    maxTokensAt: { start: 0, end: 0 },
    stream: false,
    temperature: undefined,
    temperatureAt: undefined,
    thinkingBudget: 0,
    speed: undefined,
    inferenceGeo: undefined,
    serviceTier: undefined,
    shape: emptyShape(bodyBytes),
    counted: [],
    uncountedBytes: 0,
    firstContentAt: undefined,
    metadataAt: undefined,
    problem: undefined,
    problemRank: Number.POSITIVE_INFINITY,
  }
}

/** Keeps the problem that the vendor would report first. */
export function noteProblem(
  draft: Draft,
  field: CheckedName,
  sentence: string,
  path: string = field,
): void {
  const rank = reportOrder.indexOf(field)
  if (rank >= draft.problemRank) return
  draft.problem = { field: path, message: `${path}: ${sentence}` }
  draft.problemRank = rank
}
