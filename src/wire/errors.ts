// The vendor's error body and error types. The format is the same on every path, so that each
// client library finds type, message and request id. The gateway's table says which refusal gets
// which type.

import { isJsonObject } from './usage.ts'

/** The closed list of error types we send, with the status that belongs to each. */
export const errorStatuses = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
} as const

export type ErrorType = keyof typeof errorStatuses

export type WireError = {
  readonly type: ErrorType
  readonly message: string
  /** Also sent as the header `request-id`. */
  readonly requestId: string
  /** `error_code` selects a client library's typed error. */
  readonly details?: { readonly error_code: string } & Readonly<Record<string, unknown>>
}

export function errorBody({ type, message, requestId, details }: WireError): string {
  const error = details === undefined ? { type, message } : { type, message, details }
  return JSON.stringify({ type: 'error', error, request_id: requestId })
}

/** An `error` record for a stream that cannot go on; clients ignore one without its event line. */
export function errorRecord(error: WireError): string {
  return `event: error\ndata: ${errorBody(error)}\n\n`
}

/** Keeps a silent stream alive. Every client knows it, unlike an event of our own. */
export const PING_RECORD = 'event: ping\ndata: {"type":"ping"}\n\n'

/** Reads an upstream's error body, for logs and metrics; undefined when it is not one. */
export function readErrorBody(
  body: Buffer,
): { readonly type: string; readonly message: string; readonly code?: string } | undefined {
  let json: unknown
  try {
    json = JSON.parse(body.toString('utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  if (!isJsonObject(json) || !isJsonObject(json.error)) return undefined
  const { type, message, details } = json.error
  if (typeof type !== 'string' || typeof message !== 'string') return undefined
  const code = isJsonObject(details) ? details.error_code : undefined
  return typeof code === 'string' ? { type, message, code } : { type, message }
}

/**
 * An upstream's error body with our request id, so that header and body name the same request. The
 * text holds bytes (latin1), as the gateway reads bodies.
 */
export function withRequestId(text: string, requestId: string): string {
  const body: unknown = JSON.parse(Buffer.from(text, 'latin1').toString('utf8'))
  if (!isJsonObject(body)) return text
  return Buffer.from(JSON.stringify({ ...body, request_id: requestId })).toString('latin1')
}

/** The same for the error among the records of a stream; every other record stays as it is. */
export function recordsWithRequestId(text: string, requestId: string): string {
  return text.replace(ERROR_RECORD, (record, start: string, body: string) => {
    try {
      return start + withRequestId(body, requestId)
    } catch (error) {
      if (error instanceof SyntaxError) return record
      throw error
    }
  })
}

// The vendor writes the event line first and the data in one line.
const ERROR_RECORD = /(^event: ?error\r?\ndata: ?)(\{.*\})(?=\r?$)/gm

/**
 * Whether another attempt may follow an upstream's answer: `x-should-retry` decides if it is there,
 * else the statuses that the official libraries retry.
 */
export function isRetryable(status: number, shouldRetry?: string | undefined): boolean {
  if (shouldRetry === 'true') return true
  if (shouldRetry === 'false') return false
  return status === 408 || status === 409 || status === 429 || status >= 500
}

/**
 * How long an upstream asks to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP
 * date). Undefined without a usable value.
 */
export function retryAfterMs(
  headers: {
    readonly retryAfterMs?: string | undefined
    readonly retryAfter?: string | undefined
  },
  nowMs: number,
): number | undefined {
  const exact = decimal(headers.retryAfterMs)
  if (exact !== undefined) return exact
  const { retryAfter } = headers
  if (retryAfter === undefined) return undefined
  const seconds = decimal(retryAfter)
  if (seconds !== undefined) return seconds * 1_000
  const at = HTTP_DATE.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

// Date.parse alone would read `-1` as a year.
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/

function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,9}(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}
