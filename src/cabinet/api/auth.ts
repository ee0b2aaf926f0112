// /api/auth: handed to the accounts room as it came, with the address that can be believed, and
// answered as it says. Only the request's id is added to a no, so that all noes look alike.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountCode, Accounts } from '../../accounts/accounts.ts'
import type { AuthErrorCode, No } from '../contract/contract.ts'
import type { Part } from '../part.ts'

/** As the accounts room has it: a passkey's answer is 2-4 KB. */
const BODY_BYTES_MAX = 32 * 1024

/** What of the headers the accounts room reads. */
const READ = ['cookie', 'origin', 'sec-fetch-site', 'user-agent', 'content-type'] as const

export function authPart(accounts: Pick<Accounts, 'handle'>, cabinetUrl: string): Part {
  const { origin } = new URL(cabinetUrl)

  function requestOf({ method, url, headers, body }: FastifyRequest): Request {
    const sent = new Headers()
    for (const name of READ) {
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
        return pass(await accounts.handle(requestOf(request), { address }), reply)
      },
    })
  }
}

async function pass(response: Response, reply: FastifyReply): Promise<FastifyReply> {
  const said: unknown = await response.json()
  reply.code(response.status).header('cache-control', 'no-store')
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie)
  const wait = response.headers.get('retry-after')
  if (wait !== null) reply.header('retry-after', wait)
  return reply.send(response.ok ? said : whole(said as Pick<No<AccountCode>, 'error'>, reply))
}

/** A code of the room's that the contract does not list would not compile here. */
function whole({ error }: Pick<No<AccountCode>, 'error'>, reply: FastifyReply): No<AuthErrorCode> {
  return { error, requestId: reply.request.id }
}
