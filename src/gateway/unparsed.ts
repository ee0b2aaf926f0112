// What is no request never becomes an exchange: broken HTTP, too many bytes of headers, a request
// that takes too long to arrive or ends before it is whole. It is answered all the same, in the
// same shape as everything else.
import type { Problem, Reply } from '../http/http.ts'
import type { RequestId } from '../platform/ids.ts'
import { type ErrorType, errorBody } from '../wire/errors.ts'
import { writeError } from './refusals.ts'

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
export function answerUnparsed(problem: Problem, reply: Reply, requestId: RequestId): void {
  const { status, type, message } = answers[problem]
  writeError(reply, status, requestId, errorBody({ type, message, requestId }), {})
}
