// How each no looks in the cabinet: {error: {code, message}, requestId}. The code is what the
// browser acts on and has words for in its own language; the message is for whoever reads the
// traffic. Two tables; a refusal code without a line in one of them does not compile.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import type { Log } from '../platform/log.ts'
import { isRefusal, type RefusalCode } from '../platform/refusal.ts'
import type { ErrorCode, No } from './contract/contract.ts'

export const statuses = {
  path_unknown: 404,
  content_type_wrong: 415,
  body_too_large: 413,
  body_broken_off: 400,
  field_invalid: 400,
  request_overdue: 408,
  http_broken: 400,
  headers_too_large: 431,
  origin_wrong: 403,
  session_missing: 401,
  session_not_fresh: 403,
  session_unknown: 404,
  attempts_exceeded: 429,
  streams_exceeded: 429,

  key_attempts_exceeded: 429,
  key_checks_overloaded: 503,
  key_pending_missing: 409,
  purchase_missing: 409,

  pack_unknown: 404,
  order_unknown: 404,
  order_attempt_reused: 409,
  order_state_wrong: 409,
  payment_unavailable: 503,
  refund_refused: 409,
  refund_exceeds_unspent: 409,
  adjust_exceeds_available: 409,
  promo_refused: 409,
  promo_attempts_exceeded: 429,
  top_up_refused: 409,
  pack_changed: 409,
  closing_waits: 409,
  request_unknown: 404,
  document_unknown: 404,
  consent_unknown: 404,

  ledger_unavailable: 503,
  overloaded: 503,
  unavailable: 503,
  fault: 500,
} satisfies Record<ErrorCode, number>

/** Refusals of rooms that nothing the cabinet asks can raise; one that comes is a fault of ours. */
const strange = {
  method_wrong: true,
  content_encoding_unsupported: true,
  body_bytes_exhausted: true,
  thread_unsupported: true,
  model_unknown: true,
  feature_unpriced: true,
  upstream_unreachable: true,
  upstream_unavailable: true,
  upstream_failed: true,
  upstream_misconfigured: true,
  key_missing: true,
  key_malformed: true,
  key_unknown: true,
  key_revoked: true,
  key_import_refused: true,
  password_checks_overloaded: true,
  credits_insufficient: true,
  day_limit_reached: true,
  velocity_stopped: true,
  owner_suspended: true,
  operator_blocked: true,
  debt_outstanding: true,
  book_unknown: true,
} satisfies Record<Exclude<RefusalCode, ErrorCode>, true>

type More = { readonly retryAfterSeconds?: number; readonly field?: string }

/** A no of the cabinet's own: about HTTP, the session or the order of things, not about a room. */
export class OwnNo extends Error {
  override readonly name = 'OwnNo'
  readonly code: ErrorCode
  readonly more: More

  constructor(code: ErrorCode, sentence: string, more: More = {}) {
    super(sentence)
    this.code = code
    this.more = more
  }
}

const RETRY_SECONDS = 1
/** A database is back in seconds after a restart, in half a minute after a failover. */
const AWAY_SECONDS = 5

/** Answers with the code's status, in the cabinet's shape. */
export function answerNo(
  reply: FastifyReply,
  code: ErrorCode,
  message: string,
  more: More = {},
): void {
  const status = statuses[code]
  reply.code(status).type('application/json; charset=utf-8')
  const seconds = more.retryAfterSeconds ?? (status === 503 ? RETRY_SECONDS : undefined)
  if (seconds !== undefined) reply.header('retry-after', seconds)
  reply.send(errorText(code, message, reply.request.id, more))
}

function errorText(code: ErrorCode, message: string, requestId: string, more: More = {}): string {
  const no: No<ErrorCode> = { error: { code, message, ...more }, requestId }
  return JSON.stringify(no)
}

/** Fastify's own noes about a request, in our words: its messages may quote what was sent. */
const framework: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is too large.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['content_type_wrong', 'This content type is not read here.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['field_invalid', 'The body is not valid JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['field_invalid', 'The body is empty.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['body_broken_off', 'The body is shorter than it said.'],
  FST_ERR_VALIDATION: ['field_invalid', 'A field is missing or not as expected.'],
}

/** Answers a refusal or a fault. Faults are logged here, once, and say nothing to the client. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Log,
): void {
  const known = Object(error) as { code?: string; statusCode?: number }
  const told = framework[known.code ?? '']
  if (isRefusal(error) && isExpected(error.code)) {
    // Not its sentence: that is for the client, and may quote what the client sent.
    log.info({ request: request.id, code: error.code, ...error.detail }, 'refused')
    answerNo(reply, error.code, error.message)
  } else if (error instanceof OwnNo) {
    log.info({ request: request.id, code: error.code }, 'refused')
    answerNo(reply, error.code, error.message, error.more)
  } else if (told !== undefined) {
    answerNo(reply, ...told)
  } else if (known.statusCode === 400) {
    answerNo(reply, 'body_broken_off', 'The body ended before it was whole.')
  } else if (isDatabaseUnavailable(error)) {
    log.warn({ request: request.id, err: error }, 'the database is away')
    const wait = { retryAfterSeconds: AWAY_SECONDS }
    answerNo(reply, 'unavailable', 'The service is away for a moment.', wait)
  } else {
    log.error({ request: request.id, err: error }, 'a fault')
    answerNo(reply, 'fault', 'Something went wrong here. It is in our log.')
  }
}

function isExpected(code: RefusalCode): code is Extract<RefusalCode, ErrorCode> {
  return !Object.hasOwn(strange, code)
}

const unparsed: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_overdue', 'The request took too long to arrive.'],
}

/** What Node's parser refuses never becomes a request; it is answered on the bare socket. */
export function answerUnparsed(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  requestId: string,
  isReplyBegun: boolean,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isReplyBegun) {
    socket.destroy(error)
    return
  }
  const [code, message] = unparsed[error.code ?? ''] ?? ['http_broken', 'This is not valid HTTP.']
  const status = statuses[code]
  const body = errorText(code, message, requestId)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end([...head, '', body].join('\r\n'), () => socket.destroy())
}
