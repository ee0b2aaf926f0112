// How each no looks to a client: refusal code → status, vendor error type, log level, and whether
// asking again can help. One table; a new code without a line here does not compile.
// docs/errors.md says the same in words, and a test compares the two.
import type { ClientReply } from '../http/http.ts'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import type { Log } from '../platform/log.ts'
import { isRefusal, Refusal, type RefusalCode } from '../platform/refusal.ts'
import type { ErrorType } from '../wire/errors.ts'
import { errorBody } from '../wire/errors.ts'
import type { Exchange } from './exchange.ts'

type Answer = {
  readonly status: number
  readonly type: ErrorType
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** Seconds after which asking again may help; undefined: it never will. */
  readonly retryAfterSeconds?: number
  /** Tells client libraries not to repeat by themselves, whatever the status. */
  readonly isFinal?: true
}

export const refusals = {
  path_unknown: { status: 404, type: 'not_found_error', level: 'debug' },
  method_wrong: { status: 405, type: 'invalid_request_error', level: 'debug' },
  content_type_wrong: { status: 415, type: 'invalid_request_error', level: 'debug' },
  content_encoding_unsupported: { status: 400, type: 'invalid_request_error', level: 'debug' },
  body_too_large: { status: 413, type: 'request_too_large', level: 'info' },
  body_broken_off: { status: 400, type: 'invalid_request_error', level: 'debug' },
  // Memory, not money: other processes may have room.
  body_bytes_exhausted: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 2,
  },
  field_invalid: { status: 400, type: 'invalid_request_error', level: 'debug' },
  thread_unsupported: { status: 400, type: 'invalid_request_error', level: 'debug' },
  model_unknown: { status: 404, type: 'not_found_error', level: 'debug' },
  feature_unpriced: { status: 400, type: 'invalid_request_error', level: 'info' },
  // None is well, and a sick one is asked once a second: when the next is due is told instead.
  upstream_unavailable: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 1,
  },
  upstream_unreachable: { status: 502, type: 'api_error', level: 'warn' },
  upstream_failed: { status: 502, type: 'api_error', level: 'warn' },
  // The upstream refused our account, not the customer's: never a 401 or 402 of theirs.
  upstream_misconfigured: { status: 502, type: 'api_error', level: 'error' },
  request_overdue: { status: 504, type: 'timeout_error', level: 'warn' },

  key_missing: { status: 401, type: 'authentication_error', level: 'debug' },
  key_malformed: { status: 401, type: 'authentication_error', level: 'debug' },
  key_unknown: { status: 401, type: 'authentication_error', level: 'debug' },
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
  key_pending_missing: { status: 409, type: 'conflict_error', level: 'info' },
  key_import_refused: { status: 409, type: 'conflict_error', level: 'info' },

  // Of people in the cabinet, as are most of the codes below: clients of the API do not meet them.
  session_missing: { status: 401, type: 'authentication_error', level: 'debug' },
  session_not_fresh: { status: 403, type: 'permission_error', level: 'debug' },
  password_checks_overloaded: {
    status: 503,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 1,
  },

  credits_insufficient: { status: 402, type: 'billing_error', level: 'info', isFinal: true },
  day_limit_reached: { status: 402, type: 'billing_error', level: 'info', isFinal: true },
  velocity_stopped: { status: 402, type: 'billing_error', level: 'info', isFinal: true },
  owner_suspended: { status: 402, type: 'billing_error', level: 'info', isFinal: true },
  debt_outstanding: { status: 402, type: 'billing_error', level: 'info', isFinal: true },
  operator_blocked: { status: 403, type: 'permission_error', level: 'info' },
  book_unknown: { status: 401, type: 'authentication_error', level: 'error' },
  // A failover takes 18-25 s and the wait is over: tell the client when to come back.
  ledger_unavailable: {
    status: 529,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 5,
  },
  refund_exceeds_unspent: { status: 409, type: 'conflict_error', level: 'info' },
  adjust_exceeds_available: { status: 409, type: 'conflict_error', level: 'info' },
  order_unknown: { status: 404, type: 'not_found_error', level: 'info' },
  order_attempt_reused: { status: 409, type: 'conflict_error', level: 'info' },
  order_state_wrong: { status: 409, type: 'conflict_error', level: 'info' },
  payment_unavailable: {
    status: 503,
    type: 'overloaded_error',
    level: 'warn',
    retryAfterSeconds: 5,
  },
  refund_refused: { status: 409, type: 'conflict_error', level: 'info' },
  promo_refused: { status: 409, type: 'conflict_error', level: 'info' },
  promo_attempts_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    level: 'info',
    retryAfterSeconds: 3600,
  },
  top_up_refused: { status: 409, type: 'conflict_error', level: 'info' },
  pack_changed: { status: 409, type: 'conflict_error', level: 'info' },
} satisfies Record<RefusalCode, Answer>

/** Codes that name what a client library should do; they travel in `error.details`. */
const detailCodes: Partial<Record<RefusalCode, string>> = {
  thread_unsupported: 'thread_unsupported_request',
  content_encoding_unsupported: 'request_body_encoding_unsupported',
}

/** Answers a refusal or a fault. Faults are logged here, once, and say nothing to the client. */
export function answerError(exchange: Exchange, thrown: unknown, log: Log): void {
  const { requestId, outgoing } = exchange
  const error = isDatabaseUnavailable(thrown) ? unavailable(thrown) : thrown
  if (isRefusal(error)) {
    const answer: Answer = refusals[error.code]
    const fields = { request: requestId, code: error.code, ...error.detail }
    // Not its sentence: that is for the client, and may quote what the client sent.
    log[answer.level](fields, 'refused')
    if (!outgoing.isBegun) writeRefusal(outgoing, requestId, error, answer)
  } else {
    log.error({ request: requestId, err: error }, 'a fault')
    if (!outgoing.isBegun) {
      const body = errorBody({ type: 'api_error', message: 'Internal server error', requestId })
      writeError(outgoing, 500, requestId, body, {})
    }
  }
  if (!outgoing.isEnded) outgoing.destroy()
}

/** For a statement outside the ledger's queue that PostgreSQL did not answer, or not in time. */
function unavailable(cause: unknown): Refusal {
  const sentence = 'The service is overloaded; try again shortly.'
  return new Refusal('ledger_unavailable', sentence, { err: cause }, cause)
}

function writeRefusal(
  outgoing: ClientReply,
  requestId: string,
  refusal: Refusal,
  answer: Answer,
): void {
  const { type, status } = answer
  const { message } = refusal
  const code = detailCodes[refusal.code]
  const details = code === undefined ? {} : { details: { error_code: code } }
  const headers: Record<string, string> = {}
  if (answer.isFinal) headers['x-should-retry'] = 'false'
  const seconds = secondsOf(refusal) ?? answer.retryAfterSeconds
  if (seconds !== undefined) headers['retry-after'] = String(seconds)
  writeError(
    outgoing,
    status,
    requestId,
    errorBody({ type, message, requestId, ...details }),
    headers,
  )
}

/** Whole seconds, as the header has them, and never none: libraries take 0 for no word at all. */
function secondsOf({ retryAfterMs }: Refusal): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1_000))
}

export function writeError(
  outgoing: ClientReply,
  status: number,
  requestId: string,
  body: string,
  headers: Record<string, string>,
): void {
  const bytes = Buffer.from(body)
  outgoing.begin(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'request-id': requestId,
    ...headers,
  })
  outgoing.end(bytes)
}
