// How the servers of people, cabinet and console, answer refusals and faults: {error: {code,
// message}, requestId}. A browser acts on the code and has words for it in its own language; the
// message is for people who read the traffic. Each server has one table of all codes it can meet.
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import type { Log } from '../log.ts'
import { isRefusal, type Refusal } from '../refusal.ts'

/** What Node's parser, Fastify and this server answer themselves, before or without a route. */
export const serverStatuses = {
  path_unknown: 404,
  content_type_wrong: 415,
  body_too_large: 413,
  body_broken_off: 400,
  field_invalid: 400,
  request_overdue: 408,
  http_broken: 400,
  headers_too_large: 431,
  unavailable: 503,
  fault: 500,
} as const

export type ServerCode = keyof typeof serverStatuses

/** Details that the browser gets besides the code. */
export type AnswerData = {
  readonly retryAfterSeconds?: number
  readonly [field: string]: unknown
}

export type AnswerOptions<Code extends string> = {
  /** Every code of this server. A refusal with another code is answered as a fault. */
  readonly statuses: Readonly<Record<Code | ServerCode, number>>
  readonly dataOf: (error: Refusal) => AnswerData
}

export type Answers<Code extends string = string> = {
  /** Answers with the code's status. */
  send(reply: FastifyReply, code: Code | ServerCode, message: string, data?: AnswerData): void
  /**
   * Answers a refusal or a fault. A refusal without a line in the table is a fault. Faults are
   * logged here, once, and say nothing to the client.
   */
  sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): void
}

const RETRY_SECONDS = 1
/** A database is back in seconds after a restart, in half a minute after a failover. */
const DATABASE_RETRY_SECONDS = 5

/** Fastify's own errors about a request, in our words: its messages may quote what was sent. */
const framework: Readonly<Record<string, readonly [ServerCode, string]>> = {
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

export function createAnswers<Code extends string>({
  statuses,
  dataOf,
}: AnswerOptions<Code>): Answers<Code> {
  const send: Answers<Code>['send'] = (reply, code, message, data = {}) => {
    const status = statuses[code]
    reply.code(status).type('application/json; charset=utf-8')
    const seconds = data.retryAfterSeconds ?? (status === 503 ? RETRY_SECONDS : undefined)
    if (seconds !== undefined) reply.header('retry-after', seconds)
    reply.send(errorText(code, message, reply.request.id, data))
  }

  function isAnswered(error: unknown): error is Refusal<Code> {
    return isRefusal(error) && Object.hasOwn(statuses, error.code)
  }

  return {
    send,
    sendError(error, request, reply, log) {
      const known = Object(error) as { code?: string; statusCode?: number }
      const frameworkRefusal = framework[known.code ?? '']
      if (isAnswered(error)) {
        // Not its sentence: that is for the client, and may quote what the client sent.
        log.info({ request: request.id, code: error.code, ...error.detail }, 'refused')
        send(reply, error.code, error.message, dataOf(error))
      } else if (frameworkRefusal !== undefined) {
        send(reply, ...frameworkRefusal)
      } else if (known.statusCode === 400) {
        send(reply, 'body_broken_off', 'The body ended before it was complete.')
      } else if (isDatabaseUnavailable(error)) {
        log.warn({ request: request.id, err: error }, 'the database is away')
        const wait = { retryAfterSeconds: DATABASE_RETRY_SECONDS }
        send(reply, 'unavailable', 'The service is temporarily unavailable.', wait)
      } else {
        log.error({ request: request.id, err: error }, 'a fault')
        send(reply, 'fault', 'Something went wrong on our side. The error has been logged.')
      }
    },
  }
}

function errorText(code: string, message: string, requestId: string, data: AnswerData): string {
  return JSON.stringify({ error: { code, message, ...data }, requestId })
}

const unparsed: Readonly<Record<string, readonly [ServerCode, string]>> = {
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
  const status = serverStatuses[code]
  const body = errorText(code, message, requestId, {})
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end([...head, '', body].join('\r\n'), () => socket.destroy())
}
