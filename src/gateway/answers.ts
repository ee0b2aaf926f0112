// How a client sees each refusal: code → status, vendor error type, log level, and whether to
// retry. One table for every refusal that a request can get; a new code without a line here does
// not compile. docs/errors.md says the same in words, and a test compares the two.
import type { ClientReply } from '../http/http.ts'
import type { KeyCheckRefusalCode } from '../keys/keys.ts'
import type { HoldRefusalCode } from '../ledger/ledger.ts'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import { isRefusal, type Refusal } from '../platform/refusal.ts'
import type { UpstreamRefusalCode } from '../upstreams/upstreams.ts'
import type { ErrorType } from '../wire/errors.ts'
import { errorBody } from '../wire/errors.ts'
import type { Exchange } from './exchange.ts'
import { type GatewayRefusalCode, gatewayRefusal } from './refusals.ts'

type AnsweredCode = GatewayRefusalCode | KeyCheckRefusalCode | HoldRefusalCode | UpstreamRefusalCode

type Answer = {
  readonly status: number
  readonly type: ErrorType
  readonly level: 'info' | 'warn' | 'error'
  /** `retry-after`, unless the refusal has its own; undefined: the answer has no such header. */
  readonly retryAfterSeconds?: number
  /** Sends `x-should-retry: false`: client libraries then do not retry, whatever the status. */
  readonly forbidsRetry?: true
}

export const refusalAnswers = {
  path_unknown: { status: 404, type: 'not_found_error', level: 'info' },
  method_wrong: { status: 405, type: 'invalid_request_error', level: 'info' },
  content_type_wrong: { status: 415, type: 'invalid_request_error', level: 'info' },
  content_encoding_unsupported: { status: 400, type: 'invalid_request_error', level: 'info' },
  body_too_large: { status: 413, type: 'request_too_large', level: 'info' },
  body_broken_off: { status: 400, type: 'invalid_request_error', level: 'info' },
  // This process has no share left for the account; other processes may have one.
  body_bytes_exhausted: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 2,
  },
  waiting_exhausted: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 2,
  },
  request_shed: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 2,
  },
  field_invalid: { status: 400, type: 'invalid_request_error', level: 'info' },
  thread_unsupported: { status: 400, type: 'invalid_request_error', level: 'info' },
  model_unknown: { status: 404, type: 'not_found_error', level: 'info' },
  request_unknown: { status: 404, type: 'not_found_error', level: 'info' },
  feature_unpriced: { status: 400, type: 'invalid_request_error', level: 'info' },
  // Every target is drained, has weight 0, or has a credential that cannot be read or has expired:
  // the operator must act.
  upstream_unavailable: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 30,
  },
  // Step 5 knows when the shortest pause ends and sets the refusal's `retryAfterMs`, which replaces
  // this value.
  upstream_limited: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 1,
  },
  upstream_unreachable: { status: 502, type: 'api_error', level: 'warn' },
  upstream_failed: { status: 502, type: 'api_error', level: 'warn' },
  upstream_overdue: { status: 504, type: 'timeout_error', level: 'warn' },
  // The upstream refused our account, not the customer's: its 401 or 402 must not reach the
  // client, which would take it for an answer about its own key or balance.
  upstream_misconfigured: { status: 502, type: 'api_error', level: 'error' },
  request_overdue: { status: 504, type: 'timeout_error', level: 'warn' },

  key_missing: { status: 401, type: 'authentication_error', level: 'info' },
  key_malformed: { status: 401, type: 'authentication_error', level: 'info' },
  key_unknown: { status: 401, type: 'authentication_error', level: 'info' },
  key_revoked: { status: 401, type: 'authentication_error', level: 'info' },
  key_attempts_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    level: 'info',
    retryAfterSeconds: 60,
  },
  key_checks_overloaded: {
    status: 503,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 1,
  },

  credits_insufficient: { status: 402, type: 'billing_error', level: 'info', forbidsRetry: true },
  day_limit_reached: { status: 402, type: 'billing_error', level: 'info', forbidsRetry: true },
  velocity_stopped: { status: 402, type: 'billing_error', level: 'info', forbidsRetry: true },
  owner_suspended: { status: 402, type: 'billing_error', level: 'info', forbidsRetry: true },
  debt_outstanding: { status: 402, type: 'billing_error', level: 'info', forbidsRetry: true },
  operator_blocked: { status: 403, type: 'permission_error', level: 'info' },
  book_unknown: { status: 401, type: 'authentication_error', level: 'error' },
  // A failover takes 18-25 s, and a hold waits for 30 s (`holdWaitMs`) before this refusal: tell
  // the client when to retry.
  ledger_unavailable: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 5,
  },
} satisfies Record<AnsweredCode, Answer>

