// What Node's parser refuses never becomes an exchange: broken HTTP, too many bytes of headers, a
// request that takes too long to arrive or ends before it is whole. It is answered on the bare
// socket, in the same shape as everything else.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RequestId } from '../platform/ids.ts'
import { type ErrorType, errorBody } from '../wire/errors.ts'

type Answer = { readonly status: number; readonly type: ErrorType; readonly message: string }

const answers: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request headers are too large.',
  },
  HPE_INVALID_EOF_STATE: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request ended before it was whole.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    type: 'timeout_error',
    message: 'The request took too long to arrive.',
  },
}
const otherwise: Answer = {
  status: 400,
  type: 'invalid_request_error',
  message: 'The request is not valid HTTP.',
}

/** Ends the connection: after a parse error nobody knows where the next request would begin. */
export function answerUnparsed(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  requestId: RequestId,
  isReplyBegun: boolean,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isReplyBegun) {
    socket.destroy(error)
    return
  }
  const { status, type, message } = answers[error.code ?? ''] ?? otherwise
  const body = errorBody({ type, message, requestId })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end([...head, '', body].join('\r\n'), () => socket.destroy())
}
