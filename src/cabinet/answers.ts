// How the cabinet answers refusals and faults: {error: {code, message}, requestId}. A browser acts
// on the code and has words for it in its own language; the message is for people who read the
// traffic. One table of all that the cabinet can meet; a code without a line here, or a line that
// the contract does not know, does not compile.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type ClosingRefusalCode,
  neededProofs,
  type SessionRefusalCode,
} from '../accounts/accounts.ts'
import type { KeyCheckRefusalCode, KeyLifeRefusalCode } from '../keys/keys.ts'
import type { PaymentRefusalCode } from '../payments/payments.ts'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import type { Log } from '../platform/log.ts'
import { isRefusal, type Refusal } from '../platform/refusal.ts'
import type { ErrorBody, ErrorCode } from './contract/contract.ts'
import { CabinetRefusal, type CabinetRefusalCode, type RefusalData } from './refusals.ts'

/** A pasted key that is refused so is not the owner's: api/key.ts answers `false` then. */
export const wrongKeyCodes = [
  'key_malformed',
  'key_unknown',
  'key_revoked',
] as const satisfies readonly KeyCheckRefusalCode[]

type KeyCode = KeyLifeRefusalCode | Exclude<KeyCheckRefusalCode, (typeof wrongKeyCodes)[number]>

/** What Node's parser and Fastify refuse before a route sees it. */
type UnreadCode =
  | 'content_type_wrong'
  | 'body_too_large'
  | 'body_broken_off'
  | 'request_overdue'
  | 'http_broken'
  | 'headers_too_large'

type RefusedCode =
  | CabinetRefusalCode
  | SessionRefusalCode
  | ClosingRefusalCode
  | KeyCode
  | PaymentRefusalCode
type AnsweredCode = RefusedCode | UnreadCode | 'unavailable' | 'fault'

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
  step_up_needed: 403,
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
  payment_unavailable: 503,
  refund_refused: 409,
  refund_exceeds_unspent: 409,
  refund_needs_support: 409,
  promo_refused: 409,
  promo_attempts_exceeded: 429,
  top_up_refused: 409,
  pack_changed: 409,
  closing_waits: 409,
  email_change_recent: 409,
  review_not_due: 409,
  request_unknown: 404,
  usage_session_unknown: 404,
  document_unknown: 404,
  consent_unknown: 404,

  ledger_unavailable: 503,
  overloaded: 503,
  unavailable: 503,
  fault: 500,
} satisfies Record<AnsweredCode, number> satisfies Record<ErrorCode, number>

const RETRY_SECONDS = 1
/** A database is back in seconds after a restart, in half a minute after a failover. */
const DATABASE_RETRY_SECONDS = 5

/** Answers with the code's status, in the cabinet's shape. */
export function sendError(
  reply: FastifyReply,
  code: ErrorCode,
  message: string,
  data: RefusalData = {},
): void {
  const status = statuses[code]
  reply.code(status).type('application/json; charset=utf-8')
  const seconds = data.retryAfterSeconds ?? (status === 503 ? RETRY_SECONDS : undefined)
  if (seconds !== undefined) reply.header('retry-after', seconds)
  reply.send(errorText(code, message, reply.request.id, data))
}

function errorText(
  code: ErrorCode,
  message: string,
  requestId: string,
  data: RefusalData = {},
): string {
  const body: ErrorBody<ErrorCode> = { error: { code, message, ...data }, requestId }
  return JSON.stringify(body)
}

/** Fastify's own errors about a request, in our words: its messages may quote what was sent. */
const framework: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is too large.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['content_type_wrong', 'This content type is not supported.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['field_invalid', 'The body is not valid JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['field_invalid', 'The body is empty.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'body_broken_off',
    'The body is shorter than its Content-Length.',
  ],
  FST_ERR_VALIDATION: ['field_invalid', 'A field is missing or invalid.'],
}

/**
 * Answers a refusal or a fault. A refusal without a line in the table is a fault. Faults are logged
 * here, once, and say nothing to the client.
 */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Log,
): void {
  const known = Object(error) as { code?: string; statusCode?: number }
  const frameworkRefusal = framework[known.code ?? '']
  if (isAnswered(error)) {
    // Not its sentence: that is for the client, and may quote what the client sent.
    log.info({ request: request.id, code: error.code, ...error.detail }, 'refused')
    sendError(reply, error.code, error.message, dataOf(error))
  } else if (frameworkRefusal !== undefined) {
    sendError(reply, ...frameworkRefusal)
  } else if (known.statusCode === 400) {
    sendError(reply, 'body_broken_off', 'The body ended before it was complete.')
  } else if (isDatabaseUnavailable(error)) {
    log.warn({ request: request.id, err: error }, 'the database is away')
    const wait = { retryAfterSeconds: DATABASE_RETRY_SECONDS }
    sendError(reply, 'unavailable', 'The service is temporarily unavailable.', wait)
  } else {
    log.error({ request: request.id, err: error }, 'a fault')
    sendError(reply, 'fault', 'Something went wrong on our side. The error has been logged.')
  }
}

function dataOf(error: Refusal): RefusalData {
  if (error instanceof CabinetRefusal) return error.data
  const needs = neededProofs(error)
  return needs === undefined ? {} : { needs }
}

function isAnswered(error: unknown): error is Refusal<RefusedCode> {
  return isRefusal(error) && Object.hasOwn(statuses, error.code)
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