/** Codes by which a client library decides what to do; sent in `error.details`. */
const detailCodes: Partial<Record<AnsweredCode, string>> = {
  thread_unsupported: 'thread_unsupported_request',
  content_encoding_unsupported: 'request_body_encoding_unsupported',
}

/** What the request log says about a request that ended in an error. */
export type Failure = {
  readonly level: Answer['level']
  /** Undefined: a fault. */
  readonly code: AnsweredCode | undefined
  readonly detail: Readonly<Record<string, unknown>> | undefined
  readonly err: unknown
}

/**
 * Answers a refusal or a fault. A refusal without a line in the table is a fault: the client gets a
 * 500 without details. The caller logs what is returned; it lacks the refusal's sentence, which may
 * quote what the client sent.
 */
export function answerError(exchange: Exchange, thrown: unknown): Failure | undefined {
  const { requestId, clientReply } = exchange
  const error = isDatabaseUnavailable(thrown) ? unavailable(thrown) : thrown
  // It follows from the closed connection, and the client cannot read an answer.
  const isAfterClose = isAnswered(error) && exchange.isDisconnected
  if (!clientReply.isBegun && !isAfterClose) {
    if (isAnswered(error)) {
      writeRefusal(clientReply, requestId, error, refusalAnswers[error.code])
    } else {
      const body = errorBody({ type: 'api_error', message: 'Internal server error', requestId })
      writeError(clientReply, 500, requestId, body, {})
    }
  }
  if (!clientReply.isEnded) clientReply.destroy()
  return isAfterClose ? undefined : failureOf(error)
}

function failureOf(error: unknown): Failure {
  if (!isAnswered(error)) return { level: 'error', code: undefined, detail: undefined, err: error }
  const { code, detail } = error
  const hasDetail = Object.keys(detail).length > 0
  const { level } = refusalAnswers[code]
  return { level, code, detail: hasDetail ? detail : undefined, err: undefined }
}

function isAnswered(error: unknown): error is Refusal<AnsweredCode> {
  return isRefusal(error) && Object.hasOwn(refusalAnswers, error.code)
}

/** The refusal for a query outside the ledger's queue that PostgreSQL did not answer in time. */
function unavailable(cause: unknown): Refusal<AnsweredCode> {
  const sentence = 'The service is overloaded; try again shortly.'
  return gatewayRefusal('ledger_unavailable', sentence, { err: cause }, cause)
}

function writeRefusal(
  clientReply: ClientReply,
  requestId: string,
  refusal: Refusal<AnsweredCode>,
  answer: Answer,
): void {
  const { type, status } = answer
  const { message } = refusal
  const code = detailCodes[refusal.code]
  const details = code === undefined ? {} : { details: { error_code: code } }
  const headers: Record<string, string> = {}
  if (answer.forbidsRetry) headers['x-should-retry'] = 'false'
  const seconds = secondsOf(refusal) ?? answer.retryAfterSeconds
  if (seconds !== undefined) headers['retry-after'] = String(seconds)
  writeError(
    clientReply,
    status,
    requestId,
    errorBody({ type, message, requestId, ...details }),
    headers,
  )
}

/** In whole seconds, as the header requires, and at least 1: libraries treat 0 as missing. */
function secondsOf({ retryAfterMs }: Refusal): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000))
}

export function writeError(
  clientReply: ClientReply,
  status: number,
  requestId: string,
  body: string,
  headers: Record<string, string>,
): void {
  const bytes = Buffer.from(body)
  clientReply.begin(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'request-id': requestId,
    ...headers,
  })
  clientReply.end(bytes)
}
