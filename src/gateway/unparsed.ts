// What is no request never becomes an exchange: broken HTTP, too many bytes of headers, a request
// that takes too long to arrive or ends before it is whole. It is answered all the same, in the
// same shape as everything else.
import { STATUS_CODES } from 'node:http'
import type { Problem } from '../http/http.ts'
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

/** The connection ends with it: nobody knows where the next request would begin. */
export function unparsedReply(problem: Problem, requestId: RequestId): string {
  const { status, type, message } = answers[problem]
  const body = errorBody({ type, message, requestId })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `request-id: ${requestId}`,
    'connection: close',
  ]
  return [...head, '', body].join('\r\n')
}
