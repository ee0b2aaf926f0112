// Answers as they leave: the honest one, and every way of spoiling it.
import type { ServerResponse } from 'node:http'
import { BankError } from './errors.ts'
import type { Fault } from './faults.ts'

/** Null as a body: none is sent. */
export type Answer = { status: number; body: object | null }

const jsonType = { 'content-type': 'application/json; charset=utf-8' }

const page = `<html>\r
<head><title>502 Bad Gateway</title></head>\r
<body>\r
<center><h1>502 Bad Gateway</h1></center>\r
</body>\r
</html>\r
`

// What the provider's libraries expect to wait when it is busy.
const retryAfterMs = 1800

/** The status that was sent; null when the client has left already. */
export function sendAnswer(response: ServerResponse, answer: Answer | null): number | null {
  if (answer === null || response.destroyed) return null
  const text = answer.body === null ? '' : JSON.stringify(answer.body)
  return sendText(response, { status: answer.status, text })
}

function sendText(
  response: ServerResponse,
  { status, text, headers = {} }: { status: number; text: string; headers?: object },
): number {
  response.writeHead(status, {
    ...(text === '' ? {} : jsonType),
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
  return status
}

/** The status that was sent; null when none was. */
export async function sendFaulty(
  response: ServerResponse,
  fault: Fault,
  answer: Answer | null,
): Promise<number | null> {
  if (response.destroyed) return null
  switch (fault.kind) {
    case 'reset':
      response.socket?.resetAndDestroy()
      return null
    case 'hang':
      await new Promise((resolve) => response.once('close', resolve))
      return null
    case 'html':
      return sendText(response, {
        status: 502,
        text: page,
        headers: { 'content-type': 'text/html' },
      })
    case 'truncated': {
      const text = JSON.stringify(answer?.body ?? { type: 'nothing', id: '' })
      return sendText(response, { status: 200, text: text.slice(0, text.length / 2) })
    }
    case 'processing': {
      const description = 'The request is being processed'
      const body = { type: 'processing', description, retry_after: waitMs(fault) }
      return sendAnswer(response, { status: 202, body })
    }
    case 'too-many-requests': {
      const error = new BankError(429, 'Too many requests', { retryAfterMs: waitMs(fault) })
      return sendAnswer(response, error)
    }
    default:
      return sendAnswer(response, new BankError(500, 'Internal server error'))
  }
}

function waitMs(fault: Fault): number {
  return fault.retryAfterMs ?? retryAfterMs
}
