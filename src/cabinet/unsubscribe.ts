// POST /unsubscribe?code=…: mail programs unsubscribe their user with one click (RFC 8058). They
// send no cookie and no origin, so the code alone decides; people open the page of the same name.
import type { Accounts } from '../accounts/accounts.ts'
import type { Plugin } from '../platform/server/plugin.ts'
import { sendError } from './answers.ts'

/** `List-Unsubscribe=One-Click`, as a form. */
const BODY_BYTES_MAX = 1_024

export function unsubscribePlugin({ summaries }: Pick<Accounts, 'summaries'>): Plugin {
  return (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    app.post<{ Querystring: { code?: unknown } }>(
      '/unsubscribe',
      { bodyLimit: BODY_BYTES_MAX },
      async ({ query: { code } }, reply) => {
        const isCodeRight = typeof code === 'string' && (await summaries.unsubscribe(code))
        if (isCodeRight) return reply.code(204).send()
        sendError(reply, 'path_unknown', 'There is no such path.')
        return reply
      },
    )
  }
}
