// POST /notifications/{provider}: payment providers tell us that something happened. The bytes are
// handed on as they came and answered at once; what they mean, and whether they are to be believed,
// is the payments room's affair. Nothing of a body is logged. When in doubt the answer is 503:
// providers repeat for a day, and payments are asked about anyway.
import type { IncomingHttpHeaders } from 'node:http'
import type { Log } from '../platform/log.ts'
import { answerNo } from './answers.ts'
import type { Part } from './part.ts'

export type Notification = {
  readonly provider: string
  /** As it came, also when it is compressed or no JSON at all. */
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
  readonly peer: string
}

/** Stores a notification and says what the provider wants to hear. May be repeated. */
export type Notify = (
  notification: Notification,
) => Promise<{ readonly status: number; readonly body: string }>

/** What is needed of the payments room. */
export type Notified = {
  readonly notify: Notify
  /** Names of the providers in use; any other path is unknown. */
  readonly providers: readonly string[]
}

export type NotificationOptions = Notified & {
  readonly log: Log
  readonly underWayMax?: number
  readonly answerMs?: number
}

/** A provider's objects are 2-6 KiB; a payment with a receipt of a hundred lines has 40. */
export const NOTIFICATION_BYTES_MAX = 64 * 1024
/** Storing one takes a few milliseconds, so these are thousands a second; more is a flood. */
const UNDER_WAY_MAX = 32
/** Providers wait ten seconds and more; a database that takes half of that will not make it. */
const ANSWER_MS = 5_000

export function notifications(options: NotificationOptions): Part {
  const { notify, providers, log } = options
  const underWayMax = options.underWayMax ?? UNDER_WAY_MAX
  const answerMs = options.answerMs ?? ANSWER_MS
  const state = { underWay: 0 }

  /** The provider's answer; undefined when it could not be stored in time. */
  async function store(notification: Notification, requestId: string) {
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => late.resolve(undefined), answerMs)
    state.underWay += 1
    // A place is free when the work is over, not when the provider has been told to come again.
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
      work.catch(() => undefined) // told above, or after we stopped waiting
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
        // Before the body: nobody sends 64 KiB to a provider that is not in use.
        onRequest: async (request, reply) => {
          if (!providers.includes(request.params.provider)) {
            answerNo(reply, 'path_unknown', 'There is no such path.')
            return reply
          }
          // Fastify refuses a content type that is no content type; here the bytes are what counts.
          request.contentType = request.headers['content-type']
          delete request.headers['content-type']
          return undefined
        },
      },
      async (request, reply) => {
        if (state.underWay >= underWayMax) {
          log.warn({ request: request.id, underWay: state.underWay }, 'too many notifications')
          answerNo(reply, 'overloaded', 'Too many notifications at once.')
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
        const told = await store(notification, request.id)
        if (told === undefined) {
          answerNo(reply, 'unavailable', 'The notification was not stored.')
          return reply
        }
        const isJson = /^\s*[{[]/.test(told.body)
        return reply
          .code(told.status)
          .type(isJson ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8')
          .send(told.body)
      },
    )
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** As it came, while Fastify does not see it. */
    contentType: string | undefined
  }
}
