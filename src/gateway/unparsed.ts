// Answers to bytes that did not become a request: invalid HTTP, headers that are too large, a
// request that takes too long to arrive or ends in the middle. They have the same format as every
// other error.
import type { HttpOptions, Problem } from '../http/http.ts'
import type { RequestId } from '../platform/ids.ts'
import { type ErrorType, errorBody } from '../wire/errors.ts'

type Answer = { readonly status: number; readonly type: ErrorType; readonly message: string }

const answers: Readonly<Record<Problem, Answer>> = {
  malformed: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request is not valid HTTP.',
  },
  overflow: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request headers are too large.',
  },
  cut: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request ended before it was whole.',
  },
  late: {
    status: 408,
    type: 'timeout_error',
    message: 'The request took too long to arrive.',
  },
}

/** The connection is closed after it, because the start of the next request cannot be found. */
export function answerUnparsed(
  problem: Problem,
  requestId: RequestId,
): ReturnType<HttpOptions['unparsed']> {
  const { status, type, message } = answers[problem]
  const body = errorBody({ type, message, requestId })
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'request-id': requestId,
  }
  return { status, headers, body }
}
