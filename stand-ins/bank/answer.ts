// Sends the correct answer, or a faulty one.
import type { ServerResponse } from 'node:http'
import { BankError } from './errors.ts'
import type { Fault } from './faults.ts'

/** `body` is null for an answer without one. */
export type Answer = { status: number; body: object | null }

const jsonType = { 'content-type': 'application/json; charset=utf-8' }

const badGatewayPage = `<html>\r
<head><title>502 Bad Gateway</title></head>\r
<body>\r
<center><h1>502 Bad Gateway</h1></center>\r
</body>\r
</html>\r
`

// The provider's client libraries wait this long by default before they ask again.
const retryAfterMs = 1800

/** Returns the status that was sent; null without an answer, or when the client has left. */
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

/** Returns the status that was sent; null when none was. */
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
        text: badGatewayPage,
        headers: { 'content-type': 'text/html' },
      })
    case 'truncated': {
      const text = JSON.stringify(answer?.body ?? { type: 'nothing', id: '' })
      return sendText(response, { status: 200, text: text.slice(0, text.length / 2) })
    }
    case 'processing': {
      const description = 'The request is being processed'
      const body = { type: 'processing', description, retry_after: retryAfterOf(fault) }
      return sendAnswer(response, { status: 202, body })
    }
    case 'too-many-requests': {
      const error = new BankError(429, 'Too many requests', { retryAfterMs: retryAfterOf(fault) })
      return sendAnswer(response, error)
    }
    default:
      return sendAnswer(response, new BankError(500, 'Internal server error'))
  }
}

function retryAfterOf(fault: Fault): number {
  return fault.retryAfterMs ?? retryAfterMs
}
