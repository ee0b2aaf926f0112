// POST /notifications/{provider}: payment providers report events. The plugin hands the bytes on
// unchanged and answers at once; the payments module decides what they mean and whether they are
// true. Bodies are never logged. Any failure is answered 503: providers repeat for a day, and the
// payments module also asks them itself.
import type { IncomingHttpHeaders } from 'node:http'
import type { Log } from '../platform/log.ts'
import type { Plugin } from '../platform/server/plugin.ts'
import { sendError } from './answers.ts'

export type Notification = {
  readonly provider: string
  /** Unchanged, also when it is compressed or not JSON. */
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
  readonly peer: string
}

/** Stores a notification and returns the answer that the provider expects. May be repeated. */
export type StoreNotification = (
  notification: Notification,
) => Promise<{ readonly status: number; readonly body: string }>

/** What this plugin needs of the payments module. */
export type NotificationReceiver = {
  readonly notify: StoreNotification
  /** Names of the providers in use; any other path answers 404. */
  readonly providers: readonly string[]
}

export type NotificationOptions = NotificationReceiver & {
  readonly log: Log
  readonly concurrentMax?: number
  readonly answerMs?: number
}

/** A provider's objects are 2-6 KiB; a payment with a receipt of a hundred lines has 40. */
export const NOTIFICATION_BYTES_MAX = 64 * 1024
/** Storing one takes a few milliseconds, so 32 at once are thousands a second; more is a flood. */
const CONCURRENT_MAX = 32
/** Providers wait at least ten seconds. */
const ANSWER_MS = 5_000

export function notificationsPlugin(options: NotificationOptions): Plugin {
  const { notify, providers, log } = options
  const concurrentMax = options.concurrentMax ?? CONCURRENT_MAX
  const answerMs = options.answerMs ?? ANSWER_MS
  const state = { underWay: 0 }

  /** The provider's answer; undefined when it could not be stored in time. */
  async function store(notification: Notification, requestId: string) {
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => late.resolve(undefined), answerMs)
    state.underWay += 1
    // Counts until the work is over, not only until the provider got its 503.
    const work = notify(notification).finally(() => {
      state.underWay -= 1
    })
    try {
      return await Promise.race([work, late.promise])
    } catch (error) {
      const { provider } = notification
      log.error({ request: requestId, provider, err: error }, 'a notification was not stored')
      return undefined
    } finally {
      clearTimeout(timer)
      work.catch(() => undefined) // logged above, or it failed after we stopped waiting
    }
  }

  return (app) => {
    app.decorateRequest('contentType', undefined)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    app.post<{ Params: { provider: string } }>(
      '/notifications/:provider',
      {
        bodyLimit: NOTIFICATION_BYTES_MAX,
        // Before the body is read: we do not receive 64 KiB for a provider that is not in use.
        onRequest: async (request, reply) => {
          if (!providers.includes(request.params.provider)) {
            sendError(reply, 'path_unknown', 'There is no such path.')
            return reply
          }
          // Fastify refuses an invalid content type; we want the bytes whatever their type is.
          request.contentType = request.headers['content-type']
          delete request.headers['content-type']
          return undefined
        },
      },
      async (request, reply) => {
        if (state.underWay >= concurrentMax) {
          log.warn({ request: request.id, underWay: state.underWay }, 'too many notifications')
          sendError(reply, 'overloaded', 'Too many notifications at once.')
          return reply
        }
        const { contentType, headers, params, address, body } = request
        const notification: Notification = {
          provider: params.provider,
          body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
          headers:
            contentType === undefined ? headers : { ...headers, 'content-type': contentType },
          peer: address,
        }
        const answer = await store(notification, request.id)
        if (answer === undefined) {
          sendError(reply, 'unavailable', 'The notification was not stored.')
          return reply
        }
        const isJson = /^\s*[{[]/.test(answer.body)
        return reply
          .code(answer.status)
          .type(isJson ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8')
          .send(answer.body)
      },
    )
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The content-type header, which Fastify must not see. */
    contentType: string | undefined
  }
}
