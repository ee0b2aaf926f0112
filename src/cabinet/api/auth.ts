// /api/auth: hands the request to the accounts module, with the client's trusted address, and sends
// its answer. It only adds the request id to a refusal, so that all refusals have one shape.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountCode, Accounts } from '../../accounts/accounts.ts'
import type { Plugin } from '../../platform/server/plugin.ts'
import type { AuthErrorCode, ErrorBody } from '../contract/contract.ts'

/** The same limit as in accounts/auth-handler.ts: a passkey's answer is 2-4 KB. */
const BODY_BYTES_MAX = 32 * 1024

/** The headers that the accounts module reads. */
const FORWARDED_HEADERS = [
  'cookie',
  'origin',
  'sec-fetch-site',
  'user-agent',
  'content-type',
] as const

export function authPlugin(accounts: Pick<Accounts, 'handle'>, cabinetUrl: string): Plugin {
  const { origin } = new URL(cabinetUrl)

  function requestOf({ method, url, headers, body }: FastifyRequest): Request {
    const sent = new Headers()
    for (const name of FORWARDED_HEADERS) {
      const value = headers[name]
      if (typeof value === 'string') sent.set(name, value)
    }
    const text = typeof body === 'string' ? body : ''
    return new Request(`${origin}${url}`, {
      method,
      headers: sent,
      ...(method === 'GET' ? {} : { body: text }),
    })
  }

  return (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    )
    app.route({
      method: ['GET', 'POST'],
      url: '/api/auth/*',
      exposeHeadRoute: false,
      bodyLimit: BODY_BYTES_MAX,
      async handler(request, reply) {
        const { address } = request
        return forward(await accounts.handle(requestOf(request), { address }), reply)
      },
    })
  }
}

async function forward(response: Response, reply: FastifyReply): Promise<FastifyReply> {
  const body: unknown = await response.json()
  reply.code(response.status).header('cache-control', 'no-store')
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie)
  const wait = response.headers.get('retry-after')
  if (wait !== null) reply.header('retry-after', wait)
  return reply.send(
    response.ok ? body : withRequestId(body as Pick<ErrorBody<AccountCode>, 'error'>, reply),
  )
}

/** A code of the accounts module that the contract does not list would not compile here. */
function withRequestId(
  { error }: Pick<ErrorBody<AccountCode>, 'error'>,
  reply: FastifyReply,
): ErrorBody<AuthErrorCode> {
  return { error, requestId: reply.request.id }
}
